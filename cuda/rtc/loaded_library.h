// A library that is looked for when it is first used.
#pragma once

#include <dlfcn.h>

#include <initializer_list>

#include "gradus/tensor/base/error.h"

namespace gradus::cuda::rtc {

// Its functions, by name. Errors: Error, which ends with `fix`, where the library or one is
// missing.
class LoadedLibrary {
 public:
  // The first of these files that can be loaded. `needs` begins the error.
  LoadedLibrary(std::initializer_list<const char*> files, const char* needs, const char* fix)
      : needs_(needs), fix_(fix) {
    for (const char* file : files) {
      name_ = file;
      file_ = dlopen(file, RTLD_NOW | RTLD_LOCAL);
      if (file_) return;
    }
    fail<Error>(needs, " ", *files.begin(), ", which cannot be loaded", fix);
  }
  template <class F>
  void load(F& function, const char* name) const {
    function = reinterpret_cast<F>(dlsym(file_, name));
    check<Error>(function, needs_, " ", name, ", which ", name_, " lacks", fix_);
  }

 private:
  void* file_ = nullptr;
  const char *name_ = "", *needs_, *fix_;
};

}  // namespace gradus::cuda::rtc
