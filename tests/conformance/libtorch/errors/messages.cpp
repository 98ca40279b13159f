// What an error says, in the words that programs look for.
#include <torch/torch.h>

#include <functional>
#include <iostream>
#include <string>

using torch::Tensor;

namespace {

void says(const std::string& words, const std::function<void()>& f) {
  std::string got = "no error";
  try {
    f();
  } catch (const c10::Error& error) {
    got = error.what_without_backtrace();
  } catch (const std::exception& error) {
    got = error.what();
  }
  const bool found = got.find(words) != std::string::npos;
  std::cout << (found ? "yes" : "no") << ": " << words << "\n";
  if (!found) std::cerr << words << "\n    got: " << got.substr(0, 300) << "\n";
}

void of_shapes() {
  const Tensor x = torch::ones({2, 3}), y = torch::ones({4}), batch = torch::ones({2, 2, 3});
  says("The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1",
       [&] { x + y; });
  says("output with shape [2, 3] doesn't match the broadcast shape [2, 2, 3]",
       [&] { x.clone().add_(batch); });
  says("mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)", [&] { x.mm(x); });
  says("mat1 and mat2 shapes cannot be multiplied (2x3 and 4x1)", [&] {
    torch::linear(x, y.view({1, 4}));
  });
  says("size mismatch, got 2, 2x3,4", [&] { x.mv(y); });
  says(
      "inconsistent tensor size, expected tensor [4] and src [5] to have the same number of "
      "elements",
      [&] { y.dot(torch::ones({5})); });
  says("1D tensors expected", [&] { y.dot(x); });
  says("must be a matrix", [&] { y.mm(x); });
  says("must be a 3D tensor", [&] { x.bmm(x); });
  says("both arguments to matmul need to be at least 1D", [&] { x.matmul(torch::tensor(1.0)); });
  says("shape '[4]' is invalid for input of size 6", [&] { x.view({4}); });
  says("shape '[4, -1]' is invalid for input of size 6", [&] { x.reshape({4, -1}); });
  says("only one dimension can be inferred", [&] { x.reshape({-1, -1}); });
  says("invalid shape dimension -2", [&] { x.reshape({-2}); });
  says("view size is not compatible with input tensor's size and stride", [&] { x.t().view({6}); });
  says("Dimension out of range (expected to be in range of [-2, 1], but got 2)", [&] { x.sum(2); });
  says("Dimension out of range (expected to be in range of [-2, 1], but got -3)",
       [&] { x.size(-3); });
  says("Dimension out of range (expected to be in range of [-1, 0], but got 1)",
       [&] { torch::tensor(1.0).sum(1); });
  says("dim 0 appears multiple times in the list of dims", [&] {
    x.sum(torch::IntArrayRef{0, 0});
  });
  says("must match the existing size (3) at non-singleton dimension 1", [&] { x.expand({2, 4}); });
  says("the number of sizes provided (1) must be greater or equal to the number of dimensions",
       [&] { x.expand({6}); });
  says("isn't allowed in a leading, non-existing dimension 0", [&] { x.expand({-1, 2, 3}); });
  says("Trying to create tensor with negative dimension -1: [-1, 2]", [&] {
    torch::zeros({-1, 2});
  });
  says("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor",
       [&] { x.repeat({2}); });
  says("duplicate dims are not allowed", [&] { x.permute({0, 0}); });
  says("number of dimensions in the tensor input does not match the length of the desired ordering",
       [&] { x.permute({0}); });
  says("t() expects a tensor with <= 2 dimensions, but self is 3D", [&] { batch.t(); });
  says("start (0) + length (4) exceeds dimension size (3).", [&] { x.narrow(1, 0, 4); });
  says("start (0) + length (-1) exceeds dimension size (3).", [&] { x.narrow(1, 0, -1); });
}

void of_joins() {
  const Tensor x = torch::ones({2, 3}), y = torch::ones({3, 4});
  says(
      "Sizes of tensors must match except in dimension 0. Expected size 3 but got size 4 for "
      "tensor number 1",
      [&] {
        torch::cat({x, y});
      });
  says("Tensors must have same number of dimensions: got 2 and 1", [&] { torch::cat({x, y[0]}); });
  says("expected a non-empty list of Tensors", [&] { torch::cat(torch::TensorList{}); });
  says(
      "stack expects each tensor to be equal size, but got [2, 3] at entry 0 and [3, 4] at entry 1",
      [&] {
        torch::stack({x, y});
      });
  says("stack expects a non-empty TensorList", [&] { torch::stack(torch::TensorList{}); });
  says("split_size", [&] { x.split(-1); });
  says("`chunks` to be greater than 0, got: 0", [&] { x.chunk(0); });
}

void of_indices() {
  const Tensor x = torch::arange(6.).view({2, 3}), scalar = torch::tensor(1.0);
  says("index 2 out of range for tensor of size [2, 3] at dimension 0", [&] { x[2]; });
  says("select() cannot be applied to a 0-dim tensor.", [&] { scalar[0]; });
  says("index 3 is out of bounds for dimension 1 with size 3", [&] { x.index({0, 3}); });
  says("index 5 is out of bounds for dimension 0 with size 2",
       [&] { x.index({torch::tensor({5})}); });
  says("too many indices for tensor of dimension 2", [&] { x.index({0, 0, 0}); });
  says("invalid index of a 0-dim tensor", [&] { scalar.index({0}); });
  says("tensors used as indices must be", [&] { x.index({torch::tensor({1.0})}); });
  says(
      "The shape of the mask [2] at index 0 does not match the shape of the indexed tensor [3] at "
      "index 0",
      [&] {
        x[0].index({torch::tensor({true, false})});
      });
  says("shape mismatch: indexing tensors could not be broadcast together with shapes [2], [3]",
       [&] {
         x.index({torch::tensor({0, 1}), torch::tensor({0, 1, 2})});
       });
  says(
      "shape mismatch: value tensor of shape [2] cannot be broadcast to indexing result of shape "
      "[1, 3]",
      [&] { x.index_put_({torch::tensor({0})}, torch::ones({2})); });
  says("Index tensor must have the same number of dimensions as input tensor",
       [&] { x.gather(0, torch::tensor({0})); });
  says("Expected dtype int64 for index", [&] { x.gather(0, torch::zeros({1, 1})); });
  says("is out of bounds for dimension 0 with size 2", [&] { x.gather(0, torch::tensor({{7}})); });
  says("step must be greater than zero", [&] {
    x.index({torch::indexing::Slice(torch::indexing::None, torch::indexing::None, -1)});
  });
  says("step cannot be zero", [] { torch::indexing::Slice(0, 1, 0); });
  says("selected index k out of range", [&] { x.topk(4); });
}

void of_types() {
  const Tensor x = torch::ones({2}), whole = torch::ones({2}, torch::kLong);
  says("result type Float can't be cast to the desired output type Long", [&] { whole.add_(1.5); });
  says("result type Float can't be cast to the desired output type Long",
       [&] { whole.clone().mul_(x); });
  says("a Tensor with 2 elements cannot be converted to Scalar", [&] { x.item(); });
  says("expected scalar type Double but found Float", [&] { x.data_ptr<double>(); });
  says("expected scalar type Long but found Float", [&] { x.accessor<int64_t, 1>(); });
  says("TensorAccessor expected 2 dims but tensor has 1", [&] { x.accessor<float, 2>(); });
  says("Boolean value of Tensor with more than one value is ambiguous", [&] { x.is_nonzero(); });
  says("Boolean value of Tensor with no values is ambiguous",
       [&] { torch::ones({0}).is_nonzero(); });
  says("Subtraction, the `-` operator, with two bool tensors is not supported",
       [&] { (x > 0) - (x > 0); });
  says("Negation, the `-` operator, on a bool tensor is not supported", [&] { -(x > 0); });
  says(
      "could not infer output dtype. Input dtype must be either a floating point or complex dtype. "
      "Got: Long",
      [&] { whole.mean(); });
  says("std and var only support floating point and complex dtypes", [&] { whole.std(); });
  says("Integers to negative integer powers are not allowed", [&] { whole.pow(-1); });
  says("not implemented for 'Long'", [&] { whole.softmax(0); });
  says("Expected reduction dim to be specified for input.numel() == 0",
       [&] { torch::ones({0}).argmax(); });
  says("Expected reduction dim to be specified for input.numel() == 0",
       [&] { torch::ones({0}).max(); });
  says("Expected reduction dim 0 to have non-zero size", [&] { torch::ones({0, 2}).amax(0); });
  says("step must be nonzero", [] { torch::arange(0, 5, 0); });
  says("bound inconsistent with step sign", [] { torch::arange(0, 5, -1); });
  says("number of steps must be non-negative", [] { torch::linspace(0, 1, -1); });
  says("random_ expects 'from' to be less than 'to', but got from=3 >= to=1",
       [] { torch::randint(3, 1, {2}); });
  says("invalid multinomial distribution", [] { torch::multinomial(torch::zeros({2}), 1); });
  says("normal expects std >= 0.0, but found std -1", [] { torch::normal(0., -1., {2}); });
}

void of_complex_numbers() {
  const c10::complex<float> z(1, 2);
  says("value cannot be converted to type float without overflow",
       [&] { torch::tensor(z).item<float>(); });
  says("value cannot be converted to type double without overflow",
       [&] { at::Scalar(z).toDouble(); });
  says("value cannot be converted to type float without overflow",
       [&] { torch::tensor(z, torch::kFloat); });
  says("value cannot be converted to type float without overflow", [&] {
    torch::tensor({z, z}, torch::kFloat);
  });
  says(
      "can not do torch::tensor(complex, dtype=non-complex) because complex can not be casted to "
      "real number without loss of information",
      [&] { torch::tensor(std::vector<c10::complex<float>>{z}, torch::kFloat); });
  says("\"tensor_cpu\" not implemented for 'Float'", [&] { at::tensor(z, at::kFloat); });
  says("\"tensor_cpu\" not implemented for 'Float'", [&] { at::tensor({z, z}, at::kFloat); });
}

void of_random_numbers() {
  const Tensor x = torch::ones({2});
  says("but found lambda=-1", [&] { x.exponential_(-1); });
  says("log_normal_ expects std > 0.0, but found std=-1", [&] { x.log_normal_(0, -1); });
  says("normal expects std >= 0.0, but found std -1", [&] { x.normal_(0, -1); });
  says("geometric_ expects p to be in (0, 1), but got p=1.5", [&] { x.geometric_(1.5); });
  says("bernoulli_ expects p to be in [0, 1], but got p=-0.5", [&] { x.bernoulli_(-0.5); });
  says("uniform_ expects to return a [from, to) range, but found from=2 > to=1",
       [&] { x.uniform_(2, 1); });
  says("random_ expects 'from' to be less than 'to', but got from=3 >= to=3",
       [&] { torch::randint(3, 3, {2}); });
  says("selected index k out of range", [&] { x.topk(3); });
}

void of_autograd() {
  const auto leaf = [] { return torch::ones({2}, torch::requires_grad()); };
  const Tensor x = leaf(), y = (x * x).sum();
  says("grad can be implicitly created only for scalar outputs", [&] { (x * 2).backward(); });
  says("element 0 of tensors does not require grad and does not have a grad_fn",
       [] { torch::ones({}).backward(); });
  y.backward();
  says("Trying to backward through the graph a second time", [&] { y.backward(); });
  says("a leaf Variable that requires grad is being used in an in-place operation",
       [&] { x.add_(1); });
  says("a view of a leaf Variable that requires grad is being used in an in-place operation",
       [&] { x[0].add_(1); });
  says(
      "one of the variables needed for gradient computation has been modified by an inplace "
      "operation",
      [&] {
        const Tensor h = x * 2, z = (h * h).sum();
        h.add_(1);
        z.backward();
      });
  says("is at version 1; expected version 0 instead", [&] {
    const Tensor h = x * 2, z = (h * h).sum();
    h.add_(1);
    z.backward();
  });
  says("Only Tensors of floating point", [] { torch::ones({2}, torch::kLong).requires_grad_(); });
  says("you can only change requires_grad flags of leaf variables",
       [&] { (x * 2).requires_grad_(false); });
  says("cannot register a hook on a variable that doesn't require gradient",
       [] { torch::ones({2}).register_hook([](Tensor g) { return g; }); });
  says("can't retain_grad on Tensor that has requires_grad=False",
       [] { torch::ones({2}).retain_grad(); });
  says("One of the differentiated Tensors appears to not have been used in the graph",
       [&] { torch::autograd::grad({(x * x).sum()}, {leaf()}); });
  says("invalid gradient at index 0 - got [3] but expected shape compatible with [2]",
       [&] { (x * 2).backward(torch::ones({3})); });
  says("functions with out=... arguments don't support automatic differentiation", [&] {
    Tensor out = torch::ones({2});
    torch::add_out(out, x, x);
  });
  says("more than one element of the written-to tensor refers to a single memory location",
       [] { torch::ones({1}).expand({3}).add_(1); });
}

}  // namespace

int main() {
  of_shapes();
  of_joins();
  of_indices();
  of_types();
  of_complex_numbers();
  of_random_numbers();
  of_autograd();
}
