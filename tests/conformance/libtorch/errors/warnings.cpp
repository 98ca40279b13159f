// Warnings, taken by a handler of the program's own.
#include <torch/torch.h>

#include <iostream>
#include <string>
#include <vector>

namespace {

struct Notes : c10::WarningHandler {
  Notes() : before(c10::Warning::get_warning_handler()) { c10::Warning::set_warning_handler(this); }
  ~Notes() override { c10::Warning::set_warning_handler(before); }
  void process(const c10::SourceLocation&, const std::string& message, const bool) override {
    messages.push_back(message);
  }
  size_t with(const std::string& words) const {
    size_t count = 0;
    for (const std::string& message : messages) count += message.find(words) != std::string::npos;
    return count;
  }

  c10::WarningHandler* before;
  std::vector<std::string> messages;
};

void once() { TORCH_WARN_ONCE("only ", 1, " time"); }

}  // namespace

int main() {
  {
    Notes notes;
    for (const auto i : c10::irange(3)) {
      TORCH_WARN("number ", i);
      once();
    }
    std::cout << notes.with("number 2") << ' ' << notes.with("number") << ' '
              << notes.with("only 1 time") << '\n';
    c10::Warning::WarnAlways always;
    once();
    std::cout << notes.with("only 1 time") << '\n';
  }
  {
    Notes notes;
    const auto x = torch::ones({2}, torch::requires_grad());
    const auto y = x * 2;
    std::cout << y.grad().defined() << notes.with("is not a leaf Tensor");
    y.retain_grad();
    std::cout << y.grad().defined() << notes.with("is not a leaf Tensor");
    std::cout << x.grad().defined() << notes.messages.size() << '\n';
  }
  {
    Notes notes;
    const auto x = torch::arange(3.);
    x.index({torch::tensor({1, 0, 1}, torch::kByte)});
    std::cout << notes.with("indexing with dtype torch.uint8 is now deprecated");
    x.index({torch::tensor({true, false, true})});
    std::cout << notes.messages.size() << '\n';
  }
  {
    c10::Warning::WarnAlways always;
    Notes notes;
    const auto z = torch::ones({2}, torch::dtype(torch::kComplexFloat).requires_grad(true));
    z.to(torch::kBool);
    z.to(torch::kComplexDouble);
    at::real(z).to(torch::kDouble);
    z.abs().sum().backward();
    std::cout << notes.messages.size();
    z.to(torch::kFloat);
    torch::ones({2}).copy_(z.detach());
    std::cout << notes.with("Casting complex values to real discards the imaginary part") << '\n';
  }
  {
    Notes notes;
    auto out = torch::empty({5}), fits = torch::empty({2}), none = torch::empty({0});
    const auto x = torch::ones({2});
    torch::add_out(fits, x, x);
    torch::add_out(none, x, x);
    std::cout << notes.messages.size();
    torch::add_out(out, x, x);
    std::cout << notes.with("with one or more elements was resized") << '\n';
  }
  {
    c10::Warning::WarnAlways always;
    Notes notes;
    const auto x = torch::ones({2}, torch::requires_grad());
    (x * x).sum().backward({}, c10::nullopt, true);
    std::cout << notes.with("Using backward() with create_graph=True") << '\n';
  }
  {
    const torch::autograd::DetectAnomalyGuard anomaly;
    Notes notes;
    const auto x = torch::zeros({1}, torch::requires_grad());
    try {
      (x.sqrt() * 0).backward();
      std::cout << "no error\n";
    } catch (const std::exception&) {
      std::cout << notes.with("Traceback of forward call that caused the error") << '\n';
    }
  }
}
