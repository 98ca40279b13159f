// Gives captured products of few rows their epilogues.
#include "gradus/cuda/ops/matmul/append.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "gradus/cuda/kernels/decoding/epilogue.h"
#include "gradus/cuda/kernels/matmul/operand.h"
#include "gradus/cuda/runtime/graph.h"
#include "gradus/cuda/runtime/relaunch.h"
#include "gradus/tensor/raw/strided.h"

namespace gradus::cuda {

namespace {

// The bytes of a tensor, from the first to the last.
struct Range {
  uintptr_t begin = 0, end = 0;
  bool meets(const Range& other) const { return begin < other.end && other.begin < end; }
  friend bool operator==(const Range&, const Range&) = default;
};
Range range_of(const Tensor& x) {
  if (!x.defined() || x.numel() == 0) return {};
  int64_t below = 0, above = 0;  // in elements
  for (int64_t d = 0; d < x.dim(); ++d) {
    const int64_t reach = (x.sizes()[d] - 1) * x.strides()[d];
    (reach < 0 ? below : above) += reach;
  }
  const auto at = reinterpret_cast<intptr_t>(x.data_ptr());
  const auto size = static_cast<int64_t>(x.element_size());
  return {static_cast<uintptr_t>(at + below * size),
          static_cast<uintptr_t>(at + (above + 1) * size)};
}

struct Noted {
  unsigned long long capture;
  cudaGraphNode_t node;
  const void* kernel;
  dim3 grid, block;
  alignas(MatmulArgs<Half>) std::array<std::byte, sizeof(MatmulArgs<Half>)> args;
  std::array<Range, 3> reads;
  Range out;
  ScalarType dtype;
  int64_t rows, columns;

  bool reads_in(const Range& range) const {
    return std::any_of(reads.begin(), reads.end(), [&](const Range& x) { return x.meets(range); });
  }
  // Whether x is all of the product, element by element.
  bool gave(const Tensor& x) const {
    return is_like_it(x) && reinterpret_cast<uintptr_t>(x.data_ptr()) == out.begin;
  }
  bool is_like_it(const Tensor& x) const {
    return x.dtype() == dtype && x.numel() == rows * columns && x.is_contiguous();
  }
};
thread_local std::optional<Noted> noted;

// The noted product, if it is the last work of the stream that is captured.
const Noted* last_product() {
  if (!noted) return nullptr;
  const cudaStream_t stream = current_stream();
  if (last_captured(stream) == noted->node && capture_id(stream) == noted->capture) return &*noted;
  noted.reset();
  return nullptr;
}

// False where CUDA refuses: the function then has a kernel of its own.
bool give(RowsEpilogueArgs epilogue) {
  void* args[] = {noted->args.data(), &epilogue, nullptr};
  const cudaKernelNodeParams params{
      const_cast<void*>(noted->kernel), noted->grid, noted->block, 0, args, nullptr};
  const cudaError_t status = cudaGraphKernelNodeSetParams(noted->node, &params);
  if (status != cudaSuccess) cudaGetLastError();
  noted.reset();
  return status == cudaSuccess;
}

RowsEpilogue epilogue_of(UnaryOp op) {
  if (op == UnaryOp::gelu) return RowsEpilogue::gelu;
  if (op == UnaryOp::relu) return RowsEpilogue::relu;
  return op == UnaryOp::silu ? RowsEpilogue::silu : RowsEpilogue::none;
}
RowsEpilogue epilogue_of(BinaryOp op) {
  if (op == BinaryOp::add) return RowsEpilogue::add;
  return op == BinaryOp::mul ? RowsEpilogue::mul : RowsEpilogue::none;
}

// Whether out can be written beside the product, or in its place.
bool takes(const Noted& product, const Tensor& out) {
  const Range range = range_of(out);
  return product.is_like_it(out) && !product.reads_in(range) &&
         (range == product.out || !range.meets(product.out));
}

}  // namespace

void note_captured(const void* kernel, const LaunchConfig& config, std::span<const std::byte> args,
                   std::initializer_list<Tensor> reads, const Tensor& out) {
  noted.reset();
  if (!is_current_stream_capturing() || Relaunch::current()) return;
  Noted product{capture_id(config.stream),
                last_captured(config.stream),
                kernel,
                config.grid,
                config.block,
                {},
                {},
                range_of(out),
                out.scalar_type(),
                out.sizes()[1],
                out.sizes()[2]};
  if (!product.node) return;
  std::copy(args.begin(), args.end(), product.args.begin());
  std::transform(reads.begin(), reads.end(), product.reads.begin(), range_of);
  noted = product;
}

bool append_map(UnaryOp op, const Tensor& x, const Tensor& out) {
  const Noted* const product = last_product();
  const RowsEpilogue what = epilogue_of(op);
  return product && what != RowsEpilogue::none && product->gave(x) && takes(*product, out) &&
         give({.what = what, .out = out.data_ptr()});
}

bool append_zip(BinaryOp op, const Tensor& x, const Tensor& y, const Tensor& out) {
  const Noted* const product = last_product();
  const RowsEpilogue what = epilogue_of(op);
  if (!product || what == RowsEpilogue::none) return false;
  if (!product->gave(x)) return product->gave(y) && append_zip(op, y, x, out);
  const Range other = range_of(y), range = range_of(out);
  return product->is_like_it(y) && !other.meets(product->out) && takes(*product, out) &&
         (other == range || !other.meets(range)) &&
         give({.what = what, .operand = y.data_ptr(), .out = out.data_ptr()});
}

bool append_put(const IndexRule& rule, int64_t dim, const Tensor& index, const Tensor& src,
                const Tensor& out) {
  const Noted* const product = last_product();
  if (!product || src.dtype() != product->dtype || out.dtype() != product->dtype ||
      index.sizes()[dim] != 1)
    return false;
  const auto walk = collapse<3>(index.sizes(), {out.strides(), src.strides(), index.strides()});
  const int last = walk.dims - 1;
  if (last < 0) return false;
  const auto begin = reinterpret_cast<uintptr_t>(src.data_ptr());
  const int64_t first = static_cast<int64_t>(begin - product->out.begin) / 2;
  const Range range = range_of(out);
  const bool rows = walk.dims == 1
                        ? product->rows == 1
                        : walk.dims == 2 && walk.size[0] == product->rows &&
                              walk.stride[1][0] == product->columns && walk.stride[2][0] == 0;
  if (!rows || walk.stride[0][last] != 1 || walk.stride[1][last] != 1 ||
      walk.stride[2][last] != 0 || begin < product->out.begin ||
      first + walk.size[last] > product->columns || product->reads_in(range) ||
      range.meets(product->out) || range.meets(range_of(index)))
    return false;
  return give({.what = RowsEpilogue::put,
               .out = out.data_ptr(),
               .index = index.data_ptr<int64_t>(),
               .rule = rule,
               .fault = device_fault(),
               .first = first,
               .count = walk.size[last],
               .row_step = walk.dims == 1 ? 0 : walk.stride[0][0],
               .place_step = out.strides()[dim]});
}

}  // namespace gradus::cuda
