// MaxUnpool: the sizes of the output, and a scatter.
#include "gradus/nn/modules/unpooling.h"

#include "gradus/autograd/engine/cast_operands.h"
#include "gradus/tensor/base/checked.h"

namespace gradus::nn::functional {

namespace {

template <size_t D>
std::vector<int64_t> unpooled_sizes(const std::string& op, const Tensor& input,
                                    const MaxUnpoolFuncOptions<D>& options) {
  std::vector<int64_t> out;
  for (size_t d = 0; d < D; ++d)
    check(options.kernel_size()[d] > 0 && options.stride()[d] > 0, op,
          ": kernel_size and stride must be 1 or more, but they are ", options.kernel_size(),
          " and ", options.stride(), "; give those of the pool");
  for (size_t d = 0; d < D; ++d)
    out.push_back((Checked(input.size(static_cast<int64_t>(d) - static_cast<int64_t>(D)) - 1) *
                       options.stride()[d] -
                   Checked(2) * options.padding()[d] + options.kernel_size()[d])
                      .get(op, "the output size"));
  if (!options.output_size()) return out;
  std::vector<int64_t> given = *options.output_size();
  check(given.size() == D || given.size() == static_cast<size_t>(input.dim()), op,
        ": output_size should be a sequence containing ", D, " or ", input.dim(),
        " elements, but it has a length of ", given.size(), "; give the sizes before the pool");
  given.erase(given.begin(), given.end() - static_cast<std::ptrdiff_t>(D));
  for (size_t d = 0; d < D; ++d) {
    const int64_t low = (Checked(out[d]) - options.stride()[d]).get(op, "the least output size");
    const int64_t high =
        (Checked(out[d]) + options.stride()[d]).get(op, "the greatest output size");
    check(given[d] > low && given[d] < high, op, ": invalid output_size ", given[d],
          " in dimension ", d, ", expected it between ", low, " and ", high,
          "; give the size before the pool");
  }
  return given;
}

}  // namespace

template <size_t D>
Tensor max_unpool(const Tensor& input, const Tensor& indices,
                  const MaxUnpoolFuncOptions<D>& options) {
  GRADUS_AUTOCAST_AS(max_unpool, max_unpool<D>, input, indices, options);
  const std::string op = "max_unpool" + std::to_string(D) + "d";
  input.operand(op.c_str());
  indices.operand(op.c_str());
  constexpr auto kSpatial = static_cast<int64_t>(D);
  check(input.dim() == kSpatial + 1 || input.dim() == kSpatial + 2, op, ": Expected ", D + 1,
        "D or ", D + 2, "D (batch mode) input, but got: ", input.sizes(),
        "; use unsqueeze or flatten");
  check<TypeError>(indices.dtype() == kLong, op, ": indices have dtype ", indices.dtype(),
                   ", expected int64; give those of the pool with_indices");
  check(indices.sizes() == input.sizes(), op,
        ": Expected shape of indices to be same as that of input ", input.sizes(), ", but got ",
        indices.sizes(), "; give those of the pool with_indices");
  std::vector<int64_t> shape = input.sizes().vec();
  shape.resize(shape.size() - D);
  std::vector<int64_t> rows = shape;
  Checked product = 1;
  for (const int64_t size : unpooled_sizes(op, input, options)) {
    shape.push_back(size);
    product = product * size;
  }
  const int64_t count = product.get(op, "the size of a channel");
  rows.push_back(count);
  // A GPU reports such a number at the next synchronisation.
  if (indices.is_cpu() && indices.numel() > 0) {
    const auto least = indices.min().item<int64_t>(), most = indices.max().item<int64_t>();
    check<IndexError>(least >= 0 && most < count, op,
                      ": Found an invalid max index: ", least < 0 ? least : most,
                      "; the output of shape ", IntArrayRef(shape), " has places 0 to ", count - 1,
                      " of a channel, give a larger output_size");
  }
  return zeros(rows, input.options().requires_grad(false))
      .scatter(-1, indices.flatten(-kSpatial), input.flatten(-kSpatial))
      .view(shape);
}
template Tensor max_unpool(const Tensor&, const Tensor&, const MaxUnpoolFuncOptions<1>&);
template Tensor max_unpool(const Tensor&, const Tensor&, const MaxUnpoolFuncOptions<2>&);
template Tensor max_unpool(const Tensor&, const Tensor&, const MaxUnpoolFuncOptions<3>&);

}  // namespace gradus::nn::functional
