// The kernels of convolutions by tensor cores: a file of their own, as they take long to compile.
#include "gradus/cuda/kernels/windows/convolution_tensor_cores.cuh"

#include <algorithm>
#include <numeric>

#include "gradus/cuda/kernels/windows/convolution_patches.cuh"
#include "gradus/cuda/ops/windows/convolution_kernel.h"

namespace gradus::cuda {

namespace {

using Args = ConvolutionArgs<float>;
using Kernel = ConvolutionKernel<float>;
using Part = ConvolutionPass;

// rows, columns, depth of a block; rows, columns of a warp; tiles in shared memory; blocks.
using Full = TensorShape<64, 128, 16, 32, 64, 3, 3>;
using Square = TensorShape<64, 64, 32, 32, 32, 3, 3>;  // for gradients of few filters
using Half = TensorShape<32, 64, 32, 16, 32, 3, 4>;
using Wide = TensorShape<16, 128, 32, 16, 32, 3, 3>;
using OfPatches = TensorShape<64, 128, 8, 32, 64, 2, 3>;

constexpr int kFewColumns = 64;  // which do not fill wide tiles

// All of them add eight terms at a time, so tiles of any shape give the same bits if parts of the
// depth are multiples of all steps.
template <class S, Part part>
Kernel gathered() {
  constexpr int kAnyStep = 32;
  static_assert(kAnyStep % S::kDepth == 0);
  return {convolution_tensor_cores<S, part>,
          S::kRows,
          S::kCols,
          gradus::detail::batch_invariant() ? kAnyStep : S::kDepth,
          S::kThreads,
          ConvolutionTiles<S, part>::kSharedBytes};
}

// The columns by which kernels are chosen.
int planned_columns(Part part, const Args& args) {
  const int64_t batch = std::max<int64_t>(args.shape.batch, 1);
  return part == Part::wgrad ? args.columns : counted(args.columns / batch * planned_batch(batch));
}

template <Part part>
Kernel gathered(const Args& args) {
  if (args.rows <= 16) return gathered<Wide, part>();
  if (args.rows <= 32 || planned_columns(part, args) <= kFewColumns) return gathered<Half, part>();
  if (part == Part::wgrad && args.rows <= 64) return gathered<Square, Part::wgrad>();
  return gathered<Full, part>();
}

bool is_aligned(const float* data) { return reinterpret_cast<uintptr_t>(data) % 16 == 0; }

// The most floats of a channel that a block's patch has. Blocks repeat where a plane ends with one.
int longest_patch(const PatchRows& rows, int columns) {
  const int64_t plane = int64_t{rows.height} * rows.width;
  const auto different =
      static_cast<int>(std::min<int64_t>(columns, std::lcm(plane, int64_t{OfPatches::kCols})));
  int most = 0;
  for (int first = 0; first < different; first += OfPatches::kCols) {
    const int last = std::min(first + OfPatches::kCols, columns) - 1;
    int length = 0;
    for (int sample = rows.sample_of(first); sample <= rows.sample_of(last); ++sample) {
      const PatchRun run = patch_run(rows, sample, first, last);
      length += run.end - run.begin;
    }
    most = std::max(most, length);
  }
  return most;
}

// Whether patches serve, and pay: windows of 3 x 3 most of whose elements overlap.
template <Part part>
bool takes_patches(Args& args, Kernel& kernel) {
  using Patches = ConvolutionPatches<OfPatches, part>;
  // Each GPU with such tensor cores gives a block that much, and an H100 two blocks.
  constexpr int kMostSharedBytes = 96 << 10, kFewRows = 32, kLeastPlaces = 9, kLeastTaps = 4;
  const Convolution& s = args.shape;
  const PatchRows rows = patch_rows<part>(args);
  const int taps = part == Part::dgrad ? args.phase[1].taps * args.phase[2].taps : Patches::kTaps;
  if (s.dim[0].in * s.dim[0].out * s.dim[0].kernel != 1 || s.dim[0].padding != 0 ||
      s.taps() != Patches::kTaps || taps < kLeastTaps || args.rows <= kFewRows ||
      s.group_channels() % 4 != 0 || int64_t{args.gathered[1]} * args.gathered[2] % 4 != 0 ||
      rows.height * rows.width < kLeastPlaces || !is_aligned(args.a) || !is_aligned(args.b))
    return false;
  constexpr int kBanks = 32, kOver = 8;
  // More columns than all do not change the longest patch.
  const int all = counted(int64_t{rows.height} * rows.width * OfPatches::kCols);
  const int columns =
      gradus::detail::batch_invariant() ? std::max(args.columns, all) : args.columns;
  const int least = longest_patch(rows, columns) + kPatchZeros;
  args.pitch = (least - kOver + kBanks - 1) / kBanks * kBanks + kOver;
  if (Patches::shared_bytes(args.pitch) > kMostSharedBytes) return false;
  kernel = {convolution_patches<OfPatches, part>,
            OfPatches::kRows,
            OfPatches::kCols,
            taps * Patches::kChunk,
            OfPatches::kThreads,
            Patches::shared_bytes(args.pitch)};
  return true;
}

}  // namespace

Kernel tensor_core_convolution(Part part, Args& args) {
  Kernel patches{};
  switch (part) {
    case Part::fprop:
      return takes_patches<Part::fprop>(args, patches) ? patches : gathered<Part::fprop>(args);
    case Part::dgrad:
      return takes_patches<Part::dgrad>(args, patches) ? patches : gathered<Part::dgrad>(args);
    case Part::wgrad:
      break;
  }
  return gathered<Part::wgrad>(args);
}

Kernel tile_for_batch(Part part, const Args& args, const Kernel& kernel) {
  const auto few = [&]<Part of>(std::integral_constant<Part, of>) {
    return kernel.run == gathered<Full, of>().run && args.columns <= kFewColumns
               ? gathered<Half, of>()
               : kernel;
  };
  if (part == Part::fprop) return few(std::integral_constant<Part, Part::fprop>{});
  return part == Part::dgrad ? few(std::integral_constant<Part, Part::dgrad>{}) : kernel;
}

}  // namespace gradus::cuda
