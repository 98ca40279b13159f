// split, chunk, unbind, tensor_split, hsplit: several views of one tensor.
#include "gradus/autograd/engine/record.h"
#include "gradus/tensor/base/checked.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

namespace {

// Views that share a node must not be changed in place.
void forbid_changes(const Tensors& views) {
  for (const Tensor& view : views)
    if (view.impl().creation_meta == autograd::CreationMeta::DEFAULT)
      view.impl().creation_meta = autograd::CreationMeta::MULTI_OUTPUT_NODE;
}

// The gradients of the pieces, zeros for those that nothing came to.
Tensors with_zeros(const Node& node, const Tensors& grads) {
  Tensors out = grads;
  for (size_t i = 0; i < out.size(); ++i)
    if (const auto& meta = node.meta(i); !out[i].defined())
      out[i] = zeros(meta.sizes, TensorOptions(meta.dtype).device(meta.device));
  return out;
}

// The tensor whose pieces along dim these are, without a copy; undefined where they are none.
Tensor whole_of(const Tensors& pieces, int64_t dim) {
  const Tensor& first = pieces[0];
  if (GradMode::is_enabled() || !first.defined() || first.dim() == 0) return {};
  Dims sizes = first.impl().sizes;
  sizes[dim] = 0;
  for (const Tensor& x : pieces) {
    if (!x.defined() || x.dim() != first.dim() || x.impl().storage != first.impl().storage ||
        x.strides() != first.strides() || x.dtype() != first.dtype() ||
        x.storage_offset() != first.storage_offset() + sizes[dim] * first.strides()[dim])
      return {};
    sizes[dim] += x.sizes()[dim];
  }
  return raw::as_strided(first, sizes, first.impl().strides, first.storage_offset());
}

int64_t dim_of(const char* op, const Tensor& self, int64_t dim) {
  check<IndexError>(self.dim() > 0, op, ": the tensor has no dimensions; expected one or more");
  return wrap_dim(op, dim, self);
}

// Errors: ValueError where so many pieces of `size` elements are nearly all empty.
void check_pieces(const char* op, int64_t pieces, int64_t size) {
  constexpr int64_t kMostEmpty = 1 << 20;
  check(pieces - kMostEmpty <= size, op, ": ", pieces, " pieces of ", size, " elements; at most ",
        kMostEmpty, " may be empty, ask for fewer");
}

// REQUIRES: sizes sum to the size of dim.
Tensors pieces(const char* node, const Tensor& self, IntArrayRef sizes, int64_t dim) {
  Tensors out;
  out.reserve(sizes.size());
  int64_t start = 0;
  for (int64_t size : sizes) {
    out.push_back(raw::narrow(self, dim, start, size));
    start += size;
  }
  forbid_changes(out);
  if (recording(self))
    record_lists(node, out, {self}, [dim](Node& n, const Tensors& grads) {
      const Tensor whole = whole_of(grads, dim);
      return Tensors{whole.defined() ? whole : cat(with_zeros(n, grads), dim)};
    });
  return out;
}

// Views from each border to the next.
Tensors between(const Tensor& self, const std::vector<int64_t>& borders, int64_t dim) {
  Tensors out;
  for (size_t i = 0; i + 1 < borders.size(); ++i)
    out.push_back(self.narrow(dim, borders[i], std::max<int64_t>(borders[i + 1] - borders[i], 0)));
  return out;
}

Tensors equal_parts(const char* op, const Tensor& self, int64_t sections, int64_t dim) {
  check(sections > 0 && self.size(dim) % sections == 0, op, ": dimension ", dim, " of size ",
        self.size(dim), " does not divide into ", sections, " equal parts; use tensor_split()");
  return self.tensor_split(sections, dim);
}
void check_rank(const char* op, const Tensor& self, int64_t rank) {
  check(self.operand(op).dim() >= rank, op, ": self has shape ", self.sizes(), ", expected ", rank,
        " dimensions or more; unsqueeze it");
}

}  // namespace

Tensors split(const Tensor& self, int64_t split_size, int64_t dim) {
  const int64_t d = dim_of("split", self, dim), size = self.sizes()[d];
  check(split_size >= 0,
        "split: split expects split_size be non-negative, but got split_size=", split_size,
        "; give the size of a piece");
  check(split_size > 0 || size == 0,
        "split: split_size can only be 0 if dimension size is 0, but got dimension size of ", size,
        "; give 1 or more");
  std::vector<int64_t> sizes;
  for (int64_t rest = size; rest > 0; rest -= split_size)
    sizes.push_back(std::min(split_size, rest));
  if (size == 0) sizes.push_back(0);
  return pieces("SplitBackward0", self, sizes, d);
}

Tensors split_with_sizes(const Tensor& self, IntArrayRef split_sizes, int64_t dim) {
  const int64_t d = dim_of("split_with_sizes", self, dim);
  Checked sum = 0;
  for (int64_t size : split_sizes) {
    check(size >= 0,
          "split_with_sizes: split_with_sizes expects split_sizes have only non-negative entries, "
          "but got split_sizes=",
          split_sizes, "; give sizes of 0 or more");
    sum = sum + size;
  }
  const int64_t total = sum.get("split_with_sizes", "the sum of split_sizes");
  check(total == self.sizes()[d],
        "split_with_sizes: split_with_sizes expects split_sizes to sum exactly to ",
        self.sizes()[d], " (input tensor's size at dimension ", d,
        "), but got split_sizes=", split_sizes, ", which sum to ", total, "; mend one of them");
  return pieces("SplitWithSizesBackward0", self, split_sizes, d);
}
Tensors split(const Tensor& self, IntArrayRef split_size, int64_t dim) {
  return split_with_sizes(self, split_size, dim);
}

Tensors chunk(const Tensor& self, int64_t chunks, int64_t dim) {
  const int64_t d = dim_of("chunk", self, dim), size = self.sizes()[d];
  check(chunks > 0, "chunk: chunk expects `chunks` to be greater than 0, got: ", chunks,
        "; give 1 or more");
  check_pieces("chunk", size == 0 ? chunks : 1, size);
  if (size == 0)
    return split_with_sizes(self, std::vector<int64_t>(static_cast<size_t>(chunks), 0), d);
  return split(self, (size - 1) / chunks + 1, d);
}

namespace {
// The graph does not count them as views, so that each may get a history of its own.
Tensors apart(Tensors views) {
  for (Tensor& view : views) {
    view.impl().view_of = nullptr;
    view.impl().creation_meta = autograd::CreationMeta::DEFAULT;
  }
  return views;
}
}  // namespace

Tensors unsafe_split(const Tensor& self, int64_t split_size, int64_t dim) {
  return apart(split(self, split_size, dim));
}
Tensors unsafe_split_with_sizes(const Tensor& self, IntArrayRef split_sizes, int64_t dim) {
  return apart(split_with_sizes(self, split_sizes, dim));
}
Tensors unsafe_chunk(const Tensor& self, int64_t chunks, int64_t dim) {
  return apart(chunk(self, chunks, dim));
}

Tensors tensor_split(const Tensor& self, int64_t sections, int64_t dim) {
  const int64_t d = dim_of("tensor_split", self, dim), size = self.sizes()[d];
  check(sections > 0, "tensor_split: sections = ", sections, ", expected a positive number");
  check_pieces("tensor_split", sections, size);
  std::vector<int64_t> borders;
  for (int64_t i = 0; i <= sections; ++i)
    borders.push_back(i * (size / sections) + std::min(i, size % sections));
  return between(self, borders, d);
}

Tensors tensor_split(const Tensor& self, IntArrayRef indices, int64_t dim) {
  const int64_t d = dim_of("tensor_split", self, dim), size = self.sizes()[d];
  std::vector<int64_t> borders{0};
  for (int64_t index : indices)
    borders.push_back(std::clamp<int64_t>(index < 0 ? index + size : index, 0, size));
  borders.push_back(size);
  return between(self, borders, d);
}

Tensors tensor_split(const Tensor& self, const Tensor& tensor_indices_or_sections, int64_t dim) {
  const Tensor& given = tensor_indices_or_sections;
  check(given.is_cpu() && given.dim() <= 1, "tensor_split: tensor_indices_or_sections is on ",
        given.device(), " and has ", given.dim(), " dimensions; expected at most 1, on the CPU");
  check<TypeError>(given.dtype() == kLong, "tensor_split: tensor_indices_or_sections has dtype ",
                   given.dtype(), ", expected int64");
  if (given.dim() == 0) return tensor_split(self, given.item<int64_t>(), dim);
  const Tensor indices = raw::contiguous(given);
  return tensor_split(
      self, IntArrayRef(indices.data_ptr<int64_t>(), static_cast<size_t>(indices.numel())), dim);
}

Tensors hsplit(const Tensor& self, int64_t sections) {
  check_rank("hsplit", self, 1);
  return equal_parts("hsplit", self, sections, self.dim() == 1 ? 0 : 1);
}
Tensors hsplit(const Tensor& self, IntArrayRef indices) {
  check_rank("hsplit", self, 1);
  return self.tensor_split(indices, self.dim() == 1 ? 0 : 1);
}
Tensors vsplit(const Tensor& self, int64_t sections) {
  check_rank("vsplit", self, 2);
  return equal_parts("vsplit", self, sections, 0);
}
Tensors vsplit(const Tensor& self, IntArrayRef indices) {
  check_rank("vsplit", self, 2);
  return self.tensor_split(indices, 0);
}
Tensors dsplit(const Tensor& self, int64_t sections) {
  check_rank("dsplit", self, 3);
  return equal_parts("dsplit", self, sections, 2);
}
Tensors dsplit(const Tensor& self, IntArrayRef indices) {
  check_rank("dsplit", self, 3);
  return self.tensor_split(indices, 2);
}

Tensors unbind(const Tensor& self, int64_t dim) {
  const int64_t d = dim_of("unbind", self, dim);
  Dims sizes = self.impl().sizes, strides = self.impl().strides;
  const int64_t count = sizes[d], step = strides[d];
  sizes.erase(d), strides.erase(d);
  Tensors out;
  out.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    out.push_back(raw::as_strided(self, sizes, strides, self.storage_offset() + i * step));
  forbid_changes(out);
  if (recording(self))
    record_lists("UnbindBackward0", out, {self}, [d](Node& n, const Tensors& grads) {
      return Tensors{stack(with_zeros(n, grads), d)};
    });
  return out;
}

}  // namespace gradus
