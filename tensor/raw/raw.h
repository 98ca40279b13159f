// Operations on tensors without an autograd graph: checks, promotion, broadcasting, and one call of
// the backend. autograd/ wraps them into the public functions; a derivative never calls these.
#pragma once

#include <initializer_list>
#include <optional>

#include "gradus/tensor/backend.h"
#include "gradus/tensor/table/contract.h"

namespace gradus::raw {

// --- Making tensors
// Uninitialised. Errors, which name op: ValueError for a negative size or too many elements,
// OutOfMemoryError.
Tensor empty(IntArrayRef sizes, ScalarType dtype, Device device, std::string_view op = "empty");
// The same, with the strides of a memory format. Errors: those of strides_of(), too.
Tensor empty(IntArrayRef sizes, ScalarType dtype, Device device, MemoryFormat format,
             std::string_view op = "empty");
inline Tensor empty_like(const Tensor& x) { return empty(x.sizes(), x.dtype(), x.device()); }
// An uninitialised tensor of x's shape. Its dimensions have the order in memory of those of x, so
// that one run walks both. It is row-major where x repeats elements.
Tensor empty_as(const Tensor& x, ScalarType dtype);
// Row-major over foreign memory.
Tensor over_storage(StoragePtr storage, IntArrayRef sizes, ScalarType dtype);

// Random elements in x, drawn from the generator, or that of the device. Errors: Error where the
// generator is of another kind of device.
void random_(const Tensor& x, Distribution kind, const Scalar& a, const Scalar& b,
             const std::optional<Generator>& generator);
// out = random elements for those of x in row-major order. out has x's shape and dtype, and may be
// x.
void random_map(RandomMap op, double number, PhiloxState state, const Tensor& x, const Tensor& out);
// The state to draw so many elements with.
PhiloxState take(const std::optional<Generator>& generator, Device device, int64_t elements);

// --- Tensors as devices take them (tensor/table/contract.h): raw::taken(contracts::matmul::a, x)
using contracts::Parameter, contracts::Strides;
// The dtype that x's device takes for this parameter: that of x, or the one that this is computed
// in.
inline ScalarType taken_type(Parameter p, const Tensor& x) {
  const ScalarType dtype = x.scalar_type();
  return contracts::takes_dtype(p, x.device().type(), dtype) ? dtype : computed_type(dtype);
}
// Whether x has such strides.
bool lies(Strides how, const Tensor& x);
// Whether x's device takes x as it is.
inline bool takes(Parameter p, const Tensor& x) {
  return taken_type(p, x) == x.dtype() && lies(contracts::strides_of(p, x.device().type()), x);
}
// x as its device takes it: converted, and row-major, where it has to be. An undefined x stays so.
Tensor taken(Parameter p, const Tensor& x);
// An uninitialised result like x, (rows, columns). Large rows are apart where the device likes
// that.
Tensor empty_rows(Parameter p, const Tensor& x);
// The flags of x's device.
inline const contracts::Beside& takes_beside(Function f, const Tensor& x) {
  return contracts::of(f).beside(x.device().type());
}

// --- Views: the same storage, another geometry
// REQUIRES: the geometry lies within the storage. `offset` counts from the start of the storage.
Tensor as_strided(const Tensor& x, const Dims& sizes, const Dims& strides, int64_t offset);
// A new handle to the same memory and geometry, without a graph.
Tensor alias(const Tensor& x);
// REQUIRES: the geometry lies within the storage.
Tensor alias(const Tensor& x, const Dims& sizes, const Dims& strides);
// Nothing where the memory does not allow it. Errors: those of infer_size, which name op.
std::optional<Tensor> try_view(const Tensor& x, IntArrayRef shape, std::string_view op = "view");
Tensor permute(const Tensor& x, IntArrayRef dims);
Tensor transpose(const Tensor& x, int64_t dim0, int64_t dim1);
Tensor unsqueeze(const Tensor& x, int64_t dim);
// x with at least one dimension, as backends need it.
inline Tensor lifted(const Tensor& x) { return x.dim() == 0 ? raw::unsqueeze(x, 0) : x; }
Tensor expand(const Tensor& x, IntArrayRef sizes);
Tensor narrow(const Tensor& x, int64_t dim, int64_t start, int64_t length);
// The bytes as elements of another type; the last dimension shrinks or grows with its size.
Tensor view(const Tensor& x, ScalarType dtype);
// Complex numbers as pairs along a new last dimension, and the converse. REQUIRES: x is complex.
Tensor view_as_real(const Tensor& x);
// Errors: TypeError where x is no Float or Double, ValueError where its memory holds no such pairs.
Tensor view_as_complex(const Tensor& x);
// The real (0) or the imaginary (1) parts. REQUIRES: x is complex.
Tensor part_of(const Tensor& x, int64_t part);

// --- Copies
// Broadcasts src and converts its dtype; any devices.
void copy_(const Tensor& dst, const Tensor& src, bool non_blocking = false);
Tensor clone(const Tensor& x);       // row-major
Tensor contiguous(const Tensor& x);  // x itself where it is contiguous already
Tensor contiguous(const Tensor& x, MemoryFormat format);
Tensor to(const Tensor& x, ScalarType dtype);  // as empty_as; x itself where nothing changes
Tensor to(Tensor&& x, ScalarType dtype);       // moves x where nothing changes
// Keeps the order of x's dimensions in memory where its elements lie without gaps.
Tensor to(const Tensor& x, Device device, bool non_blocking = false);
// Errors: ValueError that names op, where an element cannot hold the value.
void check_fits(std::string_view op, const Scalar& value, ScalarType dtype);
void fill_(const Tensor& x, const Scalar& value);  // Errors: as check_fits
// The tensors one after the other along dim, of the dtype that they promote to.
Tensor cat(ArrayRef<Tensor> tensors, int64_t dim);
Tensor flip(const Tensor& x, IntArrayRef dims);
Scalar item(const Tensor& x);

// --- Pointwise
// PyTorch's result type of an operation on all of them.
ScalarType result_type(std::initializer_list<Operand> operands);
inline ScalarType result_type(const Operand& x, const Operand& y) { return result_type({x, y}); }
Tensor map(UnaryOp op, const Tensor& x);
// sums: undefined, or Float, one for each element of the last dimension: the sums of the result's
// columns.
Tensor map_grad(UnaryOp op, const Tensor& grad, const Tensor& x, const Tensor& y,
                const Tensor& sums = {});
// Whether map_grad() adds up columns of half types as it computes them: for activations, which
// follow layers with a bias.
constexpr bool sums_beside(UnaryOp op) {
  return op == UnaryOp::relu || op == UnaryOp::gelu || op == UnaryOp::silu;
}
Tensor zip(BinaryOp op, const Operand& x, const Operand& y);
// y and z broadcast to x, or it to them. Tensors enter in the dtype that all promote to, numbers in
// the one that is computed with. REQUIRES: z is a number where y is one. Errors: TypeError where
// the row is not computed in that dtype, ValueError for the shapes.
Tensor ternary(TernaryOp op, const Tensor& x, const Operand& y, const Operand& z,
               const Scalar& w = 1);
// The result goes into x, which keeps its shape and dtype. Errors: ValueError, TypeError where it
// cannot.
void map_(UnaryOp op, const Tensor& x);
void zip_(BinaryOp op, const Tensor& x, const Operand& y);
void ternary_(TernaryOp op, const Tensor& x, const Operand& y, const Operand& z,
              const Scalar& w = 1);
// Whether the result is in `out` now. Returns false, and does nothing, where `out` has another
// shape, dtype or device, or overlaps an operand otherwise than element on element.
bool map_into(UnaryOp op, const Tensor& x, const Tensor& out);
bool zip_into(BinaryOp op, const Operand& x, const Operand& y, const Tensor& out);

// --- Reductions
// Reduced dimensions keep size 1. All dimensions are reduced where no dims are given. x is
// converted to `dtype` first.
Tensor reduce(ReduceOp op, const Tensor& x, OptionalIntArrayRef dims,
              std::optional<ScalarType> dtype = std::nullopt);
// The sum of squared differences from the mean, divided by divisor. root: the square root of that.
// NaN where there are no elements. The result has x's dtype, a floating point type (REQUIRES).
// dims: as for reduce.
Tensor variance(bool root, double divisor, const Tensor& x, OptionalIntArrayRef dims);
// Check that there are elements to choose from: along a dimension, or in all of x.
// Errors: IndexError that names op.
void check_reducible(const char* op, const Tensor& x, int64_t dim);
void check_reducible(const char* op, const Tensor& x);
struct ValuesAndIndices {
  Tensor values, indices;
};
ValuesAndIndices arg_reduce(const char* name, bool largest, const Tensor& x, int64_t dim);
// The sum of |x|^p to the power 1 / p, over dims as in reduce; p is neither 0 nor infinite.
Tensor norm(double p, const Tensor& x, OptionalIntArrayRef dims);
// The smallest and the largest of all elements: (2), of x's dtype. REQUIRES: there are some.
Tensor aminmax(const Tensor& x);

// The mean of (x - y)^2, of shape (), in float32 or float64.
// REQUIRES: x and y have one shape, device and dtype, and some elements.
Tensor mean_square(const Tensor& x, const Tensor& y);
// The gradient of x, given that of the mean.
Tensor mean_square_grad(const Tensor& grad, const Tensor& x, const Tensor& y);

// --- Softmax along one dimension
// e^x / sum(e^x), or its logarithm, about the largest element; row-major.
// Errors: IndexError for dim, TypeError where x is not of a floating type.
Tensor softmax(bool log, const Tensor& x, int64_t dim);
// The gradient of x, given that of y = softmax(log, x, dim), of y's shape and dtype; row-major.
// REQUIRES: 0 <= dim.
Tensor softmax_grad(bool log, const Tensor& grad, const Tensor& y, int64_t dim);

// The table (4, N) of Backend::cross_entropy: the losses of rows of x (N, C) against their targets,
// and what the gradient needs; and the mean, where one is asked for.
// REQUIRES: as there, but x may have any strides.
std::pair<Tensor, Tensor> cross_entropy(const CrossEntropyRule& rule, const Tensor& x,
                                        const Tensor& target, const Tensor& weight, bool mean);
Tensor cross_entropy_grad(const CrossEntropyRule& rule, const Tensor& grad, const Tensor& x,
                          const Tensor& target, const Tensor& rows);

// --- Normalisations (tensor/base/normalized_rows.h), in float32 or float64
// (x - mean) * rstd * weight + bias, of x's shape. Where rows have statistics of their own, mean
// and rstd are outputs. low: undefined, or of x's shape and a half type; it becomes the result in
// that type. REQUIRES: x has as many elements as rows and some; weight and bias may be undefined;
// x is of Float, and rows have statistics of their own, where low is defined.
Tensor normalize(const NormalizedRows& rows, double eps, const Tensor& x, const Tensor& weight,
                 const Tensor& bias, Tensor& mean, Tensor& rstd, const Tensor& low = {});
// The gradients of weight and bias (2, groups * weights).
Tensor normalize_sums(const NormalizedRows& rows, const Tensor& grad, const Tensor& x,
                      const Tensor& mean, const Tensor& rstd);
// The gradient of x; `sums` where rows share statistics.
Tensor normalize_grad(const NormalizedRows& rows, const Tensor& grad, const Tensor& x,
                      const Tensor& mean, const Tensor& rstd, const Tensor& weight,
                      const Tensor& sums);
// Both at once, the sums as two tensors (groups * weights). other: undefined, or of x's shape and
// dtype; it is added to the gradient of x. low: undefined, or of x's shape and a half type; it
// becomes that sum in its type. low_sums: undefined, or (length), Float, where low is defined: the
// sums of its columns.
struct NormalizeGrads {
  Tensor x, weight, bias;
};
NormalizeGrads normalize_grads(const NormalizedRows& rows, const Tensor& grad, const Tensor& x,
                               const Tensor& mean, const Tensor& rstd, const Tensor& weight,
                               const Tensor& other = {}, const Tensor& low = {},
                               const Tensor& low_sums = {});
// The statistics of the elements that share them: mean, and rstd = 1 / sqrt(variance + eps).
// running_mean and running_var move by `momentum` towards the mean and the unbiased variance; count
// becomes one more. Each of these three may be undefined.
struct Statistics {
  Tensor mean, rstd;
  double eps = kNoEps;  // another one: rstd is the variance
};
Statistics batch_statistics(const NormalizedRows& rows, double eps, double momentum,
                            const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
                            const Tensor& count);
// normalize by these, and what follows. identity: where it is added, like x. dtype: x's by default;
// where rows are in groups, it may be Float.
Tensor batch_normalize(const NormalizedRows& rows, AfterNorm after, const Tensor& x,
                       const Tensor& identity, const Tensor& weight, const Tensor& bias,
                       const Statistics& of, std::optional<ScalarType> dtype = std::nullopt);
// y is what batch_normalize made, and read where it is clamped. x is undefined unless it is wanted,
// identity unless it is clamped with a sum: else its gradient is that of y.
struct BatchGrads {
  Tensor x, weight, bias, identity;
};
BatchGrads batch_normalize_grads(const NormalizedRows& rows, AfterNorm after, const Tensor& grad,
                                 const Tensor& x, const Tensor& y, const Tensor& weight,
                                 const Tensor& bias, const Statistics& of, bool wants_x);

// --- Order along one dimension
// cumsum, cumprod, logcumsumexp. `dtype`: converted to first; without it sums and products of
// integers and bools count in int64.
// Errors: TypeError for a result of bool, and for logcumsumexp of integers.
Tensor scan(ScanOp op, const Tensor& x, int64_t dim, std::optional<ScalarType> dtype = {});
// cummax, cummin: of equal elements the last index.
ValuesAndIndices arg_scan(bool largest, const Tensor& x, int64_t dim);
// Stable, also where it is descending. NaN is greater than every number.
ValuesAndIndices sort(const Tensor& x, int64_t dim, bool descending);
// `count` of sort's results from `first` on; row-major. REQUIRES: 0 <= first, 0 <= count, there are
// so many.
ValuesAndIndices select(const char* op, const Tensor& x, int64_t dim, bool descending,
                        int64_t first, int64_t count);
// The middle element of the ascending order, the lower one of two, with size 1 in dim. ignores_nan:
// the median of the numbers alone. Otherwise the first NaN is the median where there is one.
// REQUIRES: x is not empty along dim.
ValuesAndIndices median(const char* op, const Tensor& x, int64_t dim, bool ignores_nan);
// The element that occurs most often, and its last index, with size 1 in dim. The smallest of
// several such elements is taken. REQUIRES: x is not empty along dim.
ValuesAndIndices mode(const Tensor& x, int64_t dim);
// How many elements of the list are less than each value, or, with right, not greater. The result
// has the shape of values.
// REQUIRES: both are on one device. The list is ascending along its last dimension. It has one
// dimension, or the sizes of values in all dimensions but the last.
Tensor searchsorted(const Tensor& list, const Tensor& values, bool right);
// How many elements are not 0: int64, without dimensions.
Tensor count_nonzero(const Tensor& x);
// The row-major indices (found) and the coordinates (found, dim) of the elements that are not 0; as
// in PyTorch, each coordinate lies contiguous in memory. Both wait for the device.
Tensor flat_nonzero(const Tensor& x);
Tensor nonzero(const Tensor& x);

// --- Products
// The names of a product and its factors in errors: those of the function that the user called.
struct ProductNames {
  const char *op = "matmul", *first = "self", *second = "other";
};
// torch.matmul: 1-D, 2-D and batched operands with broadcast batch dimensions.
Tensor matmul(const Tensor& a, const Tensor& b, const ProductNames& names = {});
// Errors: those of matmul, except for batch dimensions that do not broadcast.
void check_factors(const ProductNames& names, const Tensor& a, const Tensor& b);
// Errors: ValueError where a factor has another number of dimensions, and for batches of different
// sizes.
void check_ranks(const ProductNames& names, const Tensor& a, int64_t a_rank, const Tensor& b,
                 int64_t b_rank);
// out = a b; where sums is defined, it becomes the sums of a's rows. REQUIRES: matrices that fit,
// on one device and of one dtype: Float, Double, or Long without sums. out and sums are contiguous.
void matmul_into(const Tensor& a, const Tensor& b, const Tensor& out, const Tensor& sums = {});
// x W^T + bias over the last dimension of x; bias may be undefined.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias);

// --- Convolutions and pools (tensor/base/windows.h)
// One pass of the convolution, made of the other two tensors. The output or its gradient comes
// first. Rounded once, to dtype (default: that of a), which for the gradient of a weight may be
// Float where a is of a half type. bias (filters) is added to the output; a tensor of the shape of
// the input to its gradient, in which a GPU may round both summands first. The result may share
// memory with that tensor, and replaces what it had.
// REQUIRES: shapes as `shape` says. Errors, which name op: Error for devices, TypeError for dtypes
// that differ or are not of floating point.
Tensor convolution(const char* op, ConvolutionPass part, const Convolution& shape, const Tensor& a,
                   const Tensor& b, const Tensor& bias = {},
                   std::optional<ScalarType> dtype = std::nullopt);
// The gradient of the weight, in the dtype of sums. sums is contiguous, and becomes the gradient of
// the bias. REQUIRES: as above; Float or Double, on a GPU half types, too.
Tensor convolution_sums(const char* op, const Convolution& shape, const Tensor& grad,
                        const Tensor& input, const Tensor& sums);
// x of shape (planes..., in...), of which the last `spatial` dimensions are those of the pool; the
// results have those of its output. Errors, which name op: TypeError for dtypes.
// in_planes: indices are Long. quickest: some devices give Byte, the places in windows.
enum class Places : uint8_t { in_planes, quickest };
ValuesAndIndices max_pool(const char* op, const Pool& pool, int spatial, const Tensor& x,
                          Places places = Places::in_planes);
Tensor max_pool_grad(const Pool& pool, const Tensor& grad, const Tensor& indices,
                     IntArrayRef sizes);
Tensor average_pool(const char* op, const Pool& pool, int spatial, const Tensor& x);
Tensor average_pool_grad(const Pool& pool, int spatial, const Tensor& grad);

// --- Indexing
// torch.gather; `op` is named in errors: as backend.h says, and for shapes that do not fit.
Tensor gather(const Tensor& x, int64_t dim, const Tensor& index, const char* op = "gather");
// torch.scatter into x. src is a tensor of x's dtype, of which the part under the index counts, or
// a number to be set.
void scatter_(const char* name, ScatterOp op, const Tensor& x, int64_t dim, const Tensor& index,
              const Operand& src);
// x where condition (bool or uint8) is not 0, else y; broadcast and promoted.
Tensor where(const Tensor& condition, const Operand& x, const Operand& y);
// x above or below a diagonal of its last two dimensions, else 0; row-major.
// Errors: ValueError, which names op, for fewer dimensions.
Tensor triangle(const char* op, bool upper, int64_t diagonal, const Tensor& x);
// REQUIRES: mask (bool or uint8) and value broadcast to x's shape. Here, in where and in index_put_
// a number may be a tensor of the CPU without dimensions.
void masked_fill_(const Tensor& x, const Tensor& mask, const Tensor& value);

// Indexing by a list of tensors, of which an undefined one stands for a whole dimension, as those
// after the last do. index_list makes an int64 index of each (of a mask one for each dimension)
// and brings them to one shape and to x's device.
// Errors: IndexError for a mask of another shape than x, for too many indices, for another kind of
// tensor, and for shapes that do not broadcast.
Tensors index_list(const char* op, const Tensor& x, ArrayRef<Tensor> indices);
// `list` is index_list's; so `rule` may be of the backend. The dimensions of the indices stand
// where the indexed ones were where those are neighbours, else in front.
Tensor index(const char* op, const Tensor& x, const Tensors& list);
// x[mask], where mask has x's leading dimensions. No list of places is made. Errors: those of
// index_list for a mask.
Tensor masked_select(const char* op, const Tensor& x, const Tensor& mask);
void index_put_(const char* op, const Tensor& x, const Tensors& list, const Tensor& values,
                bool accumulate);
// torch.masked_scatter into x. REQUIRES: mask (bool or uint8) broadcasts to x's shape, and source
// has x's dtype. Errors: ValueError where source has too few elements.
void masked_scatter_(const Tensor& x, const Tensor& mask, const Tensor& source);

// Gather and scatter without checks. REQUIRES: geometry and dtypes as backend.h says, at least one
// dimension. `out` may have any dtype.
void gather_into(const IndexRule& rule, const Tensor& x, int64_t dim, const Tensor& index,
                 const Tensor& out);
void scatter_into(ScatterOp op, const IndexRule& rule, int64_t dim, const Tensor& index,
                  const Operand& src, const Tensor& out);
// x, or a copy of it where it lies in the memory of a tensor that is about to be changed.
Tensor apart(const Tensor& x, const Tensor& changed);

// Errors: Error that names op and both devices.
void check_same_device(const char* op, const Tensor& a, const char* a_name, const Tensor& b,
                       const char* b_name);
// The sizes of x, with 1 in the dimensions of the mask.
Dims kept_sizes(const Tensor& x, const std::array<bool, kMaxDims>& mask);
// Errors: Error where x is undefined, TypeError where its dtype is no floating point type.
void check_floating(const char* op, const Tensor& x);
// Errors: Error where x is undefined, TypeError where it is of bool.
void check_number(const char* op, const Tensor& x);
// Errors: Error where x is undefined, TypeError where it is complex.
void check_ordered(const char* op, const Tensor& x);

}  // namespace gradus::raw
