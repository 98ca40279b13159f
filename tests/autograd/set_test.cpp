// Tensors that show other memory, and views that the graph takes for tensors of their own.
#include "gradus/gradus.h"
#include "tests/support.h"

namespace gradus {
namespace {

TEST(Set, ShowsTheMemoryOfAnotherTensor) {
  const Tensor source = tensor({1.0, 2.0, 3.0, 4.0, 5.0, 6.0}).view({2, 3}).t();
  Tensor x = zeros({4});
  const Tensor same = x, other = x.clone();
  EXPECT_TRUE(x.set_(source).is_same(same));
  EXPECT_TRUE(x.is_set_to(source) && same.is_set_to(source));
  EXPECT_FALSE(x.is_set_to(source.t()) || x.is_set_to(source.clone()) || x.is_set_to(source[0]));
  x.fill_(7);
  expect_values(source, std::vector<double>(6, 7), 0);
  expect_values(other, {0, 0, 0, 0}, 0);
  x.set_(arange(6, kFloat), 1, {2, 2});
  expect_values(x, {1, 2, 3, 4}, 0);
  x.set_(arange(6, kFloat), 0, {2, 2}, {1, 3});
  expect_values(x, {0, 3, 1, 4}, 0);
  x.set_(arange(6, kFloat), 5, {});
  expect_values(x, {5}, 0);
  EXPECT_EQ(x.dim(), 0);
  x.set_();
  EXPECT_EQ(x.sizes(), IntArrayRef({0}));
}

TEST(Set, LeavesTheBaseOfAViewAlone) {
  const Tensor base = ones({4});
  Tensor view = base.narrow(0, 1, 2);
  view.set_(full({3}, 2.0));
  EXPECT_FALSE(view.is_view());
  base.requires_grad_();
  EXPECT_FALSE(view.requires_grad());
  expect_values(base, {1, 1, 1, 1}, 0);
}

TEST(Set, ChangesNothingAfterAnError) {
  Tensor x = zeros({2});
  const Tensor leaf = ones({2}, requires_grad());
  expect_error<Error>([&] { x.set_(leaf); }, "set_: source requires grad");
  expect_error<Error>([&] { leaf.detach().requires_grad_().set_(x); },
                      "set_: the tensor requires grad");
  expect_error<TypeError>([&] { x.set_(ones({2}, kDouble)); }, "set_: source has dtype float64");
  expect_error<ValueError>([&] { x.set_(ones({2}), 1, {2}); }, "need a storage of 3");
  expect_values(x, {0, 0}, 0);
}

TEST(AsStrided, InPlaceKeepsTheHistory) {
  const Tensor leaf = arange(6, kFloat).requires_grad_();
  Tensor x = leaf * 2;
  x.as_strided_({2, 2}, {2, 1}, 1);
  expect_values(x, {2, 4, 6, 8}, 0);
  EXPECT_EQ(x.storage_offset(), 1);
  (x * tensor({{1.0, 2.0}, {3.0, 4.0}})).sum().backward();
  expect_values(leaf.grad(), {0, 2, 4, 6, 8, 0}, 0);
  expect_error<ValueError>([&] { x.as_strided_({9}, {1}); }, "need a storage");
  expect_values(x, {2, 4, 6, 8}, 0);
}

TEST(AsStridedScatter, FollowsTheGeometryOfMemory) {
  // The memory holds 0, 1, 2, 3, 4, 5. Elements outside of self have no place in the result.
  const Tensor x = arange(6, kDouble).view({2, 3}).t().narrow(0, 1, 2).detach().requires_grad_();
  const Tensor src = tensor({10.0, 20.0, 30.0}, kDouble).requires_grad_();
  const Tensor y = as_strided_scatter(x, src, {3}, {2}, 0);
  expect_values(y, {1, 30, 20, 5}, 0);
  y.backward(tensor({{1.0, 2.0}, {3.0, 4.0}}, kDouble));
  expect_values(src.grad(), {0, 3, 2}, 0);
  expect_values(x.grad(), {1, 0, 0, 4}, 0);
}

TEST(UnsafeSplit, GivesTensorsThatMayBeChanged) {
  for (const auto& parts : {+[](const Tensor& x) { return x.unsafe_split(2); },
                            +[](const Tensor& x) {
                              return x.unsafe_split_with_sizes({2, 1});
                            },
                            +[](const Tensor& x) { return x.unsafe_chunk(2); }}) {
    const Tensor leaf = tensor({1.0, 2.0, 3.0}).requires_grad_();
    Tensors pieces = parts(leaf * 1);
    EXPECT_FALSE(pieces[0].is_view());
    pieces[0].mul_(5);
    pieces[1].add_(pieces[0].sum());
    expect_values(pieces[1], {18}, 0);
    (pieces[0].sum() + pieces[1].sum()).backward();
    expect_values(leaf.grad(), {10, 10, 1}, 0);
  }
}

TEST(ViewCopies, ShareNoMemory) {
  const Tensor x = ones({2, 4});
  for (const Tensors& parts :
       {split_copy(x, 2, 1), split_with_sizes_copy(x, {1, 3}, 1), unbind_copy(x)})
    for (const Tensor& part : parts) EXPECT_FALSE(part.is_alias_of(x) || part.is_view());
}

}  // namespace
}  // namespace gradus
