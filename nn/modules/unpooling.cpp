// MaxUnpool: the sizes of the output, and a scatter.
#include "gradus/nn/modules/unpooling.h"

#include "gradus/autograd/engine/cast_operands.h"

namespace gradus::nn::functional {

namespace {

template <size_t D>
std::vector<int64_t> unpooled_sizes(const std::string& op, const Tensor& input,
                                    const MaxUnpoolFuncOptions<D>& options) {
  std::vector<int64_t> out;
  for (size_t d = 0; d < D; ++d)
    out.push_back((input.size(static_cast<int64_t>(d) - static_cast<int64_t>(D)) - 1) *
                      options.stride()[d] -
                  2 * options.padding()[d] + options.kernel_size()[d]);
  if (!options.output_size()) return out;
  std::vector<int64_t> given = *options.output_size();
  check(given.size() == D || given.size() == static_cast<size_t>(input.dim()), op,
        ": output_size should be a sequence containing ", D, " or ", input.dim(),
        " elements, but it has a length of ", given.size());
  given.erase(given.begin(), given.end() - static_cast<std::ptrdiff_t>(D));
  for (size_t d = 0; d < D; ++d)
    check(given[d] > out[d] - options.stride()[d] && given[d] < out[d] + options.stride()[d], op,
          ": invalid output_size ", given[d], " in dimension ", d, ", expected it between ",
          out[d] - options.stride()[d], " and ", out[d] + options.stride()[d]);
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
        "D or ", D + 2, "D (batch mode) input, but got: ", input.sizes());
  check(indices.sizes() == input.sizes(), op,
        ": Expected shape of indices to be same as that of input ", input.sizes(), ", but got ",
        indices.sizes());
  std::vector<int64_t> shape = input.sizes().vec();
  shape.resize(shape.size() - D);
  std::vector<int64_t> rows = shape;
  int64_t count = 1;
  for (const int64_t size : unpooled_sizes(op, input, options)) {
    shape.push_back(size);
    count *= size;
  }
  rows.push_back(count);
  return zeros(rows, input.options().requires_grad(false))
      .scatter(-1, indices.flatten(-kSpatial), input.flatten(-kSpatial))
      .view(shape);
}
template Tensor max_unpool(const Tensor&, const Tensor&, const MaxUnpoolFuncOptions<1>&);
template Tensor max_unpool(const Tensor&, const Tensor&, const MaxUnpoolFuncOptions<2>&);
template Tensor max_unpool(const Tensor&, const Tensor&, const MaxUnpoolFuncOptions<3>&);

}  // namespace gradus::nn::functional
