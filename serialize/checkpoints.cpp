// Checkpoints: files with the step in their names.
#include "gradus/serialize/checkpoints.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "gradus/autograd/functions.h"
#include "gradus/tensor/base/rethrow.h"
#include "gradus/tensor/base/warning.h"

namespace gradus::serialize {

namespace {
constexpr const char* kNoneIsWhole =
    "; no checkpoint of the folder is whole, train from the beginning";
constexpr std::string_view kCheckpointName = "checkpoint-", kCheckpointEnd = ".safetensors";
}  // namespace

Checkpoints::Checkpoints(std::string folder, nn::Module& module, optim::Optimizer& optimizer,
                         int64_t keep)
    : folder_(std::move(folder)), module_(module), optimizer_(optimizer), keep_(keep) {
  check(keep >= 1, "Checkpoints: keep is ", keep, ", expected 1 or more");
  std::error_code error, ignored;
  std::filesystem::create_directories(folder_, error);
  check<Error>(std::filesystem::is_directory(folder_, ignored), "Checkpoints: the folder ", folder_,
               " cannot be made: ", error ? error.message() : std::string("it is a file"),
               "; choose another");
}

Checkpoints& Checkpoints::add(const std::string& name, std::function<NamedTensors()> state,
                              std::function<void(const NamedTensors&)> load) {
  check(!name.empty() && name.find('.') == std::string::npos, "Checkpoints::add: the name is \"",
        name, "\", expected one that is not empty and has no dot");
  for (const Part& part : parts_)
    check(part.name != name, "Checkpoints::add: ", name, " is taken; give another name");
  parts_.push_back({name, std::move(state), std::move(load)});
  return *this;
}

std::string Checkpoints::path(int64_t step) const {
  return (std::filesystem::path(folder_) /
          std::string(kCheckpointName).append(std::to_string(step)).append(kCheckpointEnd))
      .string();
}

std::vector<int64_t> Checkpoints::steps() const {
  std::vector<int64_t> out;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, none)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kCheckpointName) || !name.ends_with(kCheckpointEnd)) continue;
    const char* const begin = name.data() + kCheckpointName.size();
    const char* const end = name.data() + name.size() - kCheckpointEnd.size();
    int64_t step = 0;
    const auto read = std::from_chars(begin, end, step);
    if (read.ec == std::errc() && read.ptr == end) out.push_back(step);
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string Checkpoints::latest() const {
  const std::vector<int64_t> all = steps();
  return all.empty() ? "" : path(all.back());
}

void Checkpoints::save(int64_t step) {
  Checkpoint rest{.step = step};
  for (const Part& part : parts_)
    for (const auto& item : part.state())
      rest.state.insert(part.name + "." + item.key(), item.value());
  detail::save_checkpoint("Checkpoints::save", path(step), module_, optimizer_, {}, rest);

  std::error_code ignored;
  std::erase(damaged_, step);
  for (const int64_t other : std::exchange(damaged_, {}))
    std::filesystem::remove(path(other), ignored);
  std::vector<int64_t> others = steps();
  std::erase(others, step);
  const size_t kept = goes_on_ ? static_cast<size_t>(keep_) - 1 : 0;
  for (size_t i = 0; i + kept < others.size(); ++i)
    std::filesystem::remove(path(others[i]), ignored);
  goes_on_ = true;
}

int64_t Checkpoints::load() {
  constexpr const char* kOp = "Checkpoints::load";
  const std::vector<int64_t> all = steps();
  std::vector<int64_t> damaged;
  std::string reasons;
  std::optional<SafetensorsContents> contents;
  std::string file;
  for (auto step = all.rbegin(); step != all.rend() && !contents; ++step) {
    file = path(*step);
    try {
      contents = detail::load_file(kOp, file);
    } catch (const ValueError& error) {
      if (all.size() == damaged.size() + 1) fail(reasons, error.msg(), kNoneIsWhole);
      damaged.push_back(*step);
      reasons += error.msg() + "\n";
    }
  }
  if (!contents) return 0;
  if (!damaged.empty()) warn(reasons + "The training goes on from the older " + file);
  const detail::RestReaders readers{nullptr,
                                    [&](const NamedTensors& state) { load_parts(file, state); }};
  const int64_t step =
      detail::load_checkpoint(kOp, file, std::move(*contents), module_, optimizer_, readers, true)
          .step;
  damaged_ = std::move(damaged);
  goes_on_ = true;
  return step;
}

void Checkpoints::load_parts(const std::string& file, const NamedTensors& state) const {
  std::vector<NamedTensors> of_parts(parts_.size());
  std::string unknown;
  for (const auto& item : state) {
    const size_t dot = item.key().find('.');
    const auto part = std::find_if(parts_.begin(), parts_.end(), [&](const Part& candidate) {
      return dot != std::string::npos && candidate.name == item.key().substr(0, dot);
    });
    if (part == parts_.end())
      unknown += "\n  " + item.key();
    else
      of_parts[static_cast<size_t>(part - parts_.begin())].insert(item.key().substr(dot + 1),
                                                                  item.value());
  }
  check(unknown.empty(), "Checkpoints::load: ", file,
        " does not fit; nothing was loaded; add() the objects that it was saved with. It has these "
        "states of others:",
        unknown);

  // An object that refuses its state leaves the others as they were.
  std::vector<NamedTensors> before(parts_.size());
  size_t done = 0;
  try {
    for (; done < parts_.size(); ++done) {
      for (const auto& item : parts_[done].state())
        before[done].insert(item.key(), item.value().clone());
      named("Checkpoints::load: " + file + ": " + parts_[done].name,
            [&] { parts_[done].load(of_parts[done]); });
    }
  } catch (...) {
    while (done-- > 0) parts_[done].load(before[done]);
    throw;
  }
}

}  // namespace gradus::serialize
