// Views and strides, as a test of a tensor library would try them.
#include <torch/torch.h>

#include <iostream>

static void show(const char* what, const torch::Tensor& x) {
  std::cout << what << ": " << x.sizes() << " " << x.strides() << " +" << x.storage_offset() << " "
            << x.is_contiguous() << " | ";
  const auto flat = x.reshape(-1).to(torch::kDouble).contiguous();
  for (int64_t i = 0; i < std::min<int64_t>(flat.numel(), 12); ++i)
    std::cout << flat.data_ptr<double>()[i] << " ";
  std::cout << "\n";
}

torch::Tensor& twice(torch::Tensor& x) { return x.mul_(2); }

int main() {
  auto x = torch::arange(24).reshape({2, 3, 4});
  show("view", x.view({4, -1}));
  show("view of one size", x.view(-1));
  show("transpose", x.transpose(0, 2));
  show("permute", x.permute({2, 0, 1}));
  show("movedim", x.movedim({0}, {2}));
  show("select", x.select(-1, 2));
  show("narrow", x.narrow(1, 1, 2));
  show("slice", x.slice(2, 0, 4, 2));
  show("slice past the end", x.slice(2, -3, 100));
  show("slice of nothing", x.slice(0, 2, 1));
  show("diagonal", x.diagonal(0, 1, 2));
  show("diagonal below", x.diagonal(-1, 0, 2));
  show("unfold", torch::arange(7).unfold(0, 3, 2));
  show("expand", torch::arange(3).expand({2, 3}));
  show("expand of one", torch::ones({2, 1}).expand({-1, 3}));
  show("broadcast_to", torch::ones({3, 1}).broadcast_to({2, 3, 2}));
  show("as_strided", x.as_strided({3, 3}, {1, 2}, 5));
  show("squeeze", torch::ones({1, 2, 1}).squeeze());
  show("squeeze a dim", torch::ones({1, 2, 1}).squeeze(-1));
  show("unsqueeze", torch::arange(2).unsqueeze(-1));
  show("flatten", x.flatten(1));
  show("unflatten", x.unflatten(2, {2, 2}));
  show("t", x[0].t());
  show("mT", x.mT());
  show("numpy_T", x.numpy_T());
  show("view_as", x.view_as(torch::ones({6, 4})));
  show("flip", torch::arange(4).flip(0));
  show("fliplr", x[0].fliplr());
  show("rot90", x[0].rot90(1, {0, 1}));
  show("roll", torch::arange(5).roll(2));
  show("roll dims", x.roll({1, -1}, {1, 2}));
  show("repeat", torch::arange(2).repeat({2, 2}));
  show("repeat_interleave", torch::arange(3).repeat_interleave(2));
  show("repeat_interleave counts", torch::repeat_interleave(torch::tensor({1, 0, 2})));
  show("tile", torch::arange(2).tile({2}));
  show("view of bits", torch::ones({2}).view(torch::kInt32));
  show("real bytes", torch::ones({1}, torch::kInt32).view(torch::kUInt8));
  show("empty_strided", torch::empty_strided({2, 3}, {1, 2}).zero_());
  show("contiguous", x[0].t().contiguous());
  show("new_zeros", x.new_zeros({2}, torch::kFloat));
  show("kron", torch::kron(torch::arange(2), torch::arange(3)));
  show("block_diag", torch::block_diag({torch::ones({1, 2}), torch::ones({2, 1})}));
  show("cartesian_prod", torch::cartesian_prod({torch::arange(2), torch::arange(3)}));
  show("combinations", torch::combinations(torch::arange(4)));
  show("tril_indices", torch::tril_indices(3, 3, -1));
  show("triu_indices", torch::triu_indices(2, 3, 1));

  auto y = torch::zeros({2, 3});
  auto row = y[1], column = y.index({"...", 0});
  row.fill_(5);
  column.add_(1);
  twice(y).sub_(1);
  show("written through views", y);
  std::cout << row.is_alias_of(y) << y.is_same(twice(y)) << (row._base().is_same(y)) << y._version()
            << row._version() << "\n";
  y.t_();
  show("t_", y);
  y.resize_({2, 2});
  show("resize_", y.zero_());
  y.squeeze_().unsqueeze_(0);
  show("unsqueeze_", y);
  auto z = torch::arange(6);
  z.set_data(torch::arange(4));
  show("set_data", z);
  auto parts = x.split(2, 2);
  show("split", parts[1]);
  show("split_with_sizes", x.split_with_sizes({1, 3}, -1)[1]);
  show("chunk", x.chunk(3, 1).back());
  show("tensor_split", torch::arange(7).tensor_split(3)[0]);
  show("unbind", x.unbind(1)[2]);
  show("hsplit", x[0].hsplit(2)[1]);
  show("stack", torch::stack({torch::arange(2), torch::arange(2)}, 1));
  show("cat of types", torch::cat({torch::ones({1}), torch::arange(2)}));
  show("hstack", torch::hstack({torch::arange(2), torch::arange(1)}));
  show("vstack", torch::vstack({torch::arange(2), torch::arange(2)}));
  show("dstack", torch::dstack({torch::arange(2), torch::arange(2)}));
  for (const auto& g : torch::meshgrid({torch::arange(2), torch::arange(3)}, "xy")) show("grid", g);
  std::cout << (x.sizes() == std::vector<int64_t>{2, 3, 4})
            << (x.sizes() == torch::ones({2}).sizes()) << (x.sizes() != y.sizes()) << x.sizes()[1]
            << x.sizes().front() << x.sizes().size() << "\n";
  for (auto it = x.sizes().rbegin(); it != x.sizes().rend(); ++it) std::cout << *it << ",";
  auto reversed = x.sizes().vec();
  std::reverse(reversed.begin(), reversed.end());
  show("by a vector of sizes", x.reshape(reversed));
  std::cout << x.sizes().slice(1) << x.sizes().at(2) << "\n";
}
