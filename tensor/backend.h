// What a device must be able to do: Backend has one virtual function for each kind of work that
// operations give to a device. A function that is not pure has a default made of the others
// (backend.cpp, backend_sequences.cpp); a device may override it with a faster one.
//
// Contract of every function. `out` is allocated, on this backend's device, of the final shape and
// dtype; operands are on that device too and of the dtype that `out` says they are, which the caller
// (tensor/raw/*.cpp) has checked. Operands may have any strides, zero among them; `out` may be a view
// but never overlaps itself, and overlaps an operand only where it is that operand exactly. Work on
// a GPU is queued on the current stream.
#pragma once

#include <functional>
#include <optional>

#include "gradus/tensor/base/index_rule.h"
#include "gradus/tensor/base/normalized_rows.h"
#include "gradus/tensor/base/windows.h"
#include "gradus/tensor/table/ops.h"
#include "gradus/tensor/table/optimizers.h"
#include "gradus/tensor/tensor.h"

namespace gradus {

namespace fused { struct Kernel; }

// An operand of zip and zip3: a tensor, or a number for all elements.
struct Operand {
  Operand(const Tensor& x) : tensor(&x) {}  // NOLINT: implicit
  Operand(const Scalar& x) : number(x) {}   // NOLINT: implicit
  bool is_number() const { return tensor == nullptr; }

  const Tensor* tensor = nullptr;
  Scalar number;
};

// One parameter in a step of an optimizer.
struct UpdatedParameter {
  Tensor parameter, gradient;
  std::array<Tensor, kMostStates> states;  // those that the step keeps come first
  unsigned fresh = 0;                      // bit i: states[i] is uninitialised, and counts as 0
  CoefficientList coefficients;
  // Both or neither, one Double each: not 0, and nothing changes; how many steps were passed over.
  Tensor skip, skipped;
};

// How queries attend to keys: softmax(scale q k^T + mask) v.
struct Attention {
  double scale;
  bool causal = false;    // query i sees the keys up to i
  double dropout = 0;  // the probability of a weight to become 0; the others are divided by 1 - it
  PhiloxState state = {};  // draws for the weights, row-major in (batch, heads, queries, keys)
};

class Backend {
 public:
  virtual ~Backend() = default;

  // --- Memory
  // Uninitialised memory. Errors: OutOfMemoryError.
  virtual StoragePtr allocate(size_t nbytes, Device device) = 0;
  // The device with its index filled in. Errors: Error where there is no such device.
  virtual Device resolve(Device device) = 0;

  // --- Filling and copying
  virtual void fill(const Tensor& out, const Scalar& value) = 0;
  // out[i] = start + i * step; out is contiguous, 1-D.
  virtual void arange(const Tensor& out, const Scalar& start, const Scalar& step) = 0;
  // Evenly spaced numbers, or `base` to them, rounded once. out is contiguous, 1-D, not Bool or empty.
  virtual void linspace(double first, double last, std::optional<double> base, const Tensor& out);
  // Same shape, any strides, same device. The dtypes convert at once (convert.h).
  virtual void copy(const Tensor& src, const Tensor& dst) = 0;
  // The parts one after the other along dim. All have some dimension, and out is contiguous.
  virtual void cat(ArrayRef<Tensor> parts, int64_t dim, const Tensor& out);
  // out = x where column - row of the last two dimensions is at least (upper) or at most
  // `diagonal`, else 0. x and the contiguous out: one shape and dtype, any, with some elements.
  virtual void triangle(bool upper, int64_t diagonal, const Tensor& x, const Tensor& out) = 0;
  // Same shape and dtype, both contiguous, on different devices of which at least one is this
  // backend's. A copy to the CPU waits for the data unless non_blocking.
  virtual void transfer(const Tensor& src, const Tensor& dst, bool non_blocking) = 0;

  // --- Random numbers
  // Random elements: uniform in [a, b); normal with mean a and deviation b, or powers of e with
  // such exponents; exponential of rate a; Cauchy's about a, of scale b; the number of trials up to
  // a success of probability a; 1 with probability a, else 0; integers in [a, b). Element i depends
  // on the state, i and the dtype alone, and is the same on every device, up to rounding for those
  // that are made of logarithms and angles. out is contiguous, of any dtype that the distribution
  // has numbers of. Errors: TypeError for others.
  virtual void random(Distribution kind, const Scalar& a, const Scalar& b, PhiloxState state,
                      const Tensor& out) = 0;
  // The same, by elements of x: 1 with probability x[i], else 0; or 0 with the probability `number`,
  // and else x[i] / (1 - number). Both are contiguous, of one shape and floating point dtype.
  virtual void random_map(RandomMap op, double number, PhiloxState state, const Tensor& x,
                          const Tensor& out) = 0;
  // Counts of what happens at rate x[i], or in x[i] trials of chance y[i]: NaN for a rate that is
  // negative or not finite. The state is for a block, and one more for each element. x, y
  // (undefined for a rate) and out: contiguous, of one shape and floating point dtype.
  virtual void count(CountOp op, PhiloxState state, const Tensor& x, const Tensor& y,
                     const Tensor& out) = 0;

  // --- Element by element: the rows of elementwise.def and ternary.def
  // All but where convert operands and results of any dtype to the one it is computed in, and back.
  // x and out: same shape and dtype, but out is Bool for predicates.
  virtual void map(UnaryOp op, const Tensor& x, const Tensor& out) = 0;
  // out = grad * slope(x, y), for rows that have a slope; of x and y those that the slope does not
  // use may be undefined.
  virtual void map_grad(UnaryOp op, const Tensor& grad, const Tensor& x, const Tensor& y,
                        const Tensor& out) = 0;
  // Operands broadcast to out, of one dtype: out's, or for comparisons any. One may be a number. A
  // tensor of one element may be of the dtype that the other is computed with; on CUDA, beside an
  // out of Float, Double or Long, tensors of any.
  virtual void zip(BinaryOp op, const Operand& x, const Operand& y, const Tensor& out) = 0;
  // The same for three operands of out's dtype and the number w. z is a number where y is one.
  virtual void zip3(TernaryOp op, const Tensor& x, const Operand& y, const Operand& z,
                    const Scalar& w, const Tensor& out) = 0;
  // out = condition ? x : y, of one shape; condition is Bool, and x or y may be a number.
  virtual void where(const Tensor& condition, const Operand& x, const Operand& y,
                     const Tensor& out) = 0;

  // --- Reductions: the rows of reductions.def
  // out has x's rank, and size 1 in the reduced dimensions: where the sizes differ, and all of size
  // 1. out: Long, Double or Float (on CUDA also a half type), to which x converts at once; or, for
  // extremes, x and out of any one integer dtype or Bool, or out Bool: of what is not 0.
  virtual void reduce(ReduceOp op, const Tensor& x, const Tensor& out) = 0;
  // out (Float, Double) = the sum of |x|^p, to the power 1 / p: not 0 nor infinite. As for reduce.
  virtual void norm(double p, const Tensor& x, const Tensor& out);
  // out () = the mean of (x - y)^2. x, y and out are contiguous, of one dtype (Float, Double).
  virtual void mean_square(const Tensor& x, const Tensor& y, const Tensor& out);
  // out = grad times the gradient of x; grad is ().
  virtual void mean_square_grad(const Tensor& grad, const Tensor& x, const Tensor& y,
                                const Tensor& out);
  // out (2) = the smallest and the largest element of x, of one dtype. x has some elements.
  virtual void aminmax(const Tensor& x, const Tensor& out);
  // out (Long) = how many elements of x (Float, Double) fall into each of so many equal intervals of
  // [low, high], the last with its upper end. `all`: no others exist. Both are contiguous, 1-D.
  virtual void histc(bool all, double low, double high, const Tensor& x, const Tensor& out);
  // out = the sum of squared differences from the mean, over divisor, or root: the square root of
  // that. x and out: as for reduce, and out is of a floating point dtype.
  virtual void variance(bool root, double divisor, const Tensor& x, const Tensor& out);
  // Largest (or smallest) element along dim, and its first index; NaN counts as most extreme.
  // values (x's dtype: Float, Double, any integer or Bool) and indices (Long) have size 1 in dim. x
  // is not empty along dim.
  virtual void arg_reduce(bool largest, const Tensor& x, int64_t dim, const Tensor& values,
                          const Tensor& indices) = 0;
  // out (Long, one element) = how many elements of x are not 0. x: any dtype, some elements.
  virtual void count_nonzero(const Tensor& x, const Tensor& out) = 0;

  // --- Softmax
  // out = e^x / sum(e^x) along dim, or its logarithm. x, out: one shape and dtype (Float, Double),
  // one dimension at least, some elements. A line with NaN or +infinity, or of -infinity alone, is
  // NaN. The same on any number of threads.
  virtual void softmax(bool log, const Tensor& x, int64_t dim, const Tensor& out) = 0;
  // The gradient of x, given that of the result y: y (grad - sum(grad y)), or for the logarithm
  // grad - e^y sum(grad). grad, y, out: one shape and dtype, as for softmax.
  virtual void softmax_grad(bool log, const Tensor& grad, const Tensor& y, int64_t dim,
                            const Tensor& out) = 0;

  // --- Cross entropy
  // For each row of x (N, C) and its target, a class: factor (log(sum(e^x)) - (1 - smoothing)
  // x[target] - smoothing mean(x)). The factor is the target's weight, 1 without weights, and 0 for
  // one to be ignored, whose loss is 0 whatever its row holds. table (4, N): the losses, the factors,
  // the largest elements, and the logarithms of the sums of powers of e about them. mean (), which
  // may be undefined, is the sum of the losses over that of the factors, which are divided by it.
  // All are of one dtype (Float, Double) but target (N), which is Long, and contiguous but x, which
  // has rows of neighbours, and some. weight may be undefined. Errors: IndexError, as for gather.
  virtual void cross_entropy(const CrossEntropyRule& rule, const Tensor& x, const Tensor& target,
                             const Tensor& weight, const Tensor& table, const Tensor& mean) = 0;
  // The gradient of x, given that of the losses, (N) of any stride, and the last rows of the table:
  // grad factor (softmax(x) - the target's shares of the classes). out is contiguous.
  virtual void cross_entropy_grad(const CrossEntropyRule& rule, const Tensor& grad, const Tensor& x,
                                  const Tensor& target, const Tensor& rows, const Tensor& out) = 0;

  // --- Normalisations (tensor/base/normalized_rows.h)
  // All tensors are contiguous, of one dtype (Float, Double), with some elements; mean and rstd have
  // rows.statistics() elements. weight and bias may be undefined.
  //
  // out = (x - mean) * rstd * weight + bias. Where rows have statistics of their own, mean and rstd
  // are computed first.
  virtual void normalize(const NormalizedRows& rows, double eps, const Tensor& x,
                         const Tensor& weight, const Tensor& bias, const Tensor& mean,
                         const Tensor& rstd, const Tensor& out) = 0;
  // The mean and the variance, divided by the number of elements, where rows share statistics.
  virtual void moments(const NormalizedRows& rows, const Tensor& x, const Tensor& mean,
                       const Tensor& variance) = 0;
  // sums (2, groups * weights): for each weight the sum of grad * (x - mean) * rstd, which is its
  // gradient, and that of grad, the gradient of bias. They depend on the shapes alone.
  virtual void normalize_sums(const NormalizedRows& rows, const Tensor& grad, const Tensor& x,
                              const Tensor& mean, const Tensor& rstd, const Tensor& sums) = 0;
  // The gradient of x. Where rows share statistics, a row has one weight, and `sums` are those of
  // normalize_sums; else `sums` may be undefined. normalize_grads: the sums and this, at once.
  virtual void normalize_grad(const NormalizedRows& rows, const Tensor& grad, const Tensor& x,
                              const Tensor& mean, const Tensor& rstd, const Tensor& weight,
                              const Tensor& sums, const Tensor& out) = 0;
  virtual void normalize_grads(const NormalizedRows& rows, const Tensor& grad, const Tensor& x,
                               const Tensor& mean, const Tensor& rstd, const Tensor& weight,
                               const Tensor& sums, const Tensor& out);

  // --- Scans (the rows of scans.def) and order
  // x, out: one shape and dtype (Long, Float, Double; for logcumsumexp not Long), one dimension at
  // least, some elements. Folds in double or, without overflow, modulo 2^64; in an order that
  // depends on shapes and strides alone.
  virtual void scan(ScanOp op, const Tensor& x, int64_t dim, const Tensor& out) = 0;
  // Largest (or smallest) element so far along dim, and its last index; NaN counts as most extreme.
  // x, values (Long, Float, Double) and indices (Long): one shape, as for scan.
  virtual void arg_scan(bool largest, const Tensor& x, int64_t dim, const Tensor& values,
                        const Tensor& indices) = 0;
  // The elements along dim in order, and where they were; of equal elements the first comes first.
  // NaN is greater than every number. x, values (Long, Float, Double) and indices (Long): one
  // shape, as for scan.
  virtual void sort(const Tensor& x, int64_t dim, bool descending, const Tensor& values,
                    const Tensor& indices) = 0;
  // What sort puts at places first, first + 1 ... along dim, as many as values has, at least one.
  virtual void select(const Tensor& x, int64_t dim, bool descending, int64_t first,
                      const Tensor& values, const Tensor& indices);
  // The element in the middle of an ascending order along dim, the lower one of two: of the numbers
  // alone, or of all, and then the first NaN where there is one. x: as for sort; values and indices
  // have size 1 in dim.
  virtual void median(bool ignores_nan, const Tensor& x, int64_t dim, const Tensor& values,
                      const Tensor& indices);
  // The element that occurs most often along dim, the smallest one of several, and where it is
  // last. NaN equals nothing. x, values and indices: as for median.
  virtual void mode(const Tensor& x, int64_t dim, const Tensor& values, const Tensor& indices);
  // How many elements of a list in order are less than each value, or right: not greater, by
  // bisection. NaN counts as less than a value, and is greater than all. list, values (one dtype:
  // Long, Float, Double) and out (Long, of values' shape) are contiguous and have some elements;
  // the list has one dimension, or those of values, with the same sizes but for the last.
  virtual void bisect(bool right, const Tensor& list, const Tensor& values, const Tensor& out) = 0;

  // --- Products
  // out (B, M, N) = a (B, M, K) * b (B, K, N), + bias (N) where defined. Any strides for a, b and
  // bias; out contiguous. dtypes: Float, Double, Long. K may be 0: then out is bias or zero.
  virtual void matmul(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& out) = 0;
  // matmul without a bias; sums (M) = the sums of a's rows. B is 1; Float, Double.
  virtual void matmul_sums(const Tensor& a, const Tensor& b, const Tensor& out, const Tensor& sums);
  // packed: b (K, N) in the order that this device multiplies fastest, for many products of at most
  // `rows` rows. matmul_packed: out (M, N) = a (M, K) * b + bias, of such a b.
  virtual Tensor packed(const Tensor& b, int64_t rows);
  virtual void matmul_packed(const Tensor& a, const Tensor& packed, const Tensor& bias,
                             const Tensor& out);

  // --- Convolutions and pools (tensor/base/windows.h)
  // out = that part of the convolution, made of the other two, the output or its gradient first. It
  // and the operands are contiguous, of one dtype (Float, Double), with some elements. bias
  // (filters) may be undefined. The sums depend on the shapes alone.
  virtual void convolution(ConvolutionPart part, const Convolution& shape, const Tensor& a,
                           const Tensor& b, const Tensor& bias, const Tensor& out) = 0;
  // The part `weight`; sums (filters) = those of grad over samples and places.
  virtual void convolution_sums(const Convolution& shape, const Tensor& grad, const Tensor& input,
                                const Tensor& out, const Tensor& sums);
  // The largest element of each window, NaN counting as that, and where it is in its plane (Long):
  // of equal ones the first, of NaN the last. Of a window that lies outside the smallest number, and
  // some place. Contiguous, with some elements; x and values of one dtype: Float, Double, Long.
  virtual void max_pool(const Pool& pool, const Tensor& x, const Tensor& values,
                        const Tensor& indices) = 0;
  // The gradient of x, given those of the values, and the indices. Contiguous; Float, Double.
  virtual void max_pool_grad(const Pool& pool, const Tensor& grad, const Tensor& indices,
                             const Tensor& out) = 0;
  // The sums of windows, divided as the pool says, and their gradient: as max_pool. dilation is 1.
  virtual void average_pool(const Pool& pool, const Tensor& x, const Tensor& out) = 0;
  virtual void average_pool_grad(const Pool& pool, const Tensor& grad, const Tensor& out) = 0;

  // --- Recurrent cells: one step of H units for B rows
  // All tensors are contiguous, of one dtype (Float, Double), with some elements, and (B, H) unless
  // another shape is named. x and s hold, side by side, the sums of the input and those of h_prev,
  // with their biases.
  //
  // LSTM: x, s, gates (B, 4 H). gates = sigmoid i, sigmoid f, tanh g, sigmoid o of x + s; c = f
  // c_prev + i g; h = o tanh(c).
  virtual void lstm_cell(const Tensor& x, const Tensor& s, const Tensor& c_prev,
                         const Tensor& gates, const Tensor& c, const Tensor& h);
  // grad_x (B, 4 H): the gradient of x and of s. grad_c, which is that of c, becomes that of
  // c_prev.
  virtual void lstm_cell_grad(const Tensor& grad_h, const Tensor& c_prev, const Tensor& gates,
                              const Tensor& c, const Tensor& grad_c, const Tensor& grad_x);
  // GRU: x, s, gates (B, 3 H). gates = r, z, n with r = sigmoid(x_r + s_r), z = sigmoid(x_z + s_z),
  // n = tanh(x_n + r s_n); h = n + z (h_prev - n).
  virtual void gru_cell(const Tensor& x, const Tensor& s, const Tensor& h_prev, const Tensor& gates,
                        const Tensor& h);
  // grad_x and grad_s (B, 3 H). grad_h, which is that of h, becomes the part of h_prev's that does
  // not come through s.
  virtual void gru_cell_grad(const Tensor& h_prev, const Tensor& s, const Tensor& gates,
                             const Tensor& grad_h, const Tensor& grad_x, const Tensor& grad_s);

  // --- Attention
  // out (B, H, M, E), of q (B, H, M, D), k (B, H, N, D), v (B, H, N, E) and mask (B, H, M, N),
  // which may be undefined. log_sums (B, H, M) = log(sum(e^scores)). A row without keys is 0, and
  // its log_sum -infinity. Float, Double, with some elements; the last dimension of q, k and v has
  // stride 1, out and log_sums are contiguous.
  virtual void attention(const Attention& how, const Tensor& q, const Tensor& k, const Tensor& v,
                         const Tensor& mask, const Tensor& out, const Tensor& log_sums);
  // The gradients of q, k and v, given that of out, and what attention computed. grad and the
  // results are contiguous.
  virtual void attention_grad(const Attention& how, const Tensor& grad, const Tensor& q,
                              const Tensor& k, const Tensor& v, const Tensor& mask,
                              const Tensor& out, const Tensor& log_sums, const Tensor& grad_q,
                              const Tensor& grad_k, const Tensor& grad_v);

  // --- Indexing
  // out[i] = x[..., index[i], ...]: index is Long, of out's shape; x has as many dimensions, and
  // any size from out's on in those that are not indexed. A number that rule does not allow is an
  // IndexError: on the CPU at once, and on a GPU, which reads 0 there, at a later wait.
  virtual void gather(const IndexRule& rule, const Tensor& x, int64_t dim, const Tensor& index,
                      const Tensor& out) = 0;
  // The converse: src[i] is put to out[..., index[i], ...], in the order of i, so that of several
  // the last is set, and a sum is reproducible. src has index's shape, or is a number to be set.
  // dtypes: any for `set`, else Long, Float, Double. An IndexError of the CPU leaves out as it was.
  virtual void scatter(ScatterOp op, const IndexRule& rule, int64_t dim, const Tensor& index,
                       const Operand& src, const Tensor& out) = 0;
  // out += stride * index, with the index wrapped and checked as above. Both Long, of one shape.
  virtual void add_offsets(const IndexRule& rule, int64_t stride, const Tensor& index,
                           const Tensor& out) = 0;
  // Where the elements are that are not 0, in row-major order: (dimensions of `shape`, found), of
  // Long. Coordinates count within `shape`, which has as many elements as x. x: any dtype, some
  // elements. Waits for the number of those found.
  virtual Tensor nonzero(const Tensor& x, IntArrayRef shape) = 0;
  // The places (Long) of the first row of x and of those that differ from the row before. x: rows
  // of elements, or elements, some of them. Waits for their number.
  virtual Tensor run_starts(const Tensor& x);
  // The elements of a list at such places.
  virtual Tensor distinct(const Tensor& x);
  // x[i] for every i where mask (Bool, of x's leading sizes, with some elements) is true, in
  // row-major order. Waits for their number.
  virtual Tensor masked_select(const Tensor& x, const Tensor& mask);
  // The converse: the elements of source, which are enough, in turn. mask and out are of one shape.
  virtual void masked_scatter(const Tensor& mask, const Tensor& source, const Tensor& out);

  // --- Optimizers
  // Steps every parameter by the formula of `op`, which keeps so many states of each. All tensors
  // are contiguous and of one dtype (Float, Double), and each parameter's are of one shape, with
  // some elements.
  virtual void update(UpdateOp op, int states, ArrayRef<UpdatedParameter> parameters) = 0;

  // --- Chains (tensor/fused/program.h)
  // Computes the outputs of the kernel from its inputs. outputs[i] has the dtype, sizes and strides
  // of the node program.outputs[i]. Errors: NotFusable, before anything is computed, where this
  // device has no form of a node.
  virtual void fused(const fused::Kernel& kernel, ArrayRef<Tensor> inputs,
                     ArrayRef<Tensor> outputs);
};

// The backend of a device type. Errors: Error where the build or the machine has no such device.
Backend& backend(DeviceType type);
inline Backend& backend(const Tensor& tensor) { return backend(tensor.device().type()); }
// Puts another backend in the place of a device type's; nullptr: the library's own again. Returns the
// one that was there, nullptr for the library's own. The caller keeps both alive. `other` may hand
// calls on to cpu_backend() or cuda_backend(). REQUIRES: no operation runs.
Backend* exchange_backend(DeviceType type, Backend* other);

// Defined in cpu/ and cuda/; cuda/stub.cpp answers for builds without CUDA.
Backend& cpu_backend();
Backend& cuda_backend();
// Returns a function that gives another thread this thread's current device and streams.
std::function<void()> cuda_thread_state();

}  // namespace gradus
