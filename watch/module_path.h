// Where a module stands in another one.
#pragma once

#include <string>

#include "gradus/nn/module.h"

namespace gradus::watch {

// The path from one module to another that it holds, "layers.0"; empty where it does not.
std::string path_below(const nn::Module& holder, const nn::Module& module);

}  // namespace gradus::watch
