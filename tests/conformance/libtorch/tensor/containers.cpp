// Containers and lists in a stream.
#include <torch/torch.h>

#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

int main() {
  std::cout << std::vector<int64_t>{1, 2, 3} << "\n" << torch::ones({2, 3}).sizes() << "\n";
  std::cout << std::vector<double>{0.5, -1} << "|" << std::vector<std::string>{} << "|"
            << std::vector<std::string>{"a", "bc"} << "\n";
  std::cout << std::set<int>{3, 1} << " " << std::map<std::string, int>{{"x", 1}, {"y", 2}} << "\n";
  std::cout << at::IntArrayRef({4, 5}) << " " << torch::ones({2, 3}).sizes().vec() << "\n";
  std::cout << TORCH_VERSION_MAJOR << "." << TORCH_VERSION_MINOR << "\n";
}
