// A program with mistakes that users make. Each stands on a line that is marked; the test compiles
// the program, and looks for an error at each of these lines (mistakes.sh).
#include "gradus/nn/nn.h"

using namespace gradus;

struct NetImpl : nn::Module {
  NetImpl() {}  // mistake: fc is not {nullptr}
  nn::Linear fc;
};

int main() {
  nn::Linear(784, "10");                // mistake: a text
  nn::Linear(784, 10, 1);               // mistake: bias is a bool
  nn::Conv2d(3, 8, 3, 1, 0.5);          // mistake: padding is a whole number
  nn::MaxPool2d(2, 2, 0, 1, true);      // mistake: return_indices or ceil_mode
  nn::Linear(nn::LinearOptions(784));   // mistake: out_features is missing
  nn::MSELoss(ones({1}));               // mistake: a tensor
  nn::Sequential(nn::Linear(3, 4), 5);  // mistake: 5 is no module
}
