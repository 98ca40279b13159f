// Checkpoints: one safetensors file with all that resuming a training needs. Tensors: "model.NAME"
// for each parameter and buffer; the optimizer's state_dict() under "optimizer.", with the
// parameters' names; the random generators' states under "rng."; other states under "state.".
// Metadata: step, epoch, the optimizer's class, and free text under "user.".
//
//   save_checkpoint(path, *model, sgd, {.step = step, .state = schedule.state_dict()});
//   const auto checkpoint = load_checkpoint(path, *model, sgd);
//   schedule.load_state_dict(checkpoint.state);
#pragma once

#include "gradus/nn/module.h"
#include "gradus/optim/optimizer.h"
#include "gradus/serialize/safetensors.h"

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

}  // namespace gradus::serialize
