// Shapes and strides: broadcasting, contiguity, wrapped dimensions, and the strides of a view.
#include "gradus/tensor/shape.h"

#include <algorithm>
#include <ostream>

namespace gradus {

void Dims::insert(int64_t position, int64_t value) {
  resize(size() + 1);
  for (int64_t i = size_ - 1; i > position; --i) data_[i] = data_[i - 1];
  data_[position] = value;
}

void Dims::erase(int64_t position) {
  for (int64_t i = position; i + 1 < size_; ++i) data_[i] = data_[i + 1];
  --size_;
}

std::ostream& operator<<(std::ostream& out, IntArrayRef list) {
  std::string text;
  append(text, list);
  return out << text;
}

void append(std::string& out, IntArrayRef list) {
  out += '[';
  for (size_t i = 0; i < list.size(); ++i) {
    if (i) out += ", ";
    out += std::to_string(list[i]);
  }
  out += ']';
}

int64_t checked_numel(std::string_view op, IntArrayRef sizes) {
  int64_t product = 1;
  bool overflow = false;
  for (int64_t size : sizes) {
    check(size >= 0, op, ": Trying to create tensor with negative dimension ", size, ": ", sizes,
          "; sizes are zero or more");
    overflow |= __builtin_mul_overflow(product, size, &product);
  }
  // A zero anywhere makes the tensor empty, however large the rest.
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return 0;
  check(!overflow, op, ": shape ", sizes,
        " has more elements than an int64 counts; make it smaller");
  return product;
}

namespace {
// Modulo 2^64: of an empty tensor the other sizes may be as large as they like.
int64_t product_of(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
}  // namespace

int64_t numel_of(IntArrayRef sizes) {
  int64_t product = 1;
  for (int64_t size : sizes) product = product_of(product, size);
  return product;
}

Dims contiguous_strides(IntArrayRef sizes) {
  Dims strides;
  strides.resize(sizes.size());
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride = product_of(stride, std::max<int64_t>(sizes[i], 1));
  }
  return strides;
}

bool is_dense(IntArrayRef sizes, IntArrayRef strides) {
  if (is_contiguous(sizes, strides)) return true;
  std::array<std::pair<int64_t, int64_t>, kMaxDims> dims;  // stride and size of each above 1
  size_t count = 0;
  for (size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d] > 1) dims[count++] = {strides[d], sizes[d]};
  std::sort(dims.begin(), dims.begin() + count);
  int64_t expected = 1;
  for (size_t i = 0; i < count; ++i) {
    if (dims[i].first != expected) return false;
    expected *= dims[i].second;
  }
  return true;
}

bool is_contiguous(IntArrayRef sizes, IntArrayRef strides) {
  int64_t expected = 1;
  bool matches = true;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 0) return true;
    if (sizes[i] == 1) continue;
    matches &= strides[i] == expected;
    expected = product_of(expected, sizes[i]);
  }
  return matches;
}

bool broadcasts_to(IntArrayRef sizes, IntArrayRef target) {
  if (sizes.size() > target.size()) return false;
  const size_t lead = target.size() - sizes.size();
  for (size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] != 1 && sizes[i] != target[lead + i]) return false;
  return true;
}

int64_t wrap_dim(std::string_view op, int64_t dim, int64_t rank) {
  const int64_t range = std::max<int64_t>(rank, 1);
  check<IndexError>(dim >= -range && dim < range, op,
                    ": Dimension out of range (expected to be in range of [", -range, ", ",
                    range - 1, "], but got ", dim,
                    "); dimensions count from 0, and from -1 at the end");
  return dim < 0 ? dim + range : dim;
}

int64_t sized_dim(std::string_view op, int64_t dim, int64_t rank) {
  check<IndexError>(rank > 0, op, ": Dimension specified as ", dim,
                    " but tensor has no dimensions; use unsqueeze(0)");
  return wrap_dim(op, dim, rank);
}

std::array<bool, kMaxDims> dim_mask(std::string_view op, OptionalIntArrayRef dims, int64_t rank) {
  std::array<bool, kMaxDims> mask{};
  if (!dims.has_value() || dims.value().empty()) {
    mask.fill(true);
    return mask;
  }
  for (int64_t listed : dims.value()) {
    const int64_t dim = wrap_dim(op, listed, rank);
    check(!mask[static_cast<size_t>(dim)], op, ": dim ", dim,
          " appears multiple times in the list of dims ", dims.value(), "; list it once");
    mask[static_cast<size_t>(dim)] = true;
  }
  return mask;
}

Dims broadcast_shapes(std::string_view op, IntArrayRef a, IntArrayRef b) {
  const size_t rank = std::max(a.size(), b.size());
  Dims out;
  out.resize(rank);
  for (size_t i = 0; i < rank; ++i) {  // i counts from the last dimension
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    check(x == y || x == 1 || y == 1, op, ": The size of tensor a (", x,
          ") must match the size of tensor b (", y, ") at non-singleton dimension ", rank - 1 - i,
          ": shapes ", a, " and ", b, "; reshape or unsqueeze one of them");
    out[rank - 1 - i] = x == 1 ? y : x;
  }
  return out;
}

Dims broadcast_strides(std::string_view op, IntArrayRef sizes, IntArrayRef strides,
                       IntArrayRef target) {
  check(sizes.size() <= target.size(), op, ": the number of sizes provided (", target.size(),
        ") must be greater or equal to the number of dimensions in the tensor (", sizes.size(),
        "): ", target, " for shape ", sizes, "; give a size for each dimension");
  Dims out = Dims::filled(static_cast<int64_t>(target.size()), 0);
  const size_t lead = target.size() - sizes.size();
  for (size_t i = 0; i < sizes.size(); ++i) {
    const int64_t want = target[lead + i];
    check(sizes[i] == want || sizes[i] == 1, op, ": The expanded size of the tensor (", want,
          ") must match the existing size (", sizes[i], ") at non-singleton dimension ", lead + i,
          ". Target sizes: ", target, ". Tensor sizes: ", sizes,
          "; only a size of 1 expands, use repeat() for others");
    out[lead + i] = sizes[i] == want ? strides[i] : 0;
  }
  return out;
}

void check_output_shape(const char* op, const char* form, IntArrayRef output, IntArrayRef result) {
  check(output == result, op, form, ": output with shape ", output,
        " doesn't match the broadcast shape ", result, "; use the form that returns a new tensor");
}

Dims infer_size(std::string_view op, IntArrayRef shape, int64_t numel) {
  Dims out(shape.data(), shape.size());
  int64_t known = 1, unknown = -1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == -1) {
      check(unknown < 0, op, ": only one dimension can be inferred, and shape ", shape,
            " has two sizes of -1; give one of them");
      unknown = static_cast<int64_t>(i);
    } else {
      check(shape[i] >= 0, op, ": invalid shape dimension ", shape[i], " in ", shape,
            "; sizes are zero or more, or one -1");
      check(!__builtin_mul_overflow(known, shape[i], &known), op, ": shape ", shape,
            " has more elements than an int64 counts");
    }
  }
  check(unknown < 0 || known != 0, op, ": shape ", shape,
        " cannot infer its -1 beside a size of 0; give it");
  check(unknown < 0 ? known == numel : numel % known == 0, op, ": shape '", shape,
        "' is invalid for input of size ", numel, "; expected the same number of elements");
  if (unknown >= 0) out[unknown] = numel / known;
  return out;
}

std::optional<Dims> view_strides(IntArrayRef sizes, IntArrayRef strides, IntArrayRef shape) {
  if (numel_of(sizes) == 0) return contiguous_strides(shape);
  Dims out = Dims::filled(static_cast<int64_t>(shape.size()), 0);
  // Walk both shapes from the back. A run of old dimensions that lies evenly in memory may be cut
  // into new dimensions in any way.
  int64_t next = static_cast<int64_t>(shape.size()) - 1;
  int64_t run = 1;                                      // elements of the run so far
  int64_t base = strides.empty() ? 1 : strides.back();  // stride of the run's last dimension
  int64_t placed = 1;                                   // elements placed in new dimensions
  for (size_t i = sizes.size(); i-- > 0;) {
    run *= sizes[i];
    const bool ends = i == 0 || (sizes[i - 1] != 1 && strides[i - 1] != run * base);
    if (!ends) continue;
    while (next >= 0 && (placed < run || shape[next] == 1)) {
      out[next] = placed * base;
      placed *= shape[next--];
    }
    if (placed != run) return std::nullopt;
    if (i > 0) base = strides[i - 1], run = 1, placed = 1;
  }
  for (; next >= 0; --next) out[next] = 1;  // only sizes of 1 are left
  return out;
}

}  // namespace gradus
