// A program that knows nothing of the library, and loads the plugin again and again.
#include <dlfcn.h>

#include <cstdio>

int main(int, char** arguments) {
  for (int i = 0; i < 3; ++i) {
    void* const plugin = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (!plugin) {
      std::puts(dlerror());
      return 1;
    }
    const auto run = reinterpret_cast<int (*)()>(dlsym(plugin, "run"));
    if (const int status = run ? run() : 3) return status;
    dlclose(plugin);
  }
}
