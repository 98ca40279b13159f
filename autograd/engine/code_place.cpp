// The caller's file and line, found on the stack.
#include "gradus/autograd/engine/code_place.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>

extern char** environ;

namespace gradus {

namespace {

struct Place {
  std::string object;  // the file of the program or library
  std::string offset;  // in it, in hexadecimal
  std::string function;
  std::string line;  // "file:line", or empty
};

// Whether a line is none of the program's: one of this library, of a header of the system or of a
// compiler, or one without a number.
bool is_of_library(const std::string& line) {
  static const std::string root = [] {
    const std::string here = __FILE__;
    return here.substr(0, here.rfind("autograd/engine/"));
  }();
  if (line.ends_with('?') || line.find("/include/gradus/") != std::string::npos ||
      line.find("/csu/") != std::string::npos ||  // what calls main()
      line.starts_with("/usr/include/") || line.find("/include/c++/") != std::string::npos)
    return true;
  for (const char* folder : {"tensor/", "autograd/", "cpu/", "cuda/", "nn/", "optim/", "data/",
                             "serialize/", "watch/", "distributed/", "compat/"})
    if (line.starts_with(root + folder)) return true;
  return false;
}

bool has_own_line(const Place& place) { return !place.line.empty() && !is_of_library(place.line); }

std::string hexadecimal(uintptr_t number) {
  char digits[2 * sizeof number];
  return "0x" + std::string(digits, std::to_chars(digits, std::end(digits), number, 16).ptr);
}

std::string readable(const char* symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(symbol, nullptr, nullptr, &status), std::free);
  return name ? name.get() : symbol;
}

// The file of the running program has no name in the list of what is loaded.
std::string file_of(const link_map& loaded) {
  if (*loaded.l_name) return loaded.l_name;
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  return length > 0 ? std::string(path, static_cast<size_t>(length)) : std::string();
}

std::optional<Place> locate(void* address) {
  // The call lies before the address that it returns to.
  const char* const call = static_cast<const char*>(address) - 1;
  Dl_info info;
  link_map* loaded = nullptr;
  if (!dladdr1(call, &info, reinterpret_cast<void**>(&loaded), RTLD_DL_LINKMAP) || !loaded)
    return {};
  return Place{file_of(*loaded), hexadecimal(reinterpret_cast<uintptr_t>(call) - loaded->l_addr),
               info.dli_sname ? readable(info.dli_sname) : "", ""};
}

// The output of a program; nothing where it cannot be started.
std::string output_of(std::vector<std::string> words) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const bool started =
      posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string out;
  char part[4096];
  for (ssize_t n; started && (n = read(ends[0], part, sizeof part)) > 0;)
    out.append(part, static_cast<size_t>(n));
  close(ends[0]);
  if (started) waitpid(child, nullptr, 0);
  return out;
}

// Asks addr2line for the places of one object. The output repeats each address ("0x...") and then
// has a line for it. An address has several lines, the innermost first, where calls were made
// inline. So a template of this library may hold the program's function. Keeps the first line of
// the program.
void find_lines(std::vector<Place>& places, const std::string& object) {
  std::vector<std::string> words{"addr2line", "-a", "-i", "-e", object};
  std::vector<Place*> asked;
  for (Place& place : places)
    if (place.object == object) words.push_back(place.offset), asked.push_back(&place);
  const std::string text = output_of(std::move(words));
  size_t answered = 0;
  for (size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    const std::string line = text.substr(at, end - at);
    if (line.starts_with("0x"))
      ++answered;
    else if (answered > 0 && answered <= asked.size() && !line.starts_with("??") &&
             !has_own_line(*asked[answered - 1]))
      asked[answered - 1]->line = line.substr(0, line.find(" (discriminator"));
  }
}

std::vector<Place> places_of(const std::vector<void*>& returns) {
  std::vector<Place> places;
  for (void* address : returns)
    if (std::optional<Place> place = locate(address)) places.push_back(std::move(*place));
  std::vector<std::string> objects;
  for (const Place& place : places)
    if (std::find(objects.begin(), objects.end(), place.object) == objects.end())
      objects.push_back(place.object);
  for (const std::string& object : objects) find_lines(places, object);
  std::erase_if(places, [](const Place& place) {
    return place.function.starts_with("gradus::") && !has_own_line(place);
  });
  return places;
}

}  // namespace

std::string user_line(const std::vector<void*>& returns) {
  for (const Place& place : places_of(returns))
    if (has_own_line(place)) return place.line.substr(place.line.rfind('/') + 1);
  return "";
}

std::vector<std::string> code_places(const std::vector<void*>& returns) {
  std::vector<std::string> out;
  for (const Place& place : places_of(returns)) {
    out.push_back(place.line + (place.line.empty() ? "" : " ") + place.object + "(+" +
                  place.offset + ")");
    if (!place.function.empty()) out.back() += " " + place.function;
  }
  return out;
}

}  // namespace gradus
