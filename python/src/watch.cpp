// gradus.watch, gradus.metrics and gradus.profiler: what surrounds a training.
#include <gradus/gradus.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "bind.h"
#include "errors.h"
#include "rows/rows.h"
#include "states.h"

namespace gradus::python {
namespace {

// The values of a row: numbers, texts, and tensors of one element.
watch::LogRow row_of(const char* op, nb::handle values) {
  watch::LogRow out;
  for (const auto& [key, value] : nb::cast<nb::dict>(values)) {
    const std::string name = nb::cast<std::string>(nb::str(key));
    Scalar number;
    std::string_view text;
    if (is_tensor(value.ptr()))
      out.emplace_back(name, tensor_of(value.ptr()));
    else if (load(value, true, text))
      out.emplace_back(name, std::string(text));
    else if (!load(value, true, number))
      fail<TypeError>(op, ": the value of ", name, " is no number, no text and no tensor");
    else if (number.isIntegral(true))
      out.emplace_back(name, number.to<int64_t>());
    else
      out.emplace_back(name, number.toDouble());
  }
  return out;
}

template <class T>
void add_state(nb::class_<T>& c) {
  c.def(
      "state_dict", [](const T& self) { return dict_of(self.state_dict()); },
      "The state for a checkpoint, as tensors by name.");
  c.def(
      "load_state_dict",
      [](T& self, const nb::dict& state) { self.load_state_dict(state_of(state)); },
      nb::arg("state_dict"), "Goes on from a state.");
}

// f(tensor) or f(number): what Python gave.
template <class F>
void with_value(const Given<Operand>& value, const F& f) {
  if (value.value.tensor)
    f(*value.value.tensor);
  else
    f(value.value.number.toDouble());
}

template <class T>
void add_scalar(nb::class_<T>& c) {
  c.def(
      "add_scalar",
      [](T& self, const std::string& tag, const Given<Operand>& value, int64_t step) {
        with_value(value, [&](const auto& scalar) { self.add_scalar(tag, scalar, step); });
      },
      nb::arg("tag"), nb::arg("scalar_value"), nb::arg("global_step") = 0, "A point of a curve.");
}

void bind_logs(nb::module_& m) {
  using watch::ProgressBar;
  nb::class_<ProgressBar>(m, "_ProgressBar")
      .def("__init__",
           [](ProgressBar* self, int64_t total, const std::string& desc, const std::string& unit,
              int64_t initial, double mininterval, bool leave, bool disable) {
             new (self) ProgressBar(total, watch::ProgressBarOptions()
                                               .desc(desc)
                                               .unit(unit)
                                               .initial(initial)
                                               .mininterval(mininterval)
                                               .leave(leave)
                                               .disable(disable));
           })
      .def("update", &ProgressBar::update, nb::arg("n") = 1, "So many steps more are done.")
      .def(
          "set_postfix",
          [](ProgressBar& self, const nb::kwargs& values) {
            self.set_postfix(row_of("set_postfix", values));
          },
          "The values stand behind the rate: set_postfix(loss=0.5).")
      .def("set_description", &ProgressBar::set_description, nb::arg("desc"),
           "The text before the bar.")
      .def("write", &ProgressBar::write, nb::arg("line"), "A line that stays, above the bar.")
      .def("close", &ProgressBar::close, "Draws the last state; nothing is drawn after it.")
      .def_prop_ro("n", &ProgressBar::done, "The steps that are done.");

  using watch::CSVLogger;
  nb::class_<CSVLogger> csv(m, "CSVLogger",
                            "Figures of each epoch or step, in a file of comma-separated values.");
  csv.def(nb::init<const std::string&, bool>(), nb::arg("path"), nb::arg("append") = false,
          "append: goes on in a file that is there.")
      .def(
          "log", [](CSVLogger& self, nb::handle row) { self.log(row_of("log", row)); },
          nb::arg("row"),
          "Writes a row: a dictionary of numbers and texts. The first row names the columns.")
      .def_prop_ro("path", &CSVLogger::path, "The path of the file.");
  add_state(csv);

  using watch::Dashboard;
  nb::class_<Dashboard> page(m, "Dashboard",
                             "A page for a browser, with the curves of a training and the GPUs.");
  page.def(
          "__init__",
          [](Dashboard* self, int port, const std::string& title) {
            new (self) Dashboard(port, title);
          },
          nb::arg("port") = 6007, nb::arg("title") = "", "port 0: any that is free.")
      .def(
          "log",
          [](Dashboard& self, nb::handle row, std::optional<int64_t> step) {
            self.log(row_of("log", row), step);
          },
          nb::arg("row"), nb::arg("global_step") = nb::none(),
          "A point for each number of a dictionary; texts below the title.")
      .def_prop_ro("port", &Dashboard::port, "The port.")
      .def_prop_ro("url", &Dashboard::url, "The address of the page.")
      .def("_repr_html_", [](const Dashboard& self) {
        return "<iframe src=\"" + self.url() + "\" width=\"100%\" height=\"500\"></iframe>";
      });
  add_scalar(page);
  add_state(page);

  using watch::History;
  nb::class_<History> history(m, "History", "The figures of a training, row by row, for pictures.");
  history.def(nb::init<>())
      .def(
          "log", [](History& self, nb::handle row) { self.log(row_of("log", row)); },
          nb::arg("row"), "Adds a row: a dictionary of numbers.")
      .def("column", &History::column, nb::arg("name"), "The figures of a name, one for each row.")
      .def("__len__", &History::size);
  add_state(history);

  using watch::EarlyStopping;
  nb::class_<EarlyStopping> stopping(m, "EarlyStopping",
                                     "Says when a figure no longer gets better.");
  stopping
      .def(
          "__init__",
          [](EarlyStopping* self, int64_t patience, double min_delta, const std::string& mode,
             bool check_finite) {
            check<ValueError>(mode == "min" || mode == "max", "EarlyStopping: mode ", mode,
                              " is unknown; expected min or max");
            new (self) EarlyStopping(watch::EarlyStoppingOptions()
                                         .patience(patience)
                                         .min_delta(min_delta)
                                         .mode(mode == "min" ? watch::Mode::Min : watch::Mode::Max)
                                         .check_finite(check_finite));
          },
          nb::arg("patience") = 3, nb::arg("min_delta") = 0.0, nb::arg("mode") = "min",
          nb::arg("check_finite") = true)
      .def("step", &EarlyStopping::step, nb::arg("metric"),
           "Takes the next figure. Returns whether to stop.")
      .def_prop_ro("should_stop", &EarlyStopping::should_stop, "Whether to stop.")
      .def_prop_ro("improved", &EarlyStopping::improved,
                   "Whether the last figure is the best one so far.")
      .def_prop_ro("best_score", &EarlyStopping::best_score, "The best figure.")
      .def_prop_ro("wait_count", &EarlyStopping::wait_count, "Steps since the best figure.");
  add_state(stopping);

  using watch::StopSignal;
  nb::class_<StopSignal>(m, "StopSignal",
                         "Whether the system has asked the program to end: SIGTERM, Ctrl+C.")
      .def("__init__", [](StopSignal* self) { new (self) StopSignal(); })
      .def_prop_ro("requested", &StopSignal::requested, "Whether a signal has come.")
      .def_prop_ro("signal", &StopSignal::signal, "The first signal; 0: none yet.");

  using watch::SummaryWriter;
  nb::class_<SummaryWriter> writer(m, "SummaryWriter", "Files of events that TensorBoard shows.");
  add_scalar(writer);
  writer
      .def(
          "__init__",
          [](SummaryWriter* self, const std::string& log_dir, const std::string& comment,
             std::optional<int64_t> purge_step, const std::string& filename_suffix) {
            new (self) SummaryWriter(log_dir, comment, purge_step, filename_suffix);
          },
          nb::arg("log_dir") = "", nb::arg("comment") = "", nb::arg("purge_step") = nb::none(),
          nb::arg("filename_suffix") = "")
      .def("add_scalars", &SummaryWriter::add_scalars, nb::arg("main_tag"),
           nb::arg("tag_scalar_dict"), nb::arg("global_step") = 0, "Several curves in one chart.")
      .def("add_histogram", &SummaryWriter::add_histogram, nb::arg("tag"), nb::arg("values"),
           nb::arg("global_step") = 0, "The distribution of the elements.")
      .def("add_image", &SummaryWriter::add_image, nb::arg("tag"), nb::arg("img_tensor"),
           nb::arg("global_step") = 0, nb::arg("dataformats") = "CHW", "An image.")
      .def("add_images", &SummaryWriter::add_images, nb::arg("tag"), nb::arg("img_tensor"),
           nb::arg("global_step") = 0, "Images as one grid.")
      .def("add_text", &SummaryWriter::add_text, nb::arg("tag"), nb::arg("text_string"),
           nb::arg("global_step") = 0, "A text in Markdown.")
      .def("flush", &SummaryWriter::flush, "Brings the file to the disk.")
      .def("close", &SummaryWriter::close, "Ends the file.")
      .def_prop_ro("log_dir", &SummaryWriter::log_dir, "The folder.");
}

void bind_pictures(nb::module_& m) {
  m.def("_plot_curves", [](const std::string& title, const std::string& x_label,
                           const nb::dict& panels) {
    std::vector<watch::Panel> list;
    for (const auto& [name, curves] : panels) {
      watch::Panel panel{nb::cast<std::string>(name), {}};
      for (const auto& [curve, y] : nb::cast<nb::dict>(curves))
        panel.curves.push_back({nb::cast<std::string>(curve), nb::cast<std::vector<double>>(y)});
      list.push_back(std::move(panel));
    }
    return watch::plot_curves(title, x_label, list);
  });
  m.def("_plot_confusion_matrix", &watch::plot_confusion_matrix);
  m.def("save_svg", &watch::save_svg, nb::arg("svg"), nb::arg("path"),
        "Writes a picture to a file.");
  const auto grid = [](int64_t nrow, int64_t padding, bool normalize, double pad_value) {
    return watch::GridOptions{nrow, padding, normalize, pad_value};
  };
  m.def(
      "make_grid",
      [grid](const Tensor& images, int64_t nrow, int64_t padding, bool normalize,
             double pad_value) {
        return watch::make_grid(images, grid(nrow, padding, normalize, pad_value));
      },
      nb::arg("tensor"), nb::arg("nrow") = 8, nb::arg("padding") = 2, nb::arg("normalize") = false,
      nb::arg("pad_value") = 0.0, "Images (N, C, H, W) as one.");
  m.def(
      "save_image",
      [grid](const Tensor& images, nb::handle path, int64_t nrow, int64_t padding, bool normalize,
             double pad_value) {
        watch::save_image(images, nb::cast<std::string>(nb::str(path)),
                          grid(nrow, padding, normalize, pad_value));
      },
      nb::arg("tensor"), nb::arg("fp"), nb::arg("nrow") = 8, nb::arg("padding") = 2,
      nb::arg("normalize") = false, nb::arg("pad_value") = 0.0,
      "Writes images as a grid to a PNG file.");
  m.def(
      "encode_png",
      [](const Tensor& image) {
        const std::string bytes = watch::encode_png(image);
        return nb::bytes(bytes.data(), bytes.size());
      },
      nb::arg("image"), "The bytes of a PNG file.");

  nb::class_<watch::LayerSummary>(m, "LayerSummary", "A layer of a model.")
      .def_ro("name", &watch::LayerSummary::name, "\"layers.0\"; empty for the model itself.")
      .def_ro("type", &watch::LayerSummary::type, "The name of its class.")
      .def_ro("output_size", &watch::LayerSummary::output_size, "The shape of its last output.")
      .def_ro("parameters", &watch::LayerSummary::parameters, "Its own parameters.")
      .def_ro("multiply_adds", &watch::LayerSummary::multiply_adds, "Of all calls.")
      .def_ro("calls", &watch::LayerSummary::calls, "The number of calls.");
  nb::class_<watch::ModelSummary>(m, "ModelSummary", "The layers of a model, printed as a table.")
      .def_ro("layers", &watch::ModelSummary::layers, "A module before those that it holds.")
      .def_ro("total_params", &watch::ModelSummary::total_params, "All parameters, each once.")
      .def_ro("trainable_params", &watch::ModelSummary::trainable_params,
              "Those that require grad.")
      .def_ro("total_mult_adds", &watch::ModelSummary::total_mult_adds,
              "The multiply-adds of all layers.")
      .def("__repr__", &watch::ModelSummary::str);
  m.def("_summary", [](nb::handle model, const nb::callable& forward, int64_t input_bytes) {
    nn::Module& module = nb::cast<nn::Module&>(model);
    watch::ModelSummary out = watch::detail::summarize(module, [&] { forward(); });
    out.input_bytes = input_bytes;
    // The names of classes are Python's.
    const auto below = module.named_modules("", /*include_self=*/false);
    for (watch::LayerSummary& layer : out.layers) {
      const auto* found = below.find(layer.name);
      const nb::object shown = found ? nb::cast(*found) : nb::borrow(model);
      layer.type = nb::cast<std::string>(nb::object(shown.type().attr("__name__")));
    }
    return out;
  });
}

void bind_metrics(nb::module_& m) {
  using namespace metrics;
  nb::class_<Metric>(m, "Metric", "A figure that is gathered over many batches.")
      .def(
          "compute", [](const Metric& self) { return self.compute(); },
          "The figure over all that was counted: float64 on the CPU.")
      .def("reset", &Metric::reset, "Forgets all that was counted.");
  const auto update = [](auto& c) {
    using M = typename std::decay_t<decltype(c)>::Type;
    c.def(
        "update",
        [](M& self, const Tensor& preds, const Tensor& target) { self.update(preds, target); },
        nb::arg("preds"), nb::arg("target"), "Counts a batch.");
  };
  nb::class_<Accuracy, Metric> accuracy(m, "Accuracy", "The share of right predictions.");
  accuracy.def(
      "__init__",
      [](Accuracy* self, int64_t top_k, double threshold, std::optional<int64_t> ignore_index) {
        new (self) Accuracy(
            AccuracyOptions().top_k(top_k).threshold(threshold).ignore_index(ignore_index));
      },
      nb::arg("top_k") = 1, nb::arg("threshold") = 0.5, nb::arg("ignore_index") = nb::none());
  update(accuracy);
  nb::class_<ConfusionMatrix, Metric> matrix(
      m, "ConfusionMatrix", "Row i, column j: elements of class i that were taken for class j.");
  matrix.def(
      "__init__",
      [](ConfusionMatrix* self, int64_t num_classes, double threshold,
         std::optional<int64_t> ignore_index) {
        new (self) ConfusionMatrix(
            ConfusionMatrixOptions(num_classes).threshold(threshold).ignore_index(ignore_index));
      },
      nb::arg("num_classes"), nb::arg("threshold") = 0.5, nb::arg("ignore_index") = nb::none());
  update(matrix);
  const auto class_metric = [&]<class M>(M*, const char* name, const char* doc) {
    nb::class_<M, Metric> c(m, name, doc);
    c.def(
        "__init__",
        [name](M* self, int64_t num_classes, const std::string& average, double threshold,
               std::optional<int64_t> ignore_index) {
          constexpr const char* names[] = {"binary", "micro", "macro", "weighted", "none"};
          size_t at = 0;
          while (at < std::size(names) && average != names[at]) ++at;
          check<ValueError>(at < std::size(names), name, ": average ", average,
                            " is unknown; expected binary, micro, macro, weighted or none");
          new (self) M(ClassMetricOptions(num_classes)
                           .average(static_cast<Average>(at))
                           .threshold(threshold)
                           .ignore_index(ignore_index));
        },
        nb::arg("num_classes"), nb::arg("average") = "macro", nb::arg("threshold") = 0.5,
        nb::arg("ignore_index") = nb::none());
    update(c);
  };
  class_metric(static_cast<Precision*>(nullptr), "Precision",
               "Of the elements taken for a class, the share that is of it.");
  class_metric(static_cast<Recall*>(nullptr), "Recall",
               "Of the elements of a class, the share that was found.");
  class_metric(static_cast<F1Score*>(nullptr), "F1Score",
               "The harmonic mean of precision and recall.");
  nb::class_<MeanMetric, Metric>(m, "MeanMetric", "The mean of all values.")
      .def(nb::init<>())
      .def(
          "update",
          [](MeanMetric& self, const Given<Operand>& value, double weight) {
            with_value(value, [&](const auto& each) { self.update(each, weight); });
          },
          nb::arg("value"), nb::arg("weight") = 1.0, "Adds a value, or the elements of a tensor.");
  nb::class_<RunningMean, Metric>(m, "RunningMean", "The mean of the last values.")
      .def(nb::init<int64_t>(), nb::arg("window") = 5)
      .def(
          "update",
          [](RunningMean& self, const Given<Operand>& value) {
            with_value(value, [&](const auto& each) { self.update(each); });
          },
          nb::arg("value"), "Adds a value.");
}

void bind_profiler(nb::module_& m) {
  namespace p = profiler;
  using p::profile;
  nb::enum_<p::ProfilerActivity>(m, "ProfilerActivity", "What a profile measures.")
      .value("CPU", p::ProfilerActivity::CPU)
      .value("CUDA", p::ProfilerActivity::CUDA);
  nb::class_<p::FunctionEventAvg>(m, "FunctionEventAvg",
                                  "The events of one name. Times are microseconds.")
      .def_ro("key", &p::FunctionEventAvg::key, "The name.")
      .def_ro("count", &p::FunctionEventAvg::count, "The number of calls.")
      .def_ro("cpu_time_total", &p::FunctionEventAvg::cpu_time_total,
              "With what was called within.")
      .def_ro("self_cpu_time_total", &p::FunctionEventAvg::self_cpu_time_total,
              "Without what was called within.")
      .def_ro("device_time_total", &p::FunctionEventAvg::device_time_total, "Of the device.")
      .def_ro("self_device_time_total", &p::FunctionEventAvg::self_device_time_total,
              "Of the device, without what was called within.")
      .def_ro("bytes", &p::FunctionEventAvg::bytes, "Bytes that were read and written.")
      .def_ro("cpu_memory_usage", &p::FunctionEventAvg::cpu_memory_usage,
              "Bytes of the tensors that it made.")
      .def_ro("input_shapes", &p::FunctionEventAvg::input_shapes, "The shapes of the operands.");
  nb::class_<p::EventList>(m, "EventList", "Events by name.")
      .def("table", &p::EventList::table, nb::arg("sort_by") = "", nb::arg("row_limit") = 100,
           "The events as a table.")
      .def("__len__", [](const p::EventList& self) { return self.size(); })
      .def(
          "__getitem__",
          [](const p::EventList& self, size_t i) -> const p::FunctionEventAvg& {
            if (i >= self.size()) throw nb::index_error("EventList: the index is out of range");
            return self[i];
          },
          nb::rv_policy::copy)
      .def("__repr__", [](const p::EventList& self) { return self.table(); });
  nb::class_<p::ModuleList>(m, "ModuleList", "Time by module.")
      .def("table", &p::ModuleList::table, nb::arg("row_limit") = 100, "The modules as a table.")
      .def("__repr__", [](const p::ModuleList& self) { return self.table(); });
  nb::class_<profile>(m, "_profile")
      .def("__init__",
           [](profile* self, const std::optional<std::vector<p::ProfilerActivity>>& activities,
              bool record_shapes, bool profile_memory, bool with_modules) {
             p::ProfileOptions options{{}, record_shapes, profile_memory, with_modules};
             if (activities) options.activities.insert(activities->begin(), activities->end());
             new (self) profile(options);
           })
      .def("start", &profile::start, "Forgets what was seen, and begins anew.")
      .def(
          "stop",
          [](profile& self) {
            const Released other_threads_run;
            self.stop();
          },
          "Ends the profile.")
      .def("key_averages", &profile::key_averages, nb::arg("group_by_input_shape") = false,
           "Time and memory by operation.")
      .def("module_averages", &profile::module_averages, "Time by module; needs with_modules=True.")
      .def("export_chrome_trace", &profile::export_chrome_trace, nb::arg("path"),
           "Writes a trace for ui.perfetto.dev.")
      .def(
          "export_memory_timeline",
          [](const profile& self, const std::string& path,
             const Given<std::optional<Device>>& device) {
            self.export_memory_timeline(path, device.get().value_or(kCPU));
          },
          nb::arg("path"), nb::arg("device") = nb::none(),
          "Writes the memory over time, as a picture or as JSON.");
  struct Named {
    std::unique_ptr<p::record_function> scope;
  };
  nb::class_<Named>(m, "_record_function")
      .def("__init__",
           [](Named* self, const std::string& name) {
             new (self) Named{std::make_unique<p::record_function>(name)};
           })
      .def("leave", [](Named& self) { self.scope.reset(); });
}

}  // namespace

void bind_watch(nb::module_& watch, nb::module_& metrics, nb::module_& profiler) {
  bind_logs(watch);
  bind_pictures(watch);
  bind_guard(watch);
  bind_metrics(metrics);
  bind_profiler(profiler);
}

}  // namespace gradus::python
