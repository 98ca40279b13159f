// SummaryWriter: events as messages, in the field numbers of TensorFlow's event.proto,
// summary.proto and tensor.proto, and of the hparams plugin's plugin_data.proto and api.proto.
#include "gradus/watch/tensorboard/summary_writer.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <set>

#include "gradus/watch/pictures/image.h"
#include "gradus/watch/pictures/pixels.h"
#include "gradus/watch/tensorboard/histogram.h"
#include "gradus/watch/tensorboard/record.h"
#include "gradus/watch/tensorboard/wire.h"
#include "gradus/watch/text.h"

namespace gradus::watch {

namespace {

using detail::Message;

double seconds_since_1970() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof(name) - 1);
  return name[0] != '\0' ? name : "localhost";
}

// "Nov27_10-15-00_host"
std::string name_of_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char text[64];
  std::strftime(text, sizeof(text), "%b%d_%H-%M-%S_", &parts);
  return text + host_name();
}

// A PNG image of so many rows and columns.
Message image_message(const Tensor& image, const char* op, const std::string& dataformats) {
  const detail::Pixels pixels = detail::pixels_of(op, image, dataformats);
  return Message()
      .integer(1, pixels.height)
      .integer(2, pixels.width)
      .integer(3, pixels.channels)
      .data(4, detail::encode_png(op, pixels));
}

}  // namespace

SummaryWriter::SummaryWriter(const std::string& log_dir, const std::string& comment,
                             std::optional<int64_t> purge_step, const std::string& filename_suffix)
    : log_dir_(log_dir.empty() ? "runs/" + name_of_now() + comment : log_dir),
      purge_step_(purge_step) {
  constexpr const char* kOp = "SummaryWriter";
  // TensorBoard reads files in the order of their names, which therefore count those of a second.
  static std::atomic<int> count = 0;
  detail::make_folder(kOp, log_dir_);
  path_ = log_dir_ + "/events.out.tfevents." +
          detail::format("%010lld", static_cast<long long>(std::time(nullptr))) + "." +
          host_name() + "." + std::to_string(getpid()) + "." + detail::format("%08d", count++) +
          filename_suffix;
  file_.emplace(kOp, path_, detail::LogFile::Open::New);
  write(Message().number(1, seconds_since_1970()).text(3, "brain.Event:2").bytes());
  constexpr int64_t kStart = 1;
  if (purge_step)
    write(Message()
              .number(1, seconds_since_1970())
              .integer(2, *purge_step)
              .message(7, Message().integer(1, kStart))
              .bytes());
}

void SummaryWriter::write(const std::string& event) {
  const std::lock_guard lock(mutex_);
  check<Error>(file_.has_value(), "SummaryWriter: ", path_,
               " is closed; write all events before close()");
  file_->append(detail::record_of(event));
}

void SummaryWriter::write_graph(const std::string& graph) {
  write(Message().number(1, seconds_since_1970()).data(4, graph).bytes());
}

void SummaryWriter::add_value(const std::string& value, int64_t global_step) {
  write(Message()
            .number(1, seconds_since_1970())
            .integer(2, global_step)
            .message(5, Message().data(1, value))
            .bytes());
}

void SummaryWriter::add_scalar(const std::string& tag, double value, int64_t global_step) {
  add_value(Message().text(1, tag).single(2, static_cast<float>(value)).bytes(), global_step);
}

void SummaryWriter::add_scalar(const std::string& tag, const Tensor& value, int64_t global_step) {
  check(value.numel() == 1, "SummaryWriter.add_scalar: '", tag, "' has the shape ", value.sizes(),
        ", expected one number; take its mean()");
  add_scalar(tag, value.item<double>(), global_step);
}

void SummaryWriter::add_scalars(const std::string& main_tag,
                                const std::map<std::string, double>& values, int64_t global_step) {
  for (const auto& [name, value] : values) {
    std::string run = main_tag + "_" + name;
    std::replace(run.begin(), run.end(), '/', '_');
    SummaryWriter* writer = nullptr;
    {
      const std::lock_guard lock(mutex_);
      auto& slot = runs_[run];
      if (slot == nullptr)
        slot = std::make_unique<SummaryWriter>(log_dir_ + "/" + run, "", purge_step_);
      writer = slot.get();
    }
    writer->add_scalar(main_tag, value, global_step);
  }
}

void SummaryWriter::add_histogram(const std::string& tag, const Tensor& values,
                                  int64_t global_step) {
  check(values.numel() > 0, "SummaryWriter.add_histogram: '", tag,
        "' has no elements; give it a tensor with one or more");
  const detail::Histogram histogram = detail::histogram_of(values);
  const Message message = Message()
                              .number(1, histogram.least)
                              .number(2, histogram.greatest)
                              .number(3, histogram.count)
                              .number(4, histogram.sum)
                              .number(5, histogram.sum_of_squares)
                              .numbers(6, histogram.limits)
                              .numbers(7, histogram.counts);
  add_value(Message().text(1, tag).message(5, message).bytes(), global_step);
}

void SummaryWriter::add_image(const std::string& tag, const Tensor& image, int64_t global_step,
                              const std::string& dataformats) {
  const Message message = image_message(image, "SummaryWriter.add_image", dataformats);
  add_value(Message().text(1, tag).message(4, message).bytes(), global_step);
}

void SummaryWriter::add_images(const std::string& tag, const Tensor& images, int64_t global_step) {
  constexpr const char* kOp = "SummaryWriter.add_images";
  const Message message = image_message(detail::make_grid(kOp, images), kOp, "CHW");
  add_value(Message().text(1, tag).message(4, message).bytes(), global_step);
}

void SummaryWriter::add_text(const std::string& tag, const std::string& text, int64_t global_step) {
  constexpr int64_t kString = 7;
  const Message plugin = Message().message(1, Message().text(1, "text"));
  const Message shape = Message().message(2, Message().integer(1, 1));
  const Message tensor = Message().integer(1, kString).message(2, shape).text(8, text);
  add_value(Message().text(1, tag + "/text_summary").message(8, tensor).message(9, plugin).bytes(),
            global_step);
}

void SummaryWriter::add_hparams(const LogRow& hparam_dict,
                                const std::map<std::string, double>& metric_dict,
                                const std::string& run_name, int64_t global_step) {
  constexpr int64_t kText = 1, kNumber = 3, kSuccess = 1;
  Message experiment, start;
  std::set<std::string> names;
  for (const auto& [name, value] : hparam_dict) {
    check(names.insert(name).second, "SummaryWriter.add_hparams: '", name,
          "' is given twice; give each setting once");
    const std::optional<double> number = value.number();
    Message setting;
    number ? setting.number(2, *number) : setting.text(3, value.exact());
    experiment.message(4, Message().text(1, name).integer(4, number ? kNumber : kText));
    start.message(1, Message().text(1, name).message(2, setting));
  }
  for (const auto& [name, value] : metric_dict)
    experiment.message(5, Message().message(1, Message().text(2, name)));
  const std::string folder =
      run_name.empty() ? detail::format("%.6f", seconds_since_1970()) : run_name;
  SummaryWriter run(log_dir_ + "/" + folder);
  const auto describe = [&](const char* tag, int field, const Message& content) {
    const Message plugin =
        Message().text(1, "hparams").message(2, Message().message(field, content));
    run.add_value(Message().text(1, tag).message(9, Message().message(1, plugin)).bytes(),
                  global_step);
  };
  describe("_hparams_/experiment", 2, experiment);
  describe("_hparams_/session_start_info", 3, start);
  describe("_hparams_/session_end_info", 4, Message().integer(1, kSuccess));
  for (const auto& [name, value] : metric_dict) run.add_scalar(name, value, global_step);
}

void SummaryWriter::flush() {
  const std::lock_guard lock(mutex_);
  if (file_) file_->sync();
  for (const auto& [name, run] : runs_) run->flush();
}

void SummaryWriter::close() {
  const std::lock_guard lock(mutex_);
  file_.reset();
  for (const auto& [name, run] : runs_) run->close();
}

}  // namespace gradus::watch
