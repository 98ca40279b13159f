// A long list of what is refused, and with which class of error.
#include <torch/torch.h>

#include <iostream>

template <class Expected, class F>
void tried(const char* what, F f) {
  std::cout << what << ": ";
  try {
    f();
    std::cout << "taken\n";
  } catch (const Expected& error) {
    std::cout << "refused" << (std::string(error.what()).empty() ? " without a word" : "") << "\n";
  } catch (...) {
    std::cout << "refused with another class of error\n";
  }
}
template <class F>
void refused(const char* what, F f) {
  tried<std::exception>(what, f);
}
template <class F>
void error(const char* what, F f) {
  tried<c10::Error>(what, f);
}
template <class F>
void index_error(const char* what, F f) {
  tried<c10::IndexError>(what, f);
}

int main() {
  using namespace torch::indexing;
  const auto x = torch::arange(6.0).view({2, 3}), v = torch::arange(3.0);
  const auto i = torch::arange(3);
  const auto b = torch::tensor({true, false, true});
  auto leaf = torch::ones({3}, torch::requires_grad());
  index_error("x[2]", [&] { x[2]; });
  index_error("x[-3]", [&] { x[-3]; });
  index_error("scalar[0]", [&] { torch::tensor(1)[0]; });
  index_error("select", [&] { x.select(2, 0); });
  index_error("select index", [&] { x.select(0, 5); });
  index_error("too many indices", [&] { x.index({0, 0, 0}); });
  index_error("list out of range", [&] { x.index({torch::tensor({0, 2})}); });
  index_error("mask shape", [&] { x.index({b}); });
  index_error("float index", [&] { x.index({torch::tensor({0.5})}); });
  index_error("lists that do not broadcast", [&] {
    x.index({torch::tensor({0, 1}), torch::tensor({0, 1, 2})});
  });
  error("zero step", [&] { x.index({Slice(None, None, 0)}); });
  error("negative step", [&] { x.index({Slice(None, None, -1)}); });
  error("index_put_ shape", [&] { x.clone().index_put_({0}, torch::ones({2})); });
  index_error("index_select dims", [&] { x.index_select(0, torch::zeros({1, 1}, torch::kLong)); });
  error("index_select range", [&] { x.index_select(1, torch::tensor({3})); });
  error("gather rank", [&] { x.gather(0, i); });
  error("gather dtype", [&] { v.gather(0, v); });
  error("gather range", [&] { v.gather(0, torch::tensor({3})); });
  error("scatter range", [&] { torch::zeros({3}).scatter_(0, torch::tensor({3}), 1); });
  index_error("take range", [&] { x.take(torch::tensor({6})); });
  error("masked_select type", [&] { v.masked_select(i); });
  error("masked_fill mask type", [&] { v.masked_fill(i, 1); });
  error("masked_fill value", [&] { v.masked_fill(b, torch::ones({2})); });
  error("masked_scatter short", [&] { v.masked_scatter(b, torch::ones({1})); });
  error("narrow", [&] { v.narrow(0, 2, 2); });
  error("narrow negative", [&] { v.narrow(0, 0, -1); });
  error("view of transposed", [&] { x.t().view({6}); });
  refused("two -1", [&] { x.view({-1, -1}); });
  refused("reshape", [&] { x.reshape({4}); });
  error("expand", [&] { v.expand({2}); });
  error("expand fewer", [&] { x.expand({3}); });
  error("permute twice", [&] { x.permute({0, 0}); });
  index_error("transpose", [&] { x.transpose(0, 2); });
  error("t of three", [&] { torch::ones({1, 1, 1}).t(); });
  error("unfold", [&] { v.unfold(0, 4, 1); });
  error("as_strided beyond", [&] { v.as_strided({4}, {1}); });
  index_error("squeeze", [&] { x.squeeze(2); });
  error("unflatten", [&] { x.unflatten(1, {2, 2}); });
  error("cat shapes", [&] { torch::cat({x, v}); });
  error("stack shapes", [&] { torch::stack({x, v}); });
  error("stack of nothing", [&] { torch::stack(std::vector<torch::Tensor>{}); });
  error("split", [&] { v.split_with_sizes({1, 1}); });
  error("chunk", [&] { v.chunk(0); });
  error("mm of vectors", [&] { v.mm(v); });
  error("mm of types", [&] { x.mm(torch::ones({3, 2}, torch::kDouble)); });
  error("mv", [&] { x.mv(torch::ones({2})); });
  error("dot", [&] { v.dot(torch::ones({2})); });
  error("dot of types", [&] { v.dot(i); });
  error("bmm", [&] { x.bmm(x); });
  error("matmul scalar", [&] { torch::matmul(torch::tensor(1.0), v); });
  error("einsum", [&] { torch::einsum("ij,jk->ik", {x, x}); });
  error("einsum letters", [&] { torch::einsum("i1", {x}); });
  error("einsum count", [&] { torch::einsum("ij,jk", {x}); });
  error("tensordot", [&] { torch::tensordot(x, x, {0}, {1}); });
  error("cross", [&] { torch::ones({2}).cross(torch::ones({2})); });
  error("mean of integers", [&] { i.mean(); });
  error("std of integers", [&] { i.std(); });
  error("max of nothing", [&] { torch::ones({0}).max(); });
  index_error("max over nothing", [&] { torch::ones({0, 2}).max(0); });
  index_error("argmax of nothing", [&] { torch::ones({0}).argmax(); });
  refused("sum over nothing", [&] { torch::ones({0}).sum(); });
  refused("median of nothing", [&] { torch::ones({0}).median(); });
  error("sum twice", [&] { x.sum(torch::IntArrayRef({0, 0})); });
  error("topk", [&] { v.topk(4); });
  error("kthvalue", [&] { v.kthvalue(0); });
  error("quantile", [&] { v.quantile(1.5); });
  error("quantile of integers", [&] { i.quantile(0.5); });
  error("bincount", [&] { torch::tensor({-1}).bincount(); });
  error("softmax of integers", [&] { i.softmax(0); });
  index_error("softmax dim", [&] { v.softmax(1); });
  error("bitwise of floats", [&] { v& v; });
  error("not of floats", [&] { ~v; });
  error("neg of bool", [&] { -b; });
  error("sub of bools", [&] { b - b; });
  error("in place to a lower type", [&] { torch::arange(3).add_(0.5); });
  error("in place division", [&] { torch::arange(3).div_(2); });
  error("in place shape", [&] { torch::ones({3}).add_(torch::ones({2, 3})); });
  error("in place on expanded", [&] { torch::ones({1}).expand({3}).add_(1); });
  refused("comparison in place", [&] { torch::arange(3).lt_(2); });
  error("out type", [&] {
    auto out = torch::empty({3}, torch::kLong);
    torch::add_out(out, v, v);
  });
  error("integer power", [&] { i.pow(-1); });
  refused("clamp of bools", [&] { b.clamp(0, 1); });
  error("where", [&] { torch::where(i, v, v); });
  error("one_hot negative", [&] { torch::one_hot(torch::tensor({-1})); });
  error("one_hot classes", [&] { torch::one_hot(torch::tensor({3}), 3); });
  error("randint bounds", [&] { torch::randint(3, 3, {1}); });
  error("randperm", [&] { torch::randperm(-1); });
  error("multinomial", [&] { torch::multinomial(torch::tensor({-1.0, 2.0}), 1); });
  error("multinomial many", [&] { torch::multinomial(torch::ones({2}), 3); });
  error("bernoulli", [&] { torch::bernoulli(torch::tensor({1.5})); });
  error("normal", [&] { torch::normal(0, -1, {2}); });
  error("eye", [&] { torch::eye(-1); });
  error("linspace", [&] { torch::linspace(0, 1, -1); });
  error("data_ptr type", [&] { v.data_ptr<double>(); });
  error("accessor rank", [&] { v.accessor<float, 2>(); });
  error("accessor type", [&] { v.accessor<int64_t, 1>(); });
  error("item", [&] { v.item(); });
  refused("item of bool", [&] { torch::tensor(300).item<uint8_t>(); });
  error("requires_grad of integers", [&] { torch::ones({1}, torch::kLong).requires_grad_(); });
  error("requires_grad option",
        [&] { torch::ones({1}, torch::dtype(torch::kLong).requires_grad(true)); });
  error("leaf in place", [&] { leaf.add_(1); });
  error("view of leaf in place", [&] { leaf[0] = 1; });
  error("backward of a vector", [&] { (leaf * 2).backward(); });
  refused("non-leaf requires_grad", [&] { (leaf * 2).requires_grad_(false); });
  error("detached backward", [&] { leaf.detach().sum().backward(); });
  error("hook", [&] { v.register_hook([](torch::Tensor g) { return g; }); });
  error("saved and changed", [&] {
    auto y = leaf.exp();
    y.add_(1);
    y.sum().backward();
  });
  error("device", [&] { torch::Device("gpu"); });
  error("device index", [&] { torch::Device("cuda:-1"); });
  error("pad", [&] { torch::constant_pad_nd(v, {1, 1, 1, 1}); });
  error("repeat", [&] { x.repeat({2}); });
  error("roll", [&] { x.roll({1, 2}, {0}); });
  error("flip", [&] { x.flip({0, 0}); });
  index_error("cumsum", [&] { x.cumsum(2); });
  error("diag", [&] { torch::ones({1, 1, 1}).diag(); });
  error("tril", [&] { v.tril(); });
  error("meshgrid", [&] { torch::meshgrid({x}); });
  error("cdist", [&] { torch::cdist(v, v); });
  error("searchsorted", [&] { torch::searchsorted(x, torch::ones({3, 1})); });
  error("lerp types", [&] { v.lerp(v.to(torch::kDouble), 0.5); });
  error("allclose types", [&] { torch::allclose(v, v.to(torch::kDouble)); });
  refused("equal types", [&] { torch::equal(v, v.to(torch::kDouble)); });
  error("bool of many", [&] {
    if (x.is_nonzero()) std::cout << "?";
  });
  error("set_data", [&] { leaf.set_data(i); });
  error("resize_ grad", [&] { leaf.resize_({4}); });
}
