// Checkpoints: one safetensors file with all that resuming a training needs. Tensors: "model.NAME"
// for each parameter and buffer; the optimizer's state_dict() under "optimizer.", with the
// parameters' names; the random generators' states under "rng."; a data loader's place under
// "loader."; other states under "state.".
// Metadata: step, epoch, the optimizer's class, and free text under "user.".
//
//   save_checkpoint(path, *model, sgd, {.step = step, .state = schedule.state_dict()});
//   const auto checkpoint = load_checkpoint(path, *model, sgd);
//   schedule.load_state_dict(checkpoint.state);
//
// A data loader comes behind the optimizer: save_checkpoint(path, *model, sgd, loader, {...}).
// Checkpoints (serialize/checkpoints.h) keeps more objects, and several files.
#pragma once

#include "gradus/nn/module.h"
#include "gradus/optim/optimizer.h"
#include "gradus/serialize/archive.h"

namespace gradus::serialize {

// The contents of a checkpoint beside model and optimizer.
struct Checkpoint {
  int64_t step = 0, epoch = 0;
  Metadata metadata = {};  // free text by name
  // The states of the default generators: whether to save them; whether they were loaded.
  bool rng = true;
  // The state_dict() of other objects: a schedule, a GradScaler. Several are one dictionary by
  // prefixes.
  NamedTensors state = {};
};

// The older file is replaced when the new one is complete (serialize/atomic_file.h).
// Errors: as save_file; ValueError where the optimizer has a parameter that is none of the
// module's.
void save_checkpoint(const std::string& path, const nn::Module& module,
                     const optim::Optimizer& optimizer, const Checkpoint& rest = {});
void save_checkpoint(const std::string& path, const nn::Module& module,
                     const Checkpoint& rest = {});

// Values are copied to the devices of the module and the optimizer. States of generators of CUDA
// devices that this machine lacks are ignored; rng = false leaves all generators unchanged. The
// saved optimizer state is ignored where there is no optimizer.
// Errors: as load_file; ValueError that lists every name that is missing, unknown, or has a shape,
// dtype or value that does not fit, and for an optimizer of another class. Nothing is changed then.
Checkpoint load_checkpoint(const std::string& path, nn::Module& module, optim::Optimizer& optimizer,
                           bool rng = true);
Checkpoint load_checkpoint(const std::string& path, nn::Module& module, bool rng = true);

namespace detail {
template <class T>
concept Loader = requires(T& loader, OutputArchive& out, InputArchive& in) {
  loader.save(out);
  loader.load(in);
};
// Checkpoints calls these, too. Messages name `operation`.
void save_checkpoint(const std::string& operation, const std::string& path,
                     const nn::Module& module, const optim::Optimizer& optimizer,
                     const OutputArchive& loader, const Checkpoint& rest);
// Readers of a loader's place and of the other states; they run before the module is changed.
struct RestReaders {
  std::function<void(InputArchive&)> loader;
  std::function<void(const NamedTensors&)> state;
};
Checkpoint load_checkpoint(const std::string& operation, const std::string& path,
                           SafetensorsContents contents, nn::Module& module,
                           optim::Optimizer& optimizer, const RestReaders& readers, bool rng);
// An archive that was read, with these tensors.
InputArchive archive_of(const NamedTensors& tensors);
}  // namespace detail

// The same with the place of a data loader: the training goes on with the batch behind the last one
// that was handed out. Errors: also those of DataLoader::save and load.
template <detail::Loader Loader>
void save_checkpoint(const std::string& path, const nn::Module& module,
                     const optim::Optimizer& optimizer, const Loader& loader,
                     const Checkpoint& rest = {}) {
  OutputArchive archive;
  loader.save(archive);
  detail::save_checkpoint("save_checkpoint", path, module, optimizer, archive, rest);
}
template <detail::Loader Loader>
Checkpoint load_checkpoint(const std::string& path, nn::Module& module, optim::Optimizer& optimizer,
                           Loader& loader, bool rng = true) {
  constexpr const char* kOp = "load_checkpoint";
  return detail::load_checkpoint(kOp, path, detail::load_file(kOp, path), module, optimizer,
                                 {[&](InputArchive& archive) { loader.load(archive); }, nullptr},
                                 rng);
}

}  // namespace gradus::serialize
