// Kernels and their variables, read from a program's ELF tables.
#include "gradus/cuda/sim/check/elf.h"

#include <elf.h>
#include <link.h>

#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <unordered_set>

namespace gradus::cuda::sim {

namespace {

constexpr std::string_view kConstant = "gradus_constant";

class Elf {
 public:
  explicit Elf(const std::string& path) : file_(path, std::ios::binary) {
    ElfW(Ehdr) header{};
    if (!file_.read(reinterpret_cast<char*>(&header), sizeof header)) return;
    sections_ = table<ElfW(Shdr)>(header.e_shoff, header.e_shnum * sizeof(ElfW(Shdr)));
    if (header.e_shstrndx < sections_.size()) names_ = text(sections_[header.e_shstrndx]);
  }

  const std::vector<ElfW(Shdr)>& sections() const { return sections_; }
  std::string_view name(const ElfW(Shdr) & section) const { return at(names_, section.sh_name); }
  std::string text(const ElfW(Shdr) & section) {
    const auto bytes = table<char>(section.sh_offset, section.sh_size);
    return {bytes.begin(), bytes.end()};
  }
  std::vector<ElfW(Sym)> symbols(const ElfW(Shdr) & section) {
    return table<ElfW(Sym)>(section.sh_offset, section.sh_size);
  }
  static std::string_view at(const std::string& text, size_t offset) {
    return offset < text.size() ? std::string_view(&text[offset]) : "";
  }

 private:
  template <class T>
  std::vector<T> table(size_t offset, size_t nbytes) {
    std::vector<T> out(nbytes / sizeof(T));
    file_.seekg(static_cast<std::streamoff>(offset));
    file_.read(reinterpret_cast<char*>(out.data()),
               static_cast<std::streamsize>(out.size() * sizeof(T)));
    return out;
  }

  std::ifstream file_;
  std::vector<ElfW(Shdr)> sections_;
  std::string names_;
};

// The variables of .cu files, which cuda/sim/compile lists.
std::unordered_set<std::string> listed(Elf& elf) {
  std::unordered_set<std::string> out{"gradus_sim_dynamic_shared"};
  for (const auto& section : elf.sections()) {
    if (elf.name(section) != "gradus_variables") continue;
    std::istringstream lines(elf.text(section));
    for (std::string line; lines >> line;) out.insert(line);
  }
  return out;
}

std::optional<Variable::Kind> kind_of(const Elf& elf, const ElfW(Sym) & symbol) {
  const unsigned type = symbol.st_info & 15, index = symbol.st_shndx;
  if (index == SHN_UNDEF || index >= elf.sections().size() || symbol.st_size == 0) return {};
  const auto& section = elf.sections()[index];
  if (type == STT_TLS) return Variable::Kind::shared;
  if (type != STT_OBJECT || !(section.sh_flags & SHF_WRITE)) return {};
  if (elf.name(section).starts_with(kConstant)) return {};
  return Variable::Kind::device;
}

}  // namespace

std::vector<Variable> variables_in(const std::string& path) {
  std::vector<Variable> out;
  Elf elf(path);
  const auto of_kernels = listed(elf);
  for (const auto& section : elf.sections()) {
    if (elf.name(section).starts_with(kConstant))
      out.push_back({Variable::Kind::constant, section.sh_addr, section.sh_size, ""});
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= elf.sections().size()) continue;
    const std::string names = elf.text(elf.sections()[section.sh_link]);
    for (const auto& symbol : elf.symbols(section)) {
      const auto kind = kind_of(elf, symbol);
      if (!kind) continue;
      std::string name(Elf::at(names, symbol.st_name));
      if (of_kernels.contains(name))
        out.push_back({*kind, symbol.st_value, symbol.st_size, std::move(name)});
    }
  }
  return out;
}

std::unordered_map<uintptr_t, std::string> functions_in(const std::string& path) {
  std::unordered_map<uintptr_t, std::string> out;
  Elf elf(path);
  for (const auto& section : elf.sections()) {
    if (section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM) continue;
    if (section.sh_link >= elf.sections().size()) continue;
    const std::string names = elf.text(elf.sections()[section.sh_link]);
    for (const auto& symbol : elf.symbols(section))
      if ((symbol.st_info & 15) == STT_FUNC && symbol.st_shndx != SHN_UNDEF)
        out.try_emplace(symbol.st_value, Elf::at(names, symbol.st_name));
  }
  return out;
}

}  // namespace gradus::cuda::sim
