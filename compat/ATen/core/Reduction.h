// at::Reduction: how a loss becomes one number, as functions of libtorch below the modules take it.
#pragma once

namespace at::Reduction {

// END: the number of the others.
enum Reduction { None, Mean, Sum, END };

}  // namespace at::Reduction
