// Indexing by a list of tensors becomes one gather or scatter along one dimension.
#include "gradus/tensor/raw/operand.h"
#include "gradus/tensor/raw/scatter_touched.h"

namespace gradus {

namespace raw {

namespace {

void check_count(const char* op, const Tensor& x, int64_t count) {
  check<IndexError>(count <= x.dim(), op, ": too many indices for tensor of dimension ", x.dim(),
                    ": ", count, "; give one for each dimension at most");
}

// A mask stands at dimension `at` of x.
void check_mask(const char* op, const Tensor& x, const Tensor& mask, int64_t at) {
  check_count(op, x, at + mask.dim());
  for (int64_t d = 0; d < mask.dim(); ++d)
    check<IndexError>(mask.sizes()[d] == x.sizes()[at + d], op, ": The shape of the mask ",
                      mask.sizes(), " at index ", d,
                      " does not match the shape of the indexed tensor ", x.sizes(), " at index ",
                      at + d, "; compute the mask from this tensor");
}

// The places of a mask's elements, one int64 index for each of its dimensions.
Tensors places(const char* op, const Tensor& x, const Tensor& mask, int64_t at) {
  check_mask(op, x, mask, at);
  const Tensor rows = raw::nonzero(mask);
  Tensors out;
  for (int64_t d = 0; d < mask.dim(); ++d)
    out.push_back(as_strided(rows, {rows.sizes()[0]}, {rows.strides()[0]},
                             rows.storage_offset() + d * rows.strides()[1]));
  return out;
}

// The shape that all indices broadcast to.
Dims shape_of(const char* op, const Tensors& list) {
  Dims shape;
  try {
    for (const Tensor& one : list)
      if (one.defined()) shape = broadcast_shapes(op, shape, one.sizes());
  } catch (const ValueError&) {
    std::string shapes;
    for (const Tensor& one : list)
      if (one.defined()) append(shapes += shapes.empty() ? "" : ", ", one.sizes());
    fail<IndexError>(op, ": shape mismatch: indexing tensors could not be broadcast together with ",
                     "shapes ", shapes, "; give them one shape, or sizes of 1");
  }
  return shape;
}

// The tensor and the index with the indexed dimensions laid together into one, and what comes out.
struct Folded {
  Tensor x;      // before..., 1, after...: the one is indexed
  int64_t dim;   // which it is
  Tensor index;  // of shape 1..., n, 1..., broadcast over the others
  IndexRule rule;
  Dims result;  // before..., shape of the indices..., after...
  Dims flat;    // before..., n, after...
};

Folded fold(const char* op, const Tensor& x, const Tensors& list) {
  const auto is_indexed = [&](int64_t d) {
    return d < static_cast<int64_t>(list.size()) && list[static_cast<size_t>(d)].defined();
  };
  int64_t first = -1, last = -1, count = 0;
  for (int64_t d = 0; d < x.dim(); ++d)
    if (is_indexed(d)) first = count++ ? first : d, last = d;
  const Dims shape = list[static_cast<size_t>(first)].impl().sizes;
  const bool together = last - first + 1 == count;

  Folded out;
  out.dim = together ? first : 0;
  Dims sizes, strides;
  const auto append_indexed = [&] {
    for (int64_t size : shape) out.result.push_back(size);
    sizes.push_back(1), strides.push_back(1), out.flat.push_back(numel_of(shape));
  };
  if (!together) append_indexed();
  for (int64_t d = 0; d < x.dim(); ++d) {
    if (together && d == first) append_indexed();
    if (is_indexed(d)) continue;
    sizes.push_back(x.sizes()[d]), strides.push_back(x.strides()[d]);
    out.result.push_back(x.sizes()[d]), out.flat.push_back(x.sizes()[d]);
  }

  Tensor index;
  if (count == 1) {
    out.rule = {op, first, x.sizes()[first], true};
    strides[out.dim] = x.strides()[first];
    index = list[static_cast<size_t>(first)];
    if (index.dim() != 1) index = raw::contiguous(index);
  } else {
    // An offset in memory for each place, so that no layout of x needs a copy.
    index = empty(shape, kLong, x.device());
    raw::fill_(index, 0);
    int64_t extent = 1;
    for (int64_t d = first; d <= last; ++d) {
      if (!is_indexed(d)) continue;
      extent += (x.sizes()[d] - 1) * x.strides()[d];
      if (index.numel() > 0)
        backend(x).add_offsets({op, d, x.sizes()[d], true}, x.strides()[d],
                               list[static_cast<size_t>(d)], index);
    }
    out.rule = {op, first, extent};
  }
  sizes[out.dim] = out.rule.size;
  out.x = as_strided(x, sizes, strides, x.storage_offset());
  Dims steps = Dims::filled(static_cast<int64_t>(sizes.size()), 0);
  steps[out.dim] = index.dim() == 1 ? index.strides()[0] : 1;
  out.index = as_strided(index, out.flat, steps, index.storage_offset());
  return out;
}

}  // namespace

Tensors index_list(const char* op, const Tensor& x, ArrayRef<Tensor> indices) {
  Tensors out;
  for (const Tensor& given : indices) {
    if (!given.defined()) {
      out.emplace_back();
      continue;
    }
    const ScalarType dtype = given.dtype();
    check<IndexError>(dtype == kLong || dtype == kInt || dtype == kByte || dtype == kBool, op,
                      ": tensors used as indices must be long, int, byte or bool tensors, not ",
                      dtype);
    const bool is_mask = dtype == kBool || dtype == kByte;
    for (const Tensor& one : is_mask ? places(op, x, given, static_cast<int64_t>(out.size()))
                                     : Tensors{to(given, kLong)}) {
      const Tensor here = one.is_cpu() ? to(one, x.device()) : one;
      check_same_device(op, x, "self", here, "an index");
      out.push_back(here);
    }
  }
  check_count(op, x, static_cast<int64_t>(out.size()));
  const Dims shape = shape_of(op, out);
  for (Tensor& one : out)
    if (one.defined()) one = raw::expand(one, shape);
  return out;
}

Tensor index(const char* op, const Tensor& x, const Tensors& list) {
  const Folded folded = fold(op, x, list);
  Tensor out = empty(folded.result, x.dtype(), x.device());
  gather_into(folded.rule, folded.x, folded.dim, folded.index,
              as_strided(out, folded.flat, contiguous_strides(folded.flat), 0));
  return out;
}

Tensor masked_select(const char* op, const Tensor& x, const Tensor& mask) {
  check_mask(op, x, mask, 0);
  const Tensor here = to(mask.is_cpu() ? to(mask, x.device()) : mask, kBool);
  check_same_device(op, x, "self", here, "an index");
  if (mask.numel() > 0) return backend(x).masked_select(x, here);
  Dims sizes = {0};
  for (int64_t d = mask.dim(); d < x.dim(); ++d) sizes.push_back(x.sizes()[d]);
  return empty(sizes, x.dtype(), x.device());
}

void index_put_(const char* op, const Tensor& x, const Tensors& list, const Tensor& values,
                bool accumulate) {
  const ScalarType compute = computed_type(x.dtype());
  const Folded folded = fold(op, x, list);
  // Summed in the type of numbers, and rounded once.
  if (accumulate && compute != x.dtype() && !touches_few(x, folded.result)) {
    const Tensor wide = to(x, compute);
    raw::index_put_(op, wide, list, to(values, compute), true);
    return raw::copy_(x, to(wide, x.dtype()));
  }
  check(broadcasts_to(values.sizes(), folded.result), op,
        ": shape mismatch: value tensor of shape ", values.sizes(),
        " cannot be broadcast to indexing result of shape ", folded.result);
  const Operand number = number_beside(values, x);
  if (!number.is_number()) check_same_device(op, x, "self", values, "values");
  if (number.is_number() && !accumulate)
    return scatter_into(ScatterOp::set, folded.rule, folded.dim, apart(folded.index, x),
                        as_element(number.number, x.dtype()), folded.x);
  Tensor src = raw::expand(number.is_number() ? to(values, x.device()) : values, folded.result);
  if (auto flat = try_view(src, folded.flat))
    src = *flat;
  else
    src = *try_view(raw::clone(src), folded.flat);
  scatter_into(accumulate ? ScatterOp::sum : ScatterOp::set, folded.rule, folded.dim,
               apart(folded.index, x), apart(src, x), folded.x);
}

}  // namespace raw
}  // namespace gradus
