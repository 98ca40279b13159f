// Checkpoints: the newest checkpoints of a training, in a folder.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "gradus/serialize/checkpoint.h"

namespace gradus::serialize {

// Saves a training again and again, so that it can stop at any moment and go on as if it had not:
//
//   serialize::Checkpoints checkpoints("runs/lenet/checkpoints", *net, adam);
//   checkpoints.add("schedule", schedule).add("loader", loader).add("history", history);
//   for (int64_t epoch = resume ? checkpoints.load() : 0; epoch < 10;) {
//     ...
//     checkpoints.save(++epoch);
//   }
//
// Each file is a checkpoint of save_checkpoint, with the states of the added objects and of the
// random generators.
class Checkpoints {
 public:
  // keep: how many files stay. The folder is made where it is missing. Errors: ValueError for a
  // number below 1; Error where there is no folder and none can be made.
  // REQUIRES: the module, the optimizer and what is added live as long.
  Checkpoints(std::string folder, nn::Module& module, optim::Optimizer& optimizer,
              int64_t keep = 3);

  // Saves the state of an object, too. A schedule or a History has state_dict() and
  // load_state_dict(); a DataLoader has save(archive) and load(archive).
  // Errors: ValueError for a name that is taken, empty or holds a dot.
  template <class Object>
  Checkpoints& add(const std::string& name, Object& object) {
    if constexpr (requires { object.load_state_dict(object.state_dict()); })
      return add(
          name, [&object] { return object.state_dict(); },
          [&object](const NamedTensors& state) { object.load_state_dict(state); });
    else
      return add(
          name,
          [&object] {
            OutputArchive archive;
            object.save(archive);
            return archive.tensors();
          },
          [&object](const NamedTensors& state) {
            InputArchive archive = detail::archive_of(state);
            object.load(archive);
          });
  }

  // Writes checkpoint-STEP.safetensors. The oldest files above `keep` are removed. The first call
  // removes those of an earlier training, unless load() went on from them. Errors: as
  // save_checkpoint; the files are as before then.
  void save(int64_t step);
  // Goes on from the newest file that is whole. A newer one that is truncated or damaged is left
  // out with a warning that names it, and goes with the next save(). Returns the step; 0 where
  // there is no file, and nothing changes. Errors: as load_checkpoint, where no file is whole those
  // of the newest; also ValueError that lists what belongs to no object. Nothing is changed then.
  int64_t load();
  // The path of the newest file; empty where there is none.
  std::string latest() const;

 private:
  struct Part {
    std::string name;
    std::function<NamedTensors()> state;
    std::function<void(const NamedTensors&)> load;
  };
  Checkpoints& add(const std::string& name, std::function<NamedTensors()> state,
                   std::function<void(const NamedTensors&)> load);
  std::string path(int64_t step) const;
  // The steps of the files, in rising order.
  std::vector<int64_t> steps() const;
  void load_parts(const std::string& file, const NamedTensors& state) const;

  std::string folder_;
  nn::Module& module_;
  optim::Optimizer& optimizer_;
  int64_t keep_;
  std::vector<Part> parts_;
  bool goes_on_ = false;          // the files in the folder are those of this training
  std::vector<int64_t> damaged_;  // steps of files that load() left out
};

}  // namespace gradus::serialize
