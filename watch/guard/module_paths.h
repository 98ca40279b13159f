// ModulePaths: what messages call the modules that a thread runs.
#pragma once

#include <memory>
#include <string>
#include <typeinfo>
#include <unordered_map>

#include "gradus/nn/module.h"

namespace gradus::guarding {

// A module below the one that was called first, by the calls that led to it.
struct ModulePath {
  std::string names;  // "blocks.0.root"; empty for the first one
  std::string text;   // "blocks.0.root (Root)", "Net"

  // The children that ran, by their addresses. Each entry is right while the holder has the same
  // child at the same place.
  struct Child {
    size_t place;
    std::string name;
    const std::type_info* type;
    std::shared_ptr<ModulePath> path;
  };
  std::unordered_map<const nn::Module*, Child> children;
};

// The paths of one thread, each of which is made once.
class ModulePaths {
 public:
  // The path of a module that `holder` runs, whose path is `above`; both are null for the first
  // one.
  std::shared_ptr<ModulePath> find(const nn::Module* holder, ModulePath* above,
                                   const nn::Module& module);
  void clear() { first_.clear(); }

 private:
  std::unordered_map<const std::type_info*, std::shared_ptr<ModulePath>> first_;
};

}  // namespace gradus::guarding
