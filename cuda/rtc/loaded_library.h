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
  // The first of these files that can be loaded.
  LoadedLibrary(std::initializer_list<const char*> files, const char* fix) : fix_(fix) {
    for (const char* file : files) {
      name_ = file;
      file_ = dlopen(file, RTLD_NOW | RTLD_LOCAL);
      if (file_) return;
    }
    fail<Error>("Program: kernels that are compiled at run time need ", *files.begin(),
                ", which cannot be loaded", fix);
  }
  template <class F>
  void load(F& function, const char* name) const {
    function = reinterpret_cast<F>(dlsym(file_, name));
    check<Error>(function, "Program: ", name_, " has no ", name, fix_);
  }

 private:
  void* file_ = nullptr;
  const char *name_ = "", *fix_;
};

}  // namespace gradus::cuda::rtc
