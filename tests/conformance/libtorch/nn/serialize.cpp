// Saving and loading: modules, optimizers, tensors, vectors of tensors, archives.
#include <torch/torch.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>

struct NetImpl : torch::nn::Module {
  NetImpl() {
    fc1 = register_module("fc1", torch::nn::Linear(2, 3));
    fc2 = register_module("fc2", torch::nn::Linear(torch::nn::LinearOptions(3, 1).bias(false)));
    scale = register_parameter("scale", torch::ones({1}));
    steps = register_buffer("steps", torch::zeros({1}, torch::kLong));
  }
  torch::Tensor forward(torch::Tensor x) { return fc2(torch::relu(fc1(x))) * scale; }

  torch::nn::Linear fc1{nullptr}, fc2{nullptr};
  torch::Tensor scale, steps;
};
TORCH_MODULE(Net);

// A module that adds to what is saved.
struct WithEpoch : torch::nn::Module {
  WithEpoch() { weight = register_parameter("weight", torch::zeros({2})); }
  void save(torch::serialize::OutputArchive& archive) const override {
    torch::nn::Module::save(archive);
    archive.write("epoch", torch::tensor({epoch}));
  }
  void load(torch::serialize::InputArchive& archive) override {
    torch::nn::Module::load(archive);
    torch::Tensor read;
    archive.read("epoch", read);
    epoch = read.item<int64_t>();
  }
  torch::Tensor weight;
  int64_t epoch = 0;
};

void train(Net& net, torch::optim::Optimizer& optimizer) {
  optimizer.zero_grad();
  net->forward(torch::arange(8.0).view({4, 2}) / 8).pow(2).mean().backward();
  optimizer.step();
}

int main() {
  char path[] = "/tmp/serialize-XXXXXX";
  close(mkstemp(path));
  {
    Net a, b;
    a->steps.fill_(12);
    torch::save(a, path);
    torch::load(b, path);
    const auto right = b->named_parameters();
    for (const auto& item : a->named_parameters())
      std::cout << item.key() << " " << torch::equal(item.value(), right[item.key()]) << " "
                << right[item.key()].requires_grad() << "\n";
    std::cout << "steps " << b->steps.item<int64_t>() << "\n";

    std::stringstream stream;
    std::shared_ptr<NetImpl> c = a.ptr(), d = std::make_shared<NetImpl>();
    torch::save(c, stream);
    torch::load(d, stream);
    std::cout << torch::equal(c->fc1->weight, d->fc1->weight) << "\n";

    torch::optim::SGD first(a->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
    torch::optim::SGD second(b->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
    train(a, first);
    torch::save(a, path);
    torch::load(b, path, torch::kCPU);
    torch::save(first, path);
    torch::load(second, path);
    for (int i = 0; i < 3; ++i) train(a, first), train(b, second);
    std::cout << torch::equal(a->fc1->weight, b->fc1->weight) << " "
              << torch::equal(a->scale, b->scale) << "\n";
    std::cout << second.state().size() << "\n";
  }
  {
    auto x = torch::arange(6).view({2, 3}).t();
    torch::save(x, path);
    torch::Tensor y;
    torch::load(y, path);
    std::cout << y << "\n";
    auto z = torch::zeros({4}), handle = z;
    torch::save(torch::ones({2, 2}), path);
    torch::load(z, path);
    std::cout << z << "\n" << handle << "\n";

    std::vector<torch::Tensor> many = {torch::ones({2}), torch::zeros({0}), torch::tensor(3.5)};
    torch::save(many, path);
    std::vector<torch::Tensor> got;
    torch::load(got, path);
    torch::load(got, path);
    for (const auto& t : got) std::cout << t.sizes() << " " << t.sum().item<float>() << "\n";
  }
  {
    torch::serialize::OutputArchive out, inner;
    inner.write("x", torch::full({2}, 4));
    out.write("inner", inner);
    out.write("y", torch::ones({1}), /*is_buffer=*/true);
    std::ostringstream written;
    out.save_to(written);
    std::istringstream stream(written.str());
    torch::serialize::InputArchive in, found;
    in.load_from(stream);
    torch::Tensor x, none;
    in.read("inner", found);
    found.read("x", x);
    std::cout << x << in.try_read("none", none) << in.try_read("y", none, true) << none
              << in.try_read("other", found) << "\n";
    try {
      in.read("none", x);
    } catch (const c10::Error&) {
      std::cout << "refused\n";
    }
  }
  {
    auto a = std::make_shared<WithEpoch>(), b = std::make_shared<WithEpoch>();
    a->epoch = 7;
    torch::nn::Sequential left(torch::nn::Linear(1, 1)), right(torch::nn::Linear(1, 1));
    left->register_module("own", a);
    right->register_module("own", b);
    torch::save(left, path);
    torch::load(right, path);
    std::cout << b->epoch << "\n";
  }
  std::remove(path);
  try {
    torch::Tensor x;
    torch::load(x, path);
  } catch (const c10::Error&) {
    std::cout << "refused\n";
  }
}
