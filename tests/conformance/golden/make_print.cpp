// Writes print.txt, what libtorch prints for the tensors of print_cases.h (libtorch-dev 1.13.1):
//
//   g++ -std=c++17 -I. make_print.cpp -I/usr/include/torch/csrc/api/include -ltorch -ltorch_cpu
//   -lc10
//   ./a.out > print.txt
#include <torch/torch.h>

#include <iostream>

namespace lib = torch;
#include "print_cases.h"

int main() {
  std::cout << "# What libtorch prints, written by make_print.cpp.\n";
  for (const auto& [name, text] : print_cases::printed())
    std::cout << "=== " << name << '\n' << text << '\n';
}
