// all_reduce, broadcast, all_gather, reduce_scatter, send, recv and the other collectives.
#include "gradus/distributed/collectives.h"

#include "gradus/distributed/arguments.h"
#include "gradus/distributed/world.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::distributed {

namespace {

WorkPtr finish(WorkPtr work, bool async_op) {
  if (async_op) return work;
  work->wait();
  return nullptr;
}

void note_change(const Tensor& x) { x.impl().storage->bump_version(); }

// "all_reduce(SUM) Float [2, 3]": what all ranks must agree on.
std::string call(std::string name, const Tensor& x) { return name + ' ' + described(x); }
std::string call(std::string name, ReduceOp op, const Tensor& x) {
  return call(name + '(' + name_of(op) + ')', x);
}
std::string call(std::string name, const char* argument, int rank, const Tensor& x) {
  return call(name + '(' + argument + ' ' + std::to_string(rank) + ')', x);
}

// All parts in a row.
Tensor room_for(const Tensors& list) {
  return raw::empty({static_cast<int64_t>(list.size()) * list[0].numel()}, list[0].dtype(),
                    list[0].device());
}
void pack(const Tensor& flat, const Tensors& list) {
  int64_t begin = 0;
  for (const Tensor& x : list) {
    raw::copy_(raw::as_strided(flat, x.impl().sizes, x.impl().strides, begin), x);
    begin += x.numel();
  }
}
void unpack(const Tensor& flat, const Tensors& list) {
  int64_t begin = 0;
  for (const Tensor& x : list) {
    raw::copy_(x, raw::as_strided(flat, x.impl().sizes, x.impl().strides, begin));
    begin += x.numel();
  }
}
Tensors joined(Tensors list, const Tensor& x) {
  list.push_back(x);
  return list;
}

using Counts = ProcessGroup::Counts;
// All of `count` for one rank, nothing for the others.
Counts only(const ProcessGroup& group, int place, int64_t count) {
  Counts counts(static_cast<size_t>(group.size()), 0);
  counts[static_cast<size_t>(place)] = count;
  return counts;
}
Counts equal(const ProcessGroup& group, int64_t count) {
  return Counts(static_cast<size_t>(group.size()), count);
}
int64_t total(const Tensors& list) {
  int64_t sum = 0;
  for (const Tensor& x : list) sum += x.numel();
  return sum;
}

}  // namespace

WorkPtr broadcast(const Tensor& tensor, int src, const Group& group, bool async_op) {
  ProcessGroup& g = resolve("broadcast", group);
  check_tensor(g, "broadcast", "tensor", tensor);
  const int root = place_in(g, "broadcast", "src", src);
  note_change(tensor);
  return finish(g.submit(call("broadcast", "src", src, tensor), {tensor},
                         [=, &g] { g.broadcast(tensor, root); }),
                async_op);
}

WorkPtr all_reduce(const Tensor& tensor, ReduceOp op, const Group& group, bool async_op) {
  ProcessGroup& g = resolve("all_reduce", group);
  check_tensor(g, "all_reduce", "tensor", tensor);
  check_reduction("all_reduce", op, tensor);
  note_change(tensor);
  return finish(
      g.submit(call("all_reduce", op, tensor), {tensor}, [=, &g] { g.all_reduce(tensor, op); }),
      async_op);
}

WorkPtr reduce(const Tensor& tensor, int dst, ReduceOp op, const Group& group, bool async_op) {
  ProcessGroup& g = resolve("reduce", group);
  check_tensor(g, "reduce", "tensor", tensor);
  check_reduction("reduce", op, tensor);
  const bool here = place_in(g, "reduce", "dst", dst) == g.rank();
  if (here) note_change(tensor);
  const std::string name = std::string("reduce(") + name_of(op) + ')';
  return finish(g.submit(call(name, "dst", dst, tensor), {tensor},
                         [=, &g] { g.all_reduce(here ? tensor : raw::clone(tensor), op); }),
                async_op);
}

WorkPtr all_gather(const Tensors& tensor_list, const Tensor& tensor, const Group& group,
                   bool async_op) {
  ProcessGroup& g = resolve("all_gather", group);
  check_tensor(g, "all_gather", "tensor", tensor);
  check_list(g, "all_gather", "tensor_list", tensor_list, tensor);
  for (const Tensor& x : tensor_list) note_change(x);
  return finish(g.submit(call("all_gather", tensor), joined(tensor_list, tensor),
                         [=, &g] {
                           const Tensor all = room_for(tensor_list);
                           g.all_gather(all, tensor);
                           unpack(all, tensor_list);
                         }),
                async_op);
}

WorkPtr all_gather_into_tensor(const Tensor& output, const Tensor& input, const Group& group,
                               bool async_op) {
  const char* op = "all_gather_into_tensor";
  ProcessGroup& g = resolve(op, group);
  check_tensor(g, op, "input_tensor", input);
  check_tensor(g, op, "output_tensor", output);
  check_pair(op, "output_tensor", output, input);
  check(output.numel() == g.size() * input.numel(), op, ": output_tensor ", output.sizes(), " has ",
        output.numel(), " elements, expected ", g.size(), " times the ", input.numel(),
        " of input_tensor ", input.sizes());
  note_change(output);
  return finish(
      g.submit(call(op, input), {output, input}, [=, &g] { g.all_gather(output, input); }),
      async_op);
}

WorkPtr reduce_scatter(const Tensor& output, const Tensors& input_list, ReduceOp op,
                       const Group& group, bool async_op) {
  ProcessGroup& g = resolve("reduce_scatter", group);
  check_tensor(g, "reduce_scatter", "output", output);
  check_list(g, "reduce_scatter", "input_list", input_list, output);
  check_reduction("reduce_scatter", op, output);
  note_change(output);
  return finish(g.submit(call("reduce_scatter", op, output), joined(input_list, output),
                         [=, &g] {
                           const Tensor all = room_for(input_list);
                           pack(all, input_list);
                           g.reduce_scatter(output, all, op);
                         }),
                async_op);
}

WorkPtr reduce_scatter_tensor(const Tensor& output, const Tensor& input, ReduceOp reduction,
                              const Group& group, bool async_op) {
  const char* op = "reduce_scatter_tensor";
  ProcessGroup& g = resolve(op, group);
  check_tensor(g, op, "output", output);
  check_tensor(g, op, "input", input);
  check_pair(op, "input", input, output);
  check_reduction(op, reduction, output);
  check(input.numel() == g.size() * output.numel(), op, ": input ", input.sizes(), " has ",
        input.numel(), " elements, expected ", g.size(), " times the ", output.numel(),
        " of output ", output.sizes());
  note_change(output);
  return finish(g.submit(call(op, reduction, output), {output, input},
                         [=, &g] { g.reduce_scatter(output, input, reduction); }),
                async_op);
}

WorkPtr gather(const Tensor& tensor, const Tensors& gather_list, int dst, const Group& group,
               bool async_op) {
  ProcessGroup& g = resolve("gather", group);
  check_tensor(g, "gather", "tensor", tensor);
  const int root = place_in(g, "gather", "dst", dst);
  const bool here = root == g.rank();
  check(here || gather_list.empty(), "gather: gather_list belongs to rank ", dst,
        " (dst) alone; pass {} on the others");
  if (here) check_list(g, "gather", "gather_list", gather_list, tensor);
  for (const Tensor& x : gather_list) note_change(x);
  const auto run = [=, &g] {
    const Tensor all =
        here ? room_for(gather_list) : raw::empty({0}, tensor.dtype(), tensor.device());
    g.all_to_all(all, equal(g, here ? tensor.numel() : 0), tensor, only(g, root, tensor.numel()));
    unpack(all, gather_list);
  };
  return finish(g.submit(call("gather", "dst", dst, tensor), joined(gather_list, tensor), run),
                async_op);
}

WorkPtr scatter(const Tensor& tensor, const Tensors& scatter_list, int src, const Group& group,
                bool async_op) {
  ProcessGroup& g = resolve("scatter", group);
  check_tensor(g, "scatter", "tensor", tensor);
  const int root = place_in(g, "scatter", "src", src);
  const bool here = root == g.rank();
  check(here || scatter_list.empty(), "scatter: scatter_list belongs to rank ", src,
        " (src) alone; pass {} on the others");
  if (here) check_list(g, "scatter", "scatter_list", scatter_list, tensor);
  note_change(tensor);
  const auto run = [=, &g] {
    const Tensor all =
        here ? room_for(scatter_list) : raw::empty({0}, tensor.dtype(), tensor.device());
    pack(all, scatter_list);
    g.all_to_all(tensor, only(g, root, tensor.numel()), all, equal(g, here ? tensor.numel() : 0));
  };
  return finish(g.submit(call("scatter", "src", src, tensor), joined(scatter_list, tensor), run),
                async_op);
}

WorkPtr all_to_all(const Tensors& output_list, const Tensors& input_list, const Group& group,
                   bool async_op) {
  ProcessGroup& g = resolve("all_to_all", group);
  Counts out_counts, in_counts;
  const auto check_side = [&](const char* argument, const Tensors& list, Counts& counts) {
    check(list.size() == static_cast<size_t>(g.size()), "all_to_all: ", argument, " has ",
          list.size(), " tensors; expected one for each of the ", g.size(), " ranks");
    for (const Tensor& x : list) {
      check_tensor(g, "all_to_all", argument, x);
      check_pair("all_to_all", argument, x, input_list[0]);
      counts.push_back(x.numel());
    }
  };
  check_side("input_tensor_list", input_list, in_counts);
  check_side("output_tensor_list", output_list, out_counts);
  for (const Tensor& x : output_list) note_change(x);
  std::string name = "all_to_all ";  // shapes may differ
  append(name, input_list[0].dtype());
  Tensors touched = input_list;
  touched.insert(touched.end(), output_list.begin(), output_list.end());
  const auto run = [=, &g] {
    const auto flat = [&](const Tensors& list) {
      return raw::empty({total(list)}, list[0].dtype(), list[0].device());
    };
    const Tensor in = flat(input_list), out = flat(output_list);
    pack(in, input_list);
    g.all_to_all(out, out_counts, in, in_counts);
    unpack(out, output_list);
  };
  return finish(g.submit(name, std::move(touched), run), async_op);
}

WorkPtr all_to_all_single(const Tensor& output, const Tensor& input,
                          const std::vector<int64_t>& output_split_sizes,
                          const std::vector<int64_t>& input_split_sizes, const Group& group,
                          bool async_op) {
  const char* op = "all_to_all_single";
  ProcessGroup& g = resolve(op, group);
  check_tensor(g, op, "output", output);
  check_tensor(g, op, "input", input);
  check_pair(op, "output", output, input);
  const Counts out_counts = split_counts(g, op, "output", output, output_split_sizes);
  const Counts in_counts = split_counts(g, op, "input", input, input_split_sizes);
  note_change(output);
  std::string name = std::string(op) + ' ';
  append(name, input.dtype());
  return finish(g.submit(name, {output, input},
                         [=, &g] { g.all_to_all(output, out_counts, input, in_counts); }),
                async_op);
}

WorkPtr barrier(const Group& group, bool async_op) {
  ProcessGroup& g = resolve("barrier", group);
  return finish(g.submit("barrier", {}, [&g] { g.barrier(); }), async_op);
}

WorkPtr isend(const Tensor& tensor, int dst, const Group& group, int tag) {
  ProcessGroup& g = resolve("isend", group);
  check_tensor(g, "isend", "tensor", tensor);
  const int place = place_in(g, "isend", "dst", dst);
  check(place != g.rank(), "isend: dst = ", dst, " is this rank itself; name another rank");
  check(tag >= 0, "isend: tag = ", tag, " is negative; give 0 or more");
  return g.send(tensor, place, tag);
}

WorkPtr irecv(const Tensor& tensor, int src, const Group& group, int tag) {
  ProcessGroup& g = resolve("irecv", group);
  check_tensor(g, "irecv", "tensor", tensor);
  const int place = src < 0 ? -1 : place_in(g, "irecv", "src", src);
  check(place != g.rank(), "irecv: src = ", src,
        " is this rank itself; name another rank, or -1 for any");
  check(tag >= 0, "irecv: tag = ", tag, " is negative; give 0 or more");
  note_change(tensor);
  return g.recv(tensor, place, tag);
}

void send(const Tensor& tensor, int dst, const Group& group, int tag) {
  isend(tensor, dst, group, tag)->wait();
}

int recv(const Tensor& tensor, int src, const Group& group, int tag) {
  const WorkPtr work = irecv(tensor, src, group, tag);
  work->wait();
  return src < 0 ? work->source_rank() : src;
}

}  // namespace gradus::distributed
