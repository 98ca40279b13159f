// Programs for GPUs: NVRTC compiles them, the driver loads them. Both are looked for when the first
// program is used, so that the library runs where NVRTC is not installed.
#ifndef GRADUS_SIMULATED
#include <cuda_runtime_api.h>

#include <algorithm>
#include <filesystem>
#include <regex>

#include "gradus/cuda/rtc/compiler.h"
#include "gradus/cuda/rtc/loaded_library.h"

namespace gradus::cuda::rtc {

namespace {

constexpr const char* kNeeds = "Program: kernels that are compiled at run time need";
constexpr const char* kInstall = "; install CUDA's NVRTC (cuda-nvrtc-" GRADUS_CUDA_MAJOR
                                 "-*), or set LD_LIBRARY_PATH to its folder";

// As nvrtc.h declares them. 0 is success.
using NvrtcProgram = struct _nvrtcProgram*;
struct Nvrtc {
  int (*version)(int*, int*);
  const char* (*error)(int);
  int (*count_architectures)(int*);
  int (*architectures)(int*);
  int (*create)(NvrtcProgram*, const char*, const char*, int, const char* const*,
                const char* const*);
  int (*destroy)(NvrtcProgram*);
  int (*add_name)(NvrtcProgram, const char*);
  int (*compile)(NvrtcProgram, int, const char* const*);
  int (*log_size)(NvrtcProgram, size_t*);
  int (*log)(NvrtcProgram, char*);
  int (*lowered_name)(NvrtcProgram, const char*, const char**);
  int (*cubin_size)(NvrtcProgram, size_t*);
  int (*cubin)(NvrtcProgram, char*);
  int (*ptx_size)(NvrtcProgram, size_t*);
  int (*ptx)(NvrtcProgram, char*);
  int newest;  // architecture that it compiles for
};

const Nvrtc& nvrtc() {
  static const Nvrtc found = [] {
    const LoadedLibrary library(
        {"libnvrtc.so." GRADUS_CUDA_MAJOR, GRADUS_CUDA_LIBRARIES "/libnvrtc.so." GRADUS_CUDA_MAJOR,
         "libnvrtc.so"},
        kNeeds, kInstall);
    Nvrtc out{};
    library.load(out.version, "nvrtcVersion");
    library.load(out.error, "nvrtcGetErrorString");
    library.load(out.count_architectures, "nvrtcGetNumSupportedArchs");
    library.load(out.architectures, "nvrtcGetSupportedArchs");
    library.load(out.create, "nvrtcCreateProgram");
    library.load(out.destroy, "nvrtcDestroyProgram");
    library.load(out.add_name, "nvrtcAddNameExpression");
    library.load(out.compile, "nvrtcCompileProgram");
    library.load(out.log_size, "nvrtcGetProgramLogSize");
    library.load(out.log, "nvrtcGetProgramLog");
    library.load(out.lowered_name, "nvrtcGetLoweredName");
    library.load(out.cubin_size, "nvrtcGetCUBINSize");
    library.load(out.cubin, "nvrtcGetCUBIN");
    library.load(out.ptx_size, "nvrtcGetPTXSize");
    library.load(out.ptx, "nvrtcGetPTX");
    int count = 0;
    out.count_architectures(&count);
    std::vector<int> all(static_cast<size_t>(count));
    if (count > 0) out.architectures(all.data());
    out.newest = all.empty() ? 90 : *std::ranges::max_element(all);
    return out;
  }();
  return found;
}

void check_nvrtc(int status, const char* what, const Source& source) {
  check<Error>(status == 0, "Program: ", what, " of the kernel given at ", source.place(),
               " failed: ", status == 0 ? "" : nvrtc().error(status));
}

// The driver's functions, as cuda.h declares them: the runtime has its own since CUDA 12.8.
using DriverLibrary = struct CUlib_st*;
using DriverKernel = struct CUkern_st*;
struct Driver {
  int (*load_library)(DriverLibrary*, const void*, void*, void**, unsigned, void*, void**,
                      unsigned);
  int (*get_kernel)(DriverKernel*, DriverLibrary, const char*);
  int (*error)(int, const char**);
};

const Driver& driver() {
  static const Driver found = [] {
    const LoadedLibrary library({"libcuda.so.1"}, kNeeds,
                                "; it comes with NVIDIA's driver, of 525 or later");
    Driver out{};
    library.load(out.load_library, "cuLibraryLoadData");
    library.load(out.get_kernel, "cuLibraryGetKernel");
    library.load(out.error, "cuGetErrorString");
    return out;
  }();
  return found;
}

void check_driver(int status, const char* what, const std::string& of, const Source& source) {
  if (status == 0) return;
  const char* text = nullptr;
  driver().error(status, &text);
  fail<Error>("Program: ", what, " ", of, " of the kernel given at ", source.place(), ": ",
              text ? text : "unknown error");
}

// NVRTC knows no header of the standard library.
constexpr const char* kPrelude = R"(
using int8_t = signed char; using uint8_t = unsigned char;
using int16_t = short; using uint16_t = unsigned short;
using int32_t = int; using uint32_t = unsigned;
using int64_t = long; using uint64_t = unsigned long;
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
)";

std::vector<std::string> options_of(const Job& job) {
  std::vector<std::string> out = job.options;
  const auto is_standard = [](const std::string& each) {
    return each.starts_with("-std=") || each.starts_with("--std=");
  };
  if (std::ranges::none_of(out, is_standard)) out.push_back("-std=c++20");
  const auto is_architecture = [](const std::string& each) {
    return each.starts_with("-arch") || each.starts_with("--gpu-architecture");
  };
  // The PTX of the newest architecture it knows also runs on a GPU that is newer.
  const bool known = job.architecture <= nvrtc().newest;
  if (std::ranges::none_of(out, is_architecture))
    out.push_back(known ? "-arch=sm_" + std::to_string(job.architecture)
                        : "-arch=compute_" + std::to_string(nvrtc().newest));
  out.insert(out.end(), {"-lineinfo", "-w"});
  for (const char* folder : {GRADUS_CUDA_INCLUDE, "/usr/local/cuda/include"})
    if (std::filesystem::exists(folder)) {
      out.push_back(std::string("-I") + folder);
      break;
    }
  return out;
}

// "x.cpp(42): error: ..." as other compilers write it.
std::string readable(const std::string& log) {
  static const std::regex place(R"(\n([^\n()]+)\((\d+)\): )");
  return std::regex_replace("\n" + log, place, "\n$1:$2: ").substr(1);
}

class Compilation {
 public:
  Compilation(const Source& source, const std::string& text) {
    check_nvrtc(nvrtc().create(&handle_, text.c_str(), "kernel.cu", 0, nullptr, nullptr),
                "the creation", source);
  }
  ~Compilation() { nvrtc().destroy(&handle_); }
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;
  operator NvrtcProgram() const { return handle_; }

 private:
  NvrtcProgram handle_ = nullptr;
};

}  // namespace

std::string compiler_version() {
  static const std::string once = [] {
    int major = 0, minor = 0;
    nvrtc().version(&major, &minor);
    return "NVRTC " + std::to_string(major) + "." + std::to_string(minor);
  }();
  return once;
}

// The result: the names of the kernels as the compiler made them, one a line, and after a zero the
// cubin or PTX.
std::string compile(const Job& job) {
  const Nvrtc& it = nvrtc();
  const Compilation program(
      job.source,
      kPrelude + line_directive(job.source.file(), job.source.line()) + job.source.text() + "\n");
  for (const std::string& kernel : job.kernels)
    check_nvrtc(it.add_name(program, kernel.c_str()), "a name", job.source);
  const std::vector<std::string> options = options_of(job);
  std::vector<const char*> words;
  for (const std::string& each : options) words.push_back(each.c_str());
  const int status = it.compile(program, static_cast<int>(words.size()), words.data());
  if (status != 0) {
    size_t size = 0;
    it.log_size(program, &size);
    std::string log(size, '\0');
    it.log(program, log.data());
    fail<CompileError>("the kernel given at ", job.source.place(), " does not compile (",
                       it.error(status), "):\n", readable(log.c_str()));
  }
  std::string out;
  for (const std::string& kernel : job.kernels) {
    const char* lowered = nullptr;
    check_nvrtc(it.lowered_name(program, kernel.c_str(), &lowered), "a name", job.source);
    out += std::string(lowered) + '\n';
  }
  out += '\0';
  size_t size = 0;
  const bool is_cubin = it.cubin_size(program, &size) == 0 && size > 0;
  if (!is_cubin) check_nvrtc(it.ptx_size(program, &size), "the size", job.source);
  const size_t begin = out.size();
  out.resize(begin + size);
  check_nvrtc((is_cubin ? it.cubin : it.ptx)(program, &out[begin]), "the code", job.source);
  return out;
}

std::vector<const void*> load(const std::string& program, const Job& job) {
  const size_t zero = program.find('\0');
  check<Error>(zero != std::string::npos, "Program: it has no names");
  const std::string code = program.substr(zero + 1);  // aligned, and with a zero at the end
  DriverLibrary library = nullptr;
  check_driver(
      driver().load_library(&library, code.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
      "loading", "the code", job.source);
  std::vector<const void*> out;
  size_t begin = 0;
  for (size_t i = 0; i < job.kernels.size(); ++i) {
    const size_t end = program.find('\n', begin);
    const std::string name = program.substr(begin, end - begin);
    DriverKernel kernel = nullptr;
    check_driver(driver().get_kernel(&kernel, library, name.c_str()), "finding", name, job.source);
    out.push_back(kernel);
    begin = end + 1;
  }
  return out;
}

}  // namespace gradus::cuda::rtc
#endif
