// The public functions of cuda/ in a build without CUDA: no device, and an error that says so.

#include "gradus/cuda/cuda.h"
#include "gradus/cuda/ops/add_part.h"
#include "gradus/cuda/ops/convolution.h"
#include "gradus/cuda/ops/matmul.h"
#include "gradus/cuda/rtc/core_kernel.h"
#include "gradus/cuda/rtc/elementwise_kernel.h"
#include "gradus/cuda/rtc/raw_kernel.h"
#include "gradus/cuda/rtc/reduction_kernel.h"
#include "gradus/cuda/runtime/peer.h"
#include "gradus/cuda/runtime/pinned.h"
#include "gradus/tensor/backend.h"
#include "gradus/tensor/foreign_memory.h"
#include "gradus/tensor/nonfinite.h"

namespace gradus {

namespace {
[[noreturn]] void missing(const char* operation) {
  fail<Error>(operation, ": ", cuda::why_unavailable());
}
}  // namespace

Backend& cuda_backend() { missing("cuda"); }
void check_cuda_memory(const char* op, const void*, Device) { missing(op); }
StoragePtr allocate_pinned_memory(size_t) { missing("pinned_memory"); }
void cuda_tell_nonfinite(void (*)(int, const NonfiniteFinding&)) {}
void cuda_note_kinds(uint64_t, ArrayRef<Tensor>) { missing("NanGuard"); }
void cuda_find_nonfinite(const CheckedOperation&) { missing("NanGuard"); }
void cuda_will_change(ArrayRef<Tensor>, bool) {}
int64_t owners_of(const StoragePtr& storage) { return storage.use_count(); }
bool cuda_is_renewing() { return false; }
bool cuda_flush_nonfinite(Device) { return false; }
void cuda_finish_nonfinite() {}
std::function<void()> cuda_thread_state() {
  return [] {};
}

namespace cuda {

bool is_available() { return false; }
const std::string& why_unavailable() {
  static const auto& reason =
      *new std::string("gradus was built without CUDA; configure with -DGRADUS_CUDA=ON");
  return reason;
}
int64_t device_count() { return 0; }
const DeviceProperties& getDeviceProperties(int) { missing("getDeviceProperties"); }
int current_device() { missing("current_device"); }
void set_device(int) { missing("set_device"); }
void synchronize(int64_t) { missing("synchronize"); }

DeviceGuard::DeviceGuard(int) : previous_(-1) { missing("DeviceGuard"); }
DeviceGuard::~DeviceGuard() = default;

void Stream::synchronize() const { missing("Stream::synchronize"); }
bool Stream::query() const { missing("Stream::query"); }
void Stream::wait(const Event&) const { missing("Stream::wait"); }
Stream getCurrentCUDAStream(int) { missing("getCurrentCUDAStream"); }
Stream getDefaultCUDAStream(int) { missing("getDefaultCUDAStream"); }
Stream getStreamFromPool(bool, int) { missing("getStreamFromPool"); }
void setCurrentCUDAStream(Stream) { missing("setCurrentCUDAStream"); }
StreamGuard::StreamGuard(Stream stream) : device_(0), previous_(stream) {}
StreamGuard::~StreamGuard() = default;

Event::~Event() = default;
Event::Event(Event&&) noexcept = default;
Event& Event::operator=(Event&&) noexcept = default;
void Event::record(const Stream&) { missing("Event::record"); }
void Event::block(const Stream&) const { missing("Event::block"); }
void Event::synchronize() const { missing("Event::synchronize"); }
bool Event::query() const { missing("Event::query"); }
float Event::elapsed_time(const Event&) const { missing("Event::elapsed_time"); }

StoragePtr allocate_pinned(size_t) { missing("pin_memory"); }
bool is_pinned(const StoragePtr&) { return false; }

struct Graph::State {};
MempoolId_t graph_pool_handle() { missing("graph_pool_handle"); }
bool is_current_stream_capturing() { return false; }
Graph::Graph() = default;
Graph::~Graph() = default;
void Graph::register_generator_state(const Generator&) {}
void Graph::capture_begin(MempoolId_t) { missing("capture_begin"); }
void Graph::capture_end() { missing("capture_end"); }
void Graph::replay() { missing("replay"); }
void Graph::reset() {}
MempoolId_t Graph::pool() const { missing("pool"); }
Graph* Graph::capturing(int) { return nullptr; }
void Graph::launch_anew(std::function<void(bool)>) { missing("launch_anew"); }

StaticInputs::StaticInputs(Tensors) { missing("make_graphed"); }
void StaticInputs::set(const Tensors&) const { missing("make_graphed"); }

MemoryStats memory_stats(int) { missing("memory_stats"); }
void reset_peak_memory_stats(int) { missing("reset_peak_memory_stats"); }
void set_per_process_memory_fraction(double, int) { missing("set_per_process_memory_fraction"); }
double get_per_process_memory_fraction(int) { missing("get_per_process_memory_fraction"); }
void empty_cache() {}  // there is none
bool is_allocated(const StoragePtr&) { return false; }
void record_stream(const StoragePtr&, const Stream&) { missing("record_stream"); }

namespace detail {
Generator createCUDAGenerator(DeviceIndex) { missing("createCUDAGenerator"); }
const Generator& getDefaultCUDAGenerator(DeviceIndex) { missing("getDefaultCUDAGenerator"); }
}  // namespace detail

DeviceStatus device_status(int) { missing("device_status"); }
bool enable_peer_access(int, int) { missing("enable_peer_access"); }
void copy_async(const Tensor&, const Tensor&, const Stream&) { missing("copy_async"); }
bool takes_parts(const Tensor&) { missing("takes_parts"); }
void add_part(void*, const void*, int64_t, ScalarType, double, const Stream&) {
  missing("add_part");
}

ArrayRef<std::string_view> matmul_kernels() { return {}; }
std::string_view matmul_kernel() { missing("matmul_kernel"); }
void set_matmul_kernel(std::string_view) { missing("set_matmul_kernel"); }

ArrayRef<std::string_view> convolution_kernels() { return {}; }
std::string_view convolution_kernel() { missing("convolution_kernel"); }
void set_convolution_kernel(std::string_view) { missing("set_convolution_kernel"); }

Program::Program(Source, std::vector<std::string>, std::vector<std::string>) {}
const void* Program::kernel(size_t) const { missing("Program"); }
int64_t compilations() { return 0; }
RawKernel::RawKernel(Source source, std::string name, std::vector<std::string> options)
    : program_(std::move(source), {}, std::move(options)), index_(0), name_(std::move(name)) {}
void RawKernel::operator()(const Dim3&, const Dim3&, ArrayRef<Argument>, size_t) const {
  missing("RawKernel");
}
RawModule::RawModule(Source source, std::vector<std::string>, std::vector<std::string>)
    : program_(std::move(source), {}) {}
RawKernel RawModule::get_function(const std::string&) const { missing("RawModule"); }
struct CoreKernel::State {};
CoreKernel::CoreKernel(std::vector<CoreParameter>, const std::string&, const std::string&, int) {}
void CoreKernel::launch(Device, const Dims&, const std::vector<Dims>&,
                        const std::vector<CorePart>&) const {
  missing("guvectorize");
}
struct ElementwiseKernel::State {
  std::string name;
};
ElementwiseKernel::ElementwiseKernel(const std::string&, const std::string&, Source,
                                     std::string name, Source, std::vector<std::string>)
    : state_(new State{std::move(name)}) {}
std::vector<Tensor> ElementwiseKernel::call(ArrayRef<Argument>, int64_t) const {
  missing("ElementwiseKernel");
}
const std::string& ElementwiseKernel::name() const { return state_->name; }
struct ReductionKernel::State {
  std::string name;
};
ReductionKernel::ReductionKernel(const std::string&, const std::string&, Source, Source, Source,
                                 std::string, std::string name, std::string, Source,
                                 std::vector<std::string>)
    : state_(new State{std::move(name)}) {}
std::vector<Tensor> ReductionKernel::call(ArrayRef<Argument>, OptionalIntArrayRef, bool) const {
  missing("ReductionKernel");
}
const std::string& ReductionKernel::name() const { return state_->name; }

}  // namespace cuda
}  // namespace gradus
