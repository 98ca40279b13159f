// Numbers beyond the limits of a type, and what numbers of 16 bits and truths do beside others.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Utils.h>
#include <c10/util/accumulate.h>
#include <torch/torch.h>

#include <functional>
#include <iostream>
#include <limits>
#include <typeinfo>

using torch::Tensor;

namespace {

void overflows(const char* name, const std::function<void()>& f) {
  try {
    f();
    std::cout << name << ": nothing thrown\n";
  } catch (const std::runtime_error& error) {
    const std::string text = error.what();
    const size_t at = text.find("value cannot be converted to type ");
    const size_t end = text.find(" without overflow");
    const bool found = at != std::string::npos && end != std::string::npos;
    std::cout << name << ": " << (found ? text.substr(at, end - at) : text) << "\n";
  }
}

void of_conversions() {
  const int64_t large = int64_t{1} << 40;
  const Tensor ints = torch::ones({2}, torch::kInt), bytes = torch::ones({2}, torch::kByte);
  overflows("toInt", [&] { torch::Scalar(large).toInt(); });
  overflows("toChar", [&] { torch::Scalar(200).toChar(); });
  overflows("toByte", [&] { torch::Scalar(300).toByte(); });
  overflows("toShort", [&] { torch::Scalar(1e9).toShort(); });
  overflows("toFloat", [&] { torch::Scalar(1e300).toFloat(); });
  overflows("toLong", [&] { torch::Scalar(1e30).toLong(); });
  overflows("toInt of NaN", [&] { torch::Scalar(NAN).toInt(); });
  overflows("item", [&] { torch::full({1}, 1e10, torch::kDouble).item<int>(); });
  overflows("fill_", [&] { ints.clone().fill_(large); });
  overflows("full", [&] { torch::full({2}, 300, torch::kByte); });
  overflows("masked_fill", [&] { ints.masked_fill(ints > 0, large); });
  overflows("pow", [&] { ints.pow(large); });
  overflows("pow of bytes", [&] { bytes.pow(300); });
  overflows("pow of floats", [&] { torch::ones({2}).pow(1e300); });
  std::cout << ints + large << "\n" << bytes + 300 << "\n" << bytes - 2 << "\n";
}

template <class T>
void of_halves(T x) {
  const T least = std::numeric_limits<T>::denorm_min();
  std::cout << sizeof(x + 1) << sizeof(2 * x) << sizeof(x / int64_t{2}) << sizeof(x - x)
            << sizeof(x + 1.0f) << sizeof(1.0 - x) << sizeof(-x) << " " << static_cast<float>(x + 1)
            << " " << static_cast<float>(3 * x) << " " << static_cast<float>(1 - x) << " "
            << static_cast<float>(x / 3) << " " << static_cast<float>(least / 2) << " " << (x < 2)
            << "\n";
}

void of_truths() {
  const Tensor truths = torch::tensor({true, false, true}),
               others = torch::tensor({true, true, false});
  std::cout << torch::add(truths, others, 2) << "\n"
            << torch::add(truths, others, 0) << "\n"
            << torch::add(truths, true, 3) << "\n"
            << torch::add(truths, torch::tensor({1, 2, 3}), 2) << "\n"
            << truths.clone().add_(others, 2) << "\n";
}

void of_memory() {
  float data[6] = {1, 2, 3, 4, 5, 6};
  const Tensor x = torch::from_blob(data, {2, 3});
  try {
    x.resize_({5, 5});
    std::cout << "resized\n";
  } catch (const c10::Error& error) {
    std::cout << (std::string(error.what()).find("storage that is not resizable") !=
                  std::string::npos)
              << "\n";
  }
  std::cout << torch::from_blob(data, {2, 3}).resize_({3, 2}) << "\n";
}

void of_generators() {
  at::Generator one = at::detail::createCPUGenerator(7);
  auto* state = at::check_generator<at::CPUGeneratorImpl>(one);
  state->random();
  at::Generator other = one.clone();
  auto* copy = at::check_generator<at::CPUGeneratorImpl>(other);
  {
    std::lock_guard<std::mutex> lock(state->mutex_);
    std::cout << (state->random() == copy->random()) << (state->random64() == copy->random64())
              << (one.current_seed() == other.current_seed()) << "\n";
  }
  try {
    at::check_generator<at::CPUGeneratorImpl>(c10::nullopt);
  } catch (const c10::Error&) {
    std::cout << "no generator\n";
  }
}

}  // namespace

int main() {
  of_conversions();
  of_halves(c10::Half(0.3f));
  of_halves(c10::BFloat16(0.3f));
  of_truths();
  of_memory();
  of_generators();
  std::cout << c10::multiply_integers(std::vector<int>{2, 3, 7}) << " "
            << c10::sum_integers(torch::ones({2, 3}).sizes()) << "\n";
}
