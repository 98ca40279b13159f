// A file of the cache holds the program, its key, and their lengths with a sum over all of it.
#include "gradus/cuda/rtc/disk_cache.h"

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace gradus::cuda::rtc {

namespace fs = std::filesystem;

namespace {

// FNV-1a.
uint64_t hash(std::string_view text, uint64_t out = 0xcbf29ce484222325u) {
  for (const char c : text) out = (out ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return out;
}

struct Footer {
  char name[8] = {'g', 'r', 'a', 'd', 'u', 's', '-', '1'};
  uint64_t program, key;  // bytes
  uint64_t sum;
};

fs::path folder() {
  if (const char* own = std::getenv("GRADUS_KERNEL_CACHE")) return own;
  if (const char* of_user = std::getenv("XDG_CACHE_HOME"); of_user && *of_user)
    return fs::path(of_user) / "gradus";
  const char* home = std::getenv("HOME");
  return home && *home ? fs::path(home) / ".cache" / "gradus" : fs::path();
}

fs::path file_of(const std::string& key) {
  const fs::path in = folder();
  if (in.empty()) return {};
  std::ostringstream name;
  name << std::hex << hash(key) << ".kernel";
  return in / name.str();
}

}  // namespace

std::optional<std::string> find_on_disk(const std::string& key) {
  const fs::path path = file_of(key);
  if (path.empty()) return {};
  std::ifstream in(path, std::ios::binary);
  std::ostringstream read;
  read << in.rdbuf();
  std::string all = read.str();
  Footer footer;
  if (all.size() < sizeof footer + key.size()) return {};
  const size_t program = all.size() - sizeof footer - key.size();
  std::memcpy(&footer, all.data() + all.size() - sizeof footer, sizeof footer);
  if (std::memcmp(footer.name, Footer{}.name, sizeof footer.name) != 0 ||
      footer.program != program || footer.key != key.size() ||
      all.compare(program, key.size(), key) != 0)
    return {};
  all.resize(program);
  if (hash(key, hash(all)) != footer.sum) return {};
  return all;
}

void keep_on_disk(const std::string& key, const std::string& program) {
  const fs::path path = file_of(key);
  if (path.empty()) return;
  std::error_code failed;
  fs::create_directories(path.parent_path(), failed);
  static std::atomic<int> number{0};
  fs::path part = path;
  part += "." + std::to_string(getpid()) + "." + std::to_string(number++) + ".part";
  Footer footer;
  footer.program = program.size(), footer.key = key.size(), footer.sum = hash(key, hash(program));
  std::ofstream out(part, std::ios::binary);
  out << program << key;
  out.write(reinterpret_cast<const char*>(&footer), sizeof footer);
  out.close();
  if (out) fs::rename(part, path, failed);
  if (!out || failed) fs::remove(part, failed);
}

}  // namespace gradus::cuda::rtc
