// Changes captured kernels of products of few rows, and of layer norms before them.
#include "gradus/cuda/ops/matmul/merge.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

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
using Ranges = std::vector<Range>;
bool meets_any(const Range& range, const Ranges& all) {
  return std::any_of(all.begin(), all.end(), [&](const Range& x) { return x.meets(range); });
}

// The last work of a stream that is captured.
struct Place {
  unsigned long long capture = 0;
  cudaGraphNode_t node = nullptr;  // null: there is none
  friend bool operator==(const Place&, const Place&) = default;
};
Place current_place() {
  const cudaStream_t stream = current_stream();
  return {capture_id(stream), last_captured(stream)};
}
// The same where kernels may be noted.
Place noted_place() {
  return is_current_stream_capturing() && !Relaunch::current() ? current_place() : Place{};
}

struct Norm {
  Place place;
  NormalizedRowArgs args;
  ScalarType dtype;
  Ranges touched;  // memory that it reads or writes
};
struct Product {
  Place place;
  const void* kernel;
  dim3 grid, block;
  alignas(MatmulArgs<Half>) std::array<std::byte, sizeof(MatmulArgs<Half>)> args;
  NormalizedRowArgs norm;
  Ranges touched;  // but for its result
  Range out;
  ScalarType dtype;
  int64_t rows, columns;

  bool is_like_it(const Tensor& x) const {
    return x.dtype() == dtype && x.numel() == rows * columns && x.is_contiguous();
  }
  // Whether x is all of the product, element by element.
  bool gave(const Tensor& x) const {
    return is_like_it(x) && reinterpret_cast<uintptr_t>(x.data_ptr()) == out.begin;
  }
  // Whether `to` can be written beside the product, or in its place.
  bool can_write(const Tensor& to) const {
    const Range range = range_of(to);
    return is_like_it(to) && !meets_any(range, touched) && (range == out || !range.meets(out));
  }
};
thread_local std::optional<Norm> last_norm;
thread_local std::optional<Product> last_product;

// Null unless the noted kernel is the last work of the stream.
template <class Noted>
Noted* if_last(std::optional<Noted>& noted) {
  if (noted && noted->place != current_place()) noted.reset();
  return noted ? &*noted : nullptr;
}

Product product_of(const ProductOfRows& of, const Place& place) {
  Product out{};
  out.place = place;
  out.kernel = of.kernel, out.grid = of.config.grid, out.block = of.config.block;
  std::copy(of.args.begin(), of.args.end(), out.args.begin());
  out.touched = {range_of(of.a), range_of(of.b), range_of(of.bias)};
  out.out = range_of(of.out);
  out.dtype = of.out.scalar_type();
  out.rows = of.out.sizes()[1], out.columns = of.out.sizes()[2];
  return out;
}

// Makes the captured kernel that of the product. False where CUDA refuses.
bool change(Product& product, RowsEpilogueArgs epilogue) {
  void* args[] = {product.args.data(), &epilogue, &product.norm, nullptr};
  const cudaKernelNodeParams params{
      const_cast<void*>(product.kernel), product.grid, product.block, 0, args, nullptr};
  const cudaError_t status = cudaGraphKernelNodeSetParams(product.place.node, &params);
  if (status != cudaSuccess) cudaGetLastError();
  return status == cudaSuccess;
}
bool finish(Product& product, const RowsEpilogueArgs& epilogue) {
  const bool out = change(product, epilogue);
  last_product.reset();
  return out;
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

}  // namespace

void note_norm(const NormalizedRowArgs& args, const Tensor& x, const Tensor& weight,
               const Tensor& bias, const Tensor& mean, const Tensor& rstd, const Tensor& out) {
  last_norm.reset();
  const Place place = noted_place();
  if (!place.node) return;
  last_norm = Norm{place, args, out.scalar_type(), {}};
  for (const Tensor& each : {x, weight, bias, mean, rstd, out})
    last_norm->touched.push_back(range_of(each));
}

void note_product(const ProductOfRows& product) {
  last_product.reset();
  if (const Place place = noted_place(); place.node) last_product = product_of(product, place);
}

bool merge_norm(const ProductOfRows& product) {
  Norm* const norm = if_last(last_norm);
  if (!norm || norm->dtype != product.a.dtype() || norm->args.out != product.a.data_ptr() ||
      product.a.numel() != norm->args.length || meets_any(range_of(product.out), norm->touched))
    return false;
  Product made = product_of(product, norm->place);
  made.norm = norm->args;
  made.touched.insert(made.touched.end(), norm->touched.begin(), norm->touched.end());
  last_norm.reset();
  if (!change(made, {})) return false;
  last_product = std::move(made);
  return true;
}

bool merge_map(UnaryOp op, const Tensor& x, const Tensor& out) {
  Product* const product = if_last(last_product);
  const RowsEpilogue what = epilogue_of(op);
  return product && what != RowsEpilogue::none && product->gave(x) && product->can_write(out) &&
         finish(*product, {.what = what, .out = out.data_ptr()});
}

bool merge_zip(BinaryOp op, const Tensor& x, const Tensor& y, const Tensor& out) {
  Product* const product = if_last(last_product);
  const RowsEpilogue what = epilogue_of(op);
  if (!product || what == RowsEpilogue::none) return false;
  if (!product->gave(x)) return product->gave(y) && merge_zip(op, y, x, out);
  const Range other = range_of(y), range = range_of(out);
  return product->is_like_it(y) && !other.meets(product->out) && product->can_write(out) &&
         (other == range || !other.meets(range)) &&
         finish(*product, {.what = what, .operand = y.data_ptr(), .out = out.data_ptr()});
}

bool merge_put(const IndexRule& rule, int64_t dim, const Tensor& index, const Tensor& src,
               const Tensor& out) {
  Product* const product = if_last(last_product);
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
      first + walk.size[last] > product->columns || meets_any(range, product->touched) ||
      range.meets(product->out) || range.meets(range_of(index)))
    return false;
  return finish(*product, {.what = RowsEpilogue::put,
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
