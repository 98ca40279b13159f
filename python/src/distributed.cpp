// gradus.distributed, and modules on several devices: DataParallel, DistributedDataParallel.
#include <gradus/distributed/distributed.h>
#include <gradus/nn/parallel/data_parallel.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <mutex>
#include <optional>
#include <unordered_set>
#include <vector>

#include "bind.h"
#include "errors.h"
#include "nn/modules.h"
#include "objects.h"
#include "nn/registered.h"
#include "rows/rows.h"

namespace gradus::python {
namespace {

using distributed::Group, distributed::ReduceOp, distributed::WorkPtr;

Tensors tensors_in(const char* op, const char* argument, nb::handle list) {
  Tensors out;
  check<TypeError>(list.is_none() || load(list, true, out), op, ": ", argument,
                   " is a list of tensors");
  return out;
}

// A function of Python that C++ calls on threads of its own. Python's exception comes back as it
// was, and not as the text of an Error.
class PythonCall {
 public:
  // f(), where Python may run.
  template <class F>
  void run(const F& f) {
    const Acquired python;
    try {
      try {
        f();
      } catch (nb::python_error& error) {
        rethrow(error);
      }
    } catch (nb::python_error& error) {
      const std::string text = nb::cast<std::string>(nb::str(error.value()));
      if (!thrown_) thrown_ = std::make_unique<nb::python_error>(std::move(error));
      fail<Error>(text);
    }
  }
  // Calls f with the GIL released, and throws Python's exception where run() met one.
  template <class F>
  void wait(const F& f) {
    try {
      const Released other_threads_run;
      f();
    } catch (...) {
      if (thrown_) throw nb::python_error(std::move(*thrown_));
      throw;
    }
  }

 private:
  std::unique_ptr<nb::python_error> thrown_;  // of the first call that failed; guarded by the GIL
};

distributed::Milliseconds duration_of(double seconds) {
  check<ValueError>(seconds > 0, "init_process_group: timeout = ", seconds,
                    " s; expected a positive number of seconds");
  return distributed::Milliseconds(static_cast<int64_t>(seconds * 1000));
}

struct PythonDataParallel : nn::parallel::DataParallelBase {
  template <class... Args>
  explicit PythonDataParallel(const std::shared_ptr<nn::Module>& module, const Args&... args)
      : DataParallelBase(module, args...) {
    const std::lock_guard lock(all_mutex);
    all.insert(this);
  }
  ~PythonDataParallel() override {
    const std::lock_guard lock(all_mutex);
    all.erase(this);
  }
  // Lets go of all replicas. At the end of the program they still refer to its classes, past C++
  // that the garbage collector does not see.
  static void forget_replicas() {
    const std::lock_guard lock(all_mutex);
    for (PythonDataParallel* each : all) each->replicate();
  }

  // f(replica, module, tensors) returns a list of tensors for each replica; the lists are joined.
  Tensors run(const Tensors& given, nb::handle function) {
    check_home();
    std::vector<Tensors> arguments(device_ids().size(), given);
    std::vector<std::optional<Tensors>> results(device_ids().size());
    PythonCall python;
    const auto scatter = [&](const OnColumn& on_column) {
      for (size_t i = 0; i < given.size(); ++i) {
        std::vector<Tensor*> column;
        for (Tensors& each : arguments) column.push_back(&each[i]);
        on_column(column);
      }
    };
    const auto call = [&](size_t replica, nn::Module& module) {
      python.run([&] {
        const nb::object parts =
            results_object(arguments[replica].data(), arguments[replica].size(), nullptr);
        const nb::object result =
            function(replica, nb::cast(&module, nb::rv_policy::reference), parts);
        results[replica] = tensors_in("DataParallel", "what forward returns", result);
      });
    };
    const auto gather = [&](const OnColumn& on_column) {
      std::erase_if(results, [](const auto& result) { return !result; });
      for (size_t i = 0; i < results[0]->size(); ++i) {
        std::vector<Tensor*> column;
        for (std::optional<Tensors>& each : results) {
          check<Error>(each->size() == results[0]->size(),
                       "DataParallel: the replicas return different numbers of tensors");
          column.push_back(&(*each)[i]);
        }
        on_column(column);
      }
    };
    python.wait([&] { forward_all(scatter, given.empty() ? 1 : arguments.size(), call, gather); });
    return std::move(*results[0]);
  }

 private:
  static inline std::mutex all_mutex;
  static inline std::unordered_set<PythonDataParallel*> all;  // those that live
};

struct PythonDistributedModule final : distributed::DistributedModule {
  PythonDistributedModule(std::shared_ptr<nn::Module> module,
                          distributed::DistributedDataParallelOptions options)
      : DistributedModule(std::move(module), std::move(options)) {}
  using DistributedModule::before_forward;
};

void bind_groups(nb::module_& m) {
  nb::enum_<ReduceOp>(m, "ReduceOp", "How the elements of all ranks are combined.")
      .value("SUM", ReduceOp::SUM)
      .value("AVG", ReduceOp::AVG)
      .value("MIN", ReduceOp::MIN)
      .value("MAX", ReduceOp::MAX)
      .value("PRODUCT", ReduceOp::PRODUCT);
  nb::class_<distributed::Work>(m, "Work", "A communication that has been started.")
      .def(
          "wait",
          [](distributed::Work& self) {
            const Released other_threads_run;
            return self.wait();
          },
          "Waits until the tensors may be used again.")
      .def("is_completed", &distributed::Work::is_completed, "Whether it has ended. Does not wait.")
      .def("source_rank", &distributed::Work::source_rank,
           "The rank that sent, for a recv that has ended.");
  nb::class_<distributed::ProcessGroup>(m, "ProcessGroup", "Ranks that communicate.")
      .def("rank", &distributed::ProcessGroup::rank,
           "The number of this rank in the group; -1: no member.")
      .def("size", &distributed::ProcessGroup::size, "The number of ranks.")
      .def("name", &distributed::ProcessGroup::name, "The name of the group.");

  m.def(
      "init_process_group",
      [](const std::string& backend, const std::optional<std::string>& init_method, double timeout,
         int world_size, int rank) {
        const Released other_threads_run;
        distributed::init_process_group(backend, init_method.value_or(""), duration_of(timeout),
                                        world_size, rank);
      },
      nb::arg("backend"), nb::arg("init_method") = nb::none(), nb::arg("timeout") = 60.0,
      nb::arg("world_size") = -1, nb::arg("rank") = -1,
      "Makes this process a rank of a job, and waits for all others. backend: mpi or nccl. "
      "init_method: env:// (the launcher's variables) or tcp://HOST:PORT. timeout: in seconds.");
  m.def("_spawn_threads", [](int world_size, nb::handle function, double timeout) {
    PythonCall python;
    python.wait([&] {
      distributed::spawn_threads(
          world_size, [&](int rank) { python.run([&] { function(rank); }); }, duration_of(timeout));
    });
  });
  m.def("is_initialized", &distributed::is_initialized,
        "Whether this thread or process is a rank.");
  m.def("is_mpi_available", &distributed::is_mpi_available, "Whether the backend mpi is built in.");
  m.def("is_nccl_available", &distributed::is_nccl_available,
        "Whether the backend nccl is built in.");
  const auto group = nb::arg("group") = nb::none();
  m.def(
      "destroy_process_group",
      [](const Group& g) {
        const Released other_threads_run;
        distributed::destroy_process_group(g);
      },
      group, "Leaves the group; without a group, the job.");
  m.def("get_rank", &distributed::get_rank, group, "The number of this rank.");
  m.def("get_world_size", &distributed::get_world_size, group, "The number of ranks.");
  m.def("get_backend", &distributed::get_backend, group, "threads, mpi or nccl.");
  m.def(
      "new_group",
      [](const std::optional<std::vector<int>>& ranks) {
        const Released other_threads_run;
        return distributed::new_group(ranks.value_or(std::vector<int>()));
      },
      nb::arg("ranks") = nb::none(),
      "A group of these ranks, or of all. All ranks of the job call it.");
}

void bind_collectives(nb::module_& m) {
  // A collective: what it does with its arguments, group and async_op, with the GIL released.
  const auto group = nb::arg("group") = nb::none();
  const auto async = nb::arg("async_op") = false;
  const auto op = nb::arg("op") = ReduceOp::SUM;
  const auto waited = [](const auto& call) { return released<WorkPtr>(call); };
  namespace d = distributed;
  m.def(
      "broadcast",
      [=](const Tensor& tensor, int src, const Group& g, bool a) {
        return waited([&] { return d::broadcast(tensor, src, g, a); });
      },
      nb::arg("tensor"), nb::arg("src"), group, async, "tensor becomes that of rank src.");
  m.def(
      "all_reduce",
      [=](const Tensor& tensor, ReduceOp o, const Group& g, bool a) {
        return waited([&] { return d::all_reduce(tensor, o, g, a); });
      },
      nb::arg("tensor"), op, group, async, "tensor becomes the combination of all ranks' tensors.");
  m.def(
      "reduce",
      [=](const Tensor& tensor, int dst, ReduceOp o, const Group& g, bool a) {
        return waited([&] { return d::reduce(tensor, dst, o, g, a); });
      },
      nb::arg("tensor"), nb::arg("dst"), op, group, async, "The same at rank dst alone.");
  m.def(
      "all_gather",
      [=](nb::handle tensor_list, const Tensor& tensor, const Group& g, bool a) {
        const Tensors list = tensors_in("all_gather", "tensor_list", tensor_list);
        return waited([&] { return d::all_gather(list, tensor, g, a); });
      },
      nb::arg("tensor_list"), nb::arg("tensor"), group, async,
      "tensor_list[r] becomes the tensor of rank r of the group.");
  m.def(
      "all_gather_into_tensor",
      [=](const Tensor& out, const Tensor& in, const Group& g, bool a) {
        return waited([&] { return d::all_gather_into_tensor(out, in, g, a); });
      },
      nb::arg("output_tensor"), nb::arg("input_tensor"), group, async,
      "The output holds the inputs of all ranks one after the other.");
  m.def(
      "reduce_scatter",
      [=](const Tensor& out, nb::handle input_list, ReduceOp o, const Group& g, bool a) {
        const Tensors list = tensors_in("reduce_scatter", "input_list", input_list);
        return waited([&] { return d::reduce_scatter(out, list, o, g, a); });
      },
      nb::arg("output"), nb::arg("input_list"), op, group, async,
      "output at rank r becomes the combination of all ranks' input_list[r].");
  m.def(
      "reduce_scatter_tensor",
      [=](const Tensor& out, const Tensor& in, ReduceOp o, const Group& g, bool a) {
        return waited([&] { return d::reduce_scatter_tensor(out, in, o, g, a); });
      },
      nb::arg("output"), nb::arg("input"), op, group, async,
      "The same with the parts in one tensor.");
  m.def(
      "gather",
      [=](const Tensor& tensor, nb::handle gather_list, int dst, const Group& g, bool a) {
        const Tensors list = tensors_in("gather", "gather_list", gather_list);
        return waited([&] { return d::gather(tensor, list, dst, g, a); });
      },
      nb::arg("tensor"), nb::arg("gather_list") = nb::none(), nb::arg("dst") = 0, group, async,
      "gather_list[r] at rank dst becomes the tensor of rank r; other ranks pass no list.");
  m.def(
      "scatter",
      [=](const Tensor& tensor, nb::handle scatter_list, int src, const Group& g, bool a) {
        const Tensors list = tensors_in("scatter", "scatter_list", scatter_list);
        return waited([&] { return d::scatter(tensor, list, src, g, a); });
      },
      nb::arg("tensor"), nb::arg("scatter_list") = nb::none(), nb::arg("src") = 0, group, async,
      "tensor at rank r becomes scatter_list[r] of rank src; other ranks pass no list.");
  m.def(
      "all_to_all",
      [=](nb::handle outputs, nb::handle inputs, const Group& g, bool a) {
        const Tensors out = tensors_in("all_to_all", "output_tensor_list", outputs);
        const Tensors in = tensors_in("all_to_all", "input_tensor_list", inputs);
        return waited([&] { return d::all_to_all(out, in, g, a); });
      },
      nb::arg("output_tensor_list"), nb::arg("input_tensor_list"), group, async,
      "output_tensor_list[r] becomes the tensor that rank r has for this rank in its inputs.");
  m.def(
      "all_to_all_single",
      [=](const Tensor& out, const Tensor& in, const std::optional<std::vector<int64_t>>& out_sizes,
          const std::optional<std::vector<int64_t>>& in_sizes, const Group& g, bool a) {
        return waited([&] {
          return d::all_to_all_single(out, in, out_sizes.value_or(std::vector<int64_t>()),
                                      in_sizes.value_or(std::vector<int64_t>()), g, a);
        });
      },
      nb::arg("output"), nb::arg("input"), nb::arg("output_split_sizes") = nb::none(),
      nb::arg("input_split_sizes") = nb::none(), group, async,
      "The same for parts of one tensor along dimension 0.");
  m.def(
      "barrier", [=](const Group& g, bool a) { return waited([&] { return d::barrier(g, a); }); },
      group, async, "Waits until all ranks have called it.");
  const auto tag = nb::arg("tag") = 0;
  m.def(
      "send",
      [](const Tensor& tensor, int dst, const Group& g, int t) {
        const Released other_threads_run;
        d::send(tensor, dst, g, t);
      },
      nb::arg("tensor"), nb::arg("dst"), group, tag, "A message to one rank.");
  m.def(
      "recv",
      [](const Tensor& tensor, std::optional<int> src, const Group& g, int t) {
        const Released other_threads_run;
        return d::recv(tensor, src.value_or(-1), g, t);
      },
      nb::arg("tensor"), nb::arg("src") = nb::none(), group, tag,
      "A message from one rank, or from any. Returns the rank that sent.");
  m.def(
      "isend",
      [=](const Tensor& tensor, int dst, const Group& g, int t) {
        return waited([&] { return d::isend(tensor, dst, g, t); });
      },
      nb::arg("tensor"), nb::arg("dst"), group, tag, "Starts a message to one rank.");
  m.def(
      "irecv",
      [=](const Tensor& tensor, std::optional<int> src, const Group& g, int t) {
        return waited([&] { return d::irecv(tensor, src.value_or(-1), g, t); });
      },
      nb::arg("tensor"), nb::arg("src") = nb::none(), group, tag, "Starts to wait for a message.");
}

}  // namespace

void bind_distributed(nb::module_& m, nb::module_& nn) {
  bind_groups(m);
  bind_collectives(m);
  nb::class_<PythonDataParallel, nn::Module>(m, "_DataParallel", nb::type_slots(module_slots))
      .def(
          "__init__",
          [](PythonDataParallel* self, nb::pointer_and_handle<nn::Module> module,
             nb::handle device_ids, const Given<std::optional<Device>>& output_device,
             int64_t dim) {
            std::optional<std::vector<Device>> devices;
            if (!device_ids.is_none()) devices.emplace();
            for (const nb::handle each : devices ? nb::list(device_ids) : nb::list()) {
              Device device = kCPU;
              check<TypeError>(
                  load(each, true, device),
                  "DataParallel: device_ids is a list of devices, or of indices of GPUs");
              devices->push_back(device);
            }
            const OwnedModule owned(module.h);
            new (self) PythonDataParallel(owned.handle, devices, output_device.get(), dim);
          },
          nb::arg("module"), nb::arg("device_ids").none(), nb::arg("output_device").none(),
          nb::arg("dim"))
      .def("_run",
           [](PythonDataParallel& self, nb::handle tensors, nb::handle function) {
             const Tensors out =
                 self.run(tensors_in("DataParallel", "the arguments", tensors), function);
             return results_object(out.data(), out.size(), nullptr);
           })
      .def_prop_ro("device_ids", &PythonDataParallel::device_ids, "The devices of the replicas.")
      .def_prop_ro("output_device", &PythonDataParallel::output_device, "Where results are joined.")
      .def("replicate", &PythonDataParallel::replicate, "The next call copies the module again.");
  nb::module_::import_("atexit").attr("register")(
      nb::cpp_function([] { PythonDataParallel::forget_replicas(); }));
  nb::class_<PythonDistributedModule, nn::Module>(m, "_DistributedModule",
                                                  nb::type_slots(module_slots))
      .def(
          "__init__",
          [](PythonDistributedModule* self, nb::pointer_and_handle<nn::Module> module,
             bool broadcast_buffers, const Group& group, double bucket_cap_mb,
             bool find_unused_parameters) {
            const OwnedModule owned(module.h);
            const Released other_threads_run;
            new (self) PythonDistributedModule(owned.handle,
                                               distributed::DistributedDataParallelOptions()
                                                   .broadcast_buffers(broadcast_buffers)
                                                   .process_group(group)
                                                   .bucket_cap_mb(bucket_cap_mb)
                                                   .find_unused_parameters(find_unused_parameters));
          },
          nb::arg("module"), nb::arg("broadcast_buffers"), nb::arg("process_group").none(),
          nb::arg("bucket_cap_mb"), nb::arg("find_unused_parameters"))
      .def("_before_forward", [](PythonDistributedModule& self) {
        const Released other_threads_run;
        self.before_forward();
      });
  add_module<nn::SyncBatchNormImpl>(
      nn, "SyncBatchNorm", "BatchNorm of (N, C, ...) by the statistics of all ranks.", "input");
  nn.attr("SyncBatchNorm").attr("convert_sync_batchnorm") =
      nb::module_::import_("builtins")
          .attr("staticmethod")(nb::cpp_function(
              [](const std::shared_ptr<nn::Module>& module, const Group& group) {
                nn::convert_sync_batchnorm(*module, group);
                return module;
              },
              nb::name("convert_sync_batchnorm"), nb::arg("module"),
              nb::arg("process_group") = nb::none(),
              "Every BatchNorm in the module takes the statistics of all ranks from now on."));
  struct NoSyncScope {
    std::unique_ptr<PythonDistributedModule::NoSync> scope;
  };
  nb::class_<NoSyncScope>(m, "_NoSync")
      .def(
          "__init__",
          [](NoSyncScope* self, PythonDistributedModule& module) {
            new (self) NoSyncScope{std::unique_ptr<PythonDistributedModule::NoSync>(
                new PythonDistributedModule::NoSync(module.no_sync()))};
          },
          nb::keep_alive<1, 2>())
      .def("leave", [](NoSyncScope& self) { self.scope.reset(); });
}

}  // namespace gradus::python
