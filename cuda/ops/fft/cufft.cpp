// Fourier transforms by cuFFT: up to three dimensions at once, whose plans are kept.
#include "gradus/cuda/ops/fft/cufft.h"

#ifndef GRADUS_SIMULATED

#include <algorithm>
#include <array>
#include <list>
#include <utility>

#include "gradus/cuda/rtc/loaded_library.h"
#include "gradus/cuda/runtime/context.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::cuda {

namespace {

// Plans and enums are ints, and 0 is success.
struct FftLibrary {
  int (*create)(int* plan);
  int (*destroy)(int plan);
  int (*set_auto_allocation)(int plan, int on);
  int (*make_plan)(int plan, int rank, long long* n, long long* in, long long in_stride,
                   long long in_distance, long long* out, long long out_stride,
                   long long out_distance, int type, long long batch, size_t* room);
  int (*set_work_area)(int plan, void* area);
  int (*set_stream)(int plan, cudaStream_t stream);
  int (*execute)(int plan, void* in, void* out, int direction);
};

const FftLibrary& fft_library() {
  static const FftLibrary found = [] {
    const rtc::LoadedLibrary library(
        {"libcufft.so.12", "libcufft.so.11", "libcufft.so"}, "fft: a GPU needs",
        "; install cuFFT (a part of the CUDA toolkit, NVIDIA's packages libcufft-12-x and -13-x, "
        "or nvidia-cufft of pip) and set LD_LIBRARY_PATH to its folder, or compute on the CPU: "
        "x.cpu()");
    FftLibrary out{};
    library.load(out.create, "cufftCreate");
    library.load(out.destroy, "cufftDestroy");
    library.load(out.set_auto_allocation, "cufftSetAutoAllocation");
    library.load(out.make_plan, "cufftMakePlanMany64");
    library.load(out.set_work_area, "cufftSetWorkArea");
    library.load(out.set_stream, "cufftSetStream");
    library.load(out.execute, "cufftXtExec");
    return out;
  }();
  return found;
}
void check_fft(int status, const char* call, const Tensor& x) {
  check<Error>(status == 0, "fft: ", call, " failed with status ", status,
               " for a tensor of shape ", x.sizes(), "; compute on the CPU: x.cpu()");
}

// cuFFT's names of the kinds, of float and of double.
struct FftKind {
  int to_half, to_real, complex;
};
constexpr FftKind kFloatFft{0x2a, 0x2c, 0x29}, kDoubleFft{0x6a, 0x6c, 0x69};

struct FftKey {
  int device = 0, type = 0, rank = 0;
  std::array<long long, 3> sizes{};
  long long batch = 0;
  bool operator==(const FftKey&) const = default;
};

// A plan gets its work space in each call.
class CufftPlan {
 public:
  CufftPlan(const FftKey& key, const Tensor& x) {
    const FftLibrary& library = fft_library();
    check_fft(library.create(&plan_), "cufftCreate", x);
    try {
      check_fft(library.set_auto_allocation(plan_, 0), "cufftSetAutoAllocation", x);
      auto sizes = key.sizes;
      check_fft(library.make_plan(plan_, key.rank, sizes.data(), nullptr, 1, 0, nullptr, 1, 0,
                                  key.type, key.batch, &room_),
                "cufftMakePlanMany64", x);
    } catch (...) {
      library.destroy(plan_);
      throw;
    }
  }
  ~CufftPlan() { fft_library().destroy(plan_); }
  CufftPlan(const CufftPlan&) = delete;
  CufftPlan& operator=(const CufftPlan&) = delete;

  void run(const Tensor& x, const Tensor& out, bool inverse, cudaStream_t stream) const {
    const FftLibrary& library = fft_library();
    const Scratch room(room_);
    check_fft(library.set_stream(plan_, stream), "cufftSetStream", x);
    check_fft(library.set_work_area(plan_, room.as<void>()), "cufftSetWorkArea", x);
    check_fft(library.execute(plan_, x.data_ptr(), out.data_ptr(), inverse ? 1 : -1), "cufftXtExec",
              x);
  }

 private:
  int plan_ = 0;
  size_t room_ = 0;
};

// The plans of this thread, those used last in front.
const CufftPlan& cufft_plan(const FftKey& key, const Tensor& x) {
  constexpr size_t kMostPlans = 32;
  thread_local std::list<std::pair<FftKey, CufftPlan>> plans;
  const auto found =
      std::find_if(plans.begin(), plans.end(), [&](const auto& plan) { return plan.first == key; });
  if (found != plans.end()) {
    plans.splice(plans.begin(), plans, found);
  } else {
    if (plans.size() >= kMostPlans) plans.pop_back();
    plans.emplace_front(std::piecewise_construct, std::forward_as_tuple(key),
                        std::forward_as_tuple(key, x));
  }
  return plans.front().second;
}

// One call of cuFFT: along `dims`, at most three, which are moved to the end. x may be destroyed
// where `out` is real.
void transform_at_once(const Dims& dims, bool inverse, const Tensor& x, const Tensor& out,
                       cudaStream_t stream) {
  Dims order;
  for (int64_t d = 0; d < x.dim(); ++d)
    if (std::find(dims.begin(), dims.end(), d) == dims.end()) order.push_back(d);
  for (int64_t d : dims) order.push_back(d);
  const Tensor moved = raw::permute(x, order), in = raw::contiguous(moved);
  const Tensor target = raw::permute(out, order);
  const Tensor result = target.is_contiguous() ? target : raw::empty_like(target);
  const FftKind& kind = x.element_size() / (x.is_complex() ? 2 : 1) == 4 ? kFloatFft : kDoubleFft;
  FftKey key{current_device(), kind.complex, static_cast<int>(dims.size()), {}, 1};
  if (!x.is_complex()) key.type = kind.to_half;
  if (!out.is_complex()) key.type = kind.to_real;
  const Tensor& whole = out.is_complex() ? in : result;
  for (size_t i = 0; i < dims.size(); ++i)
    key.sizes[i] = whole.size(static_cast<int64_t>(i) - static_cast<int64_t>(dims.size()));
  for (int64_t size : whole.sizes().slice(0, whole.sizes().size() - dims.size())) key.batch *= size;
  cufft_plan(key, x).run(in, result, inverse, stream);
  if (!result.is_same(target)) raw::copy_(target, result);
}

// `count` dimensions from `first` on.
Dims some_of(const Dims& dims, size_t first, size_t count) {
  return Dims(dims.data() + first, count);
}

}  // namespace

// Real results come last, along one dimension: cuFFT reads several as if x were symmetric in all of
// them, and destroys it.
void cufft_transform(const FourierTransform& how, const Tensor& x, const Tensor& out,
                     cudaStream_t stream) {
  constexpr size_t kAtOnce = 3;
  const bool real_out = !out.is_complex();
  size_t left = how.dims.size();
  Tensor from = x;
  if (real_out) {
    --left;
    from = raw::clone(x);
  }
  const Tensor between = real_out ? from : out;
  while (left > 0) {
    const size_t count = std::min(left, kAtOnce);
    left -= count;
    transform_at_once(some_of(how.dims, left, count), how.inverse, from, between, stream);
    from = between;
  }
  if (real_out)
    transform_at_once(some_of(how.dims, how.dims.size() - 1, 1), true, from, out, stream);
  if (how.scale != 1)
    raw::zip_(BinaryOp::mul, real_out ? out : raw::view_as_real(out), Scalar(how.scale));
}

}  // namespace gradus::cuda

#endif
