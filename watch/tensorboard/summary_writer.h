// SummaryWriter: files of events that TensorBoard shows, under PyTorch's names.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/watch/eval_mode.h"
#include "gradus/watch/log_file.h"
#include "gradus/watch/log_value.h"
#include "gradus/watch/tensorboard/graph.h"

namespace gradus::watch {

// A file of events.
//
//   watch::SummaryWriter writer("runs/first");
//   writer.add_scalar("loss/train", loss, step);
//
// `tensorboard --logdir runs` shows them, one page for each prefix up to a slash. Each call has
// written its event when it returns. Several threads may call one writer.
// Errors of all add_ functions: Error where the file cannot be written, or is closed.
class SummaryWriter {
 public:
  // log_dir: made where it is missing; unless given it is "runs/" and the time, the name of the
  // machine and `comment`. purge_step: events of earlier files from this step on are not shown, as
  // for a run that is resumed; nor are those of add_scalars. filename_suffix: ends the file's name.
  // Errors: Error where the folder or the file cannot be made.
  explicit SummaryWriter(const std::string& log_dir = "", const std::string& comment = "",
                         std::optional<int64_t> purge_step = std::nullopt,
                         const std::string& filename_suffix = "");

  // value: a number, or a tensor of one element, for which the call waits.
  // Errors: ValueError for a tensor of several elements.
  void add_scalar(const std::string& tag, double value, int64_t global_step = 0);
  void add_scalar(const std::string& tag, const Tensor& value, int64_t global_step = 0);
  // Several curves in one chart: each is a run of its own, in a folder below log_dir.
  void add_scalars(const std::string& main_tag, const std::map<std::string, double>& values,
                   int64_t global_step = 0);
  // The distribution of the finite numbers. Errors: ValueError for a tensor without elements.
  void add_histogram(const std::string& tag, const Tensor& values, int64_t global_step = 0);
  // image: uint8, or fractions from 0 to 1; dataformats: its dimensions, "CHW", "HWC" or "HW".
  // Errors: as encode_png.
  void add_image(const std::string& tag, const Tensor& image, int64_t global_step = 0,
                 const std::string& dataformats = "CHW");
  // Images (N, C, H, W) as one grid. Errors: as make_grid and encode_png.
  void add_images(const std::string& tag, const Tensor& images, int64_t global_step = 0);
  // Markdown.
  void add_text(const std::string& tag, const std::string& text, int64_t global_step = 0);

  // The settings of a run beside what it reached, which the page HPARAMS compares among the runs
  // below one folder. Settings are numbers, truth values as 0 and 1, or texts. The folder run_name
  // below log_dir holds them and the metrics, as a run of its own; it is the time unless given.
  // Errors: ValueError for a name given twice.
  void add_hparams(const LogRow& hparam_dict, const std::map<std::string, double>& metric_dict,
                   const std::string& run_name = "", int64_t global_step = 0);

  // Draws the operations that autograd records of a forward pass in eval mode. An operation stands
  // in the module whose parameter it reads. Inputs that need no gradient, as integers, are left
  // out. Errors: those of the model's forward.
  template <std::derived_from<nn::Module> M, class... Inputs>
  void add_graph(M& model, const Inputs&... inputs) {
    const AutoGradMode recorded(true);
    const detail::EvalMode eval(model);
    Tensors entered, outputs;
    detail::collect(nn::Module::call(model, detail::traced(inputs, entered)...), outputs);
    write_graph(detail::graph_of(model, entered, outputs));
  }
  template <class M, class... Inputs>
  void add_graph(const nn::ModuleHolder<M>& model, const Inputs&... inputs) {
    add_graph(*model, inputs...);
  }
  template <class M, class... Inputs>
  void add_graph(const std::shared_ptr<M>& model, const Inputs&... inputs) {
    add_graph(*model, inputs...);
  }

  // Brings the file to the disk.
  void flush();
  // Further events are errors.
  void close();
  const std::string& log_dir() const { return log_dir_; }
  // The file of events.
  const std::string& path() const { return path_; }

 private:
  void write(const std::string& event);
  void write_graph(const std::string& graph);
  void add_value(const std::string& value, int64_t global_step);

  std::string log_dir_, path_;
  std::optional<int64_t> purge_step_;
  std::mutex mutex_;
  std::optional<detail::LogFile> file_;
  std::map<std::string, std::unique_ptr<SummaryWriter>> runs_;  // of add_scalars
};

}  // namespace gradus::watch
