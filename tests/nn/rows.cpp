// The rows of all families (rows.h).
#include "tests/nn/rows.h"

namespace gradus::test {

namespace F = nn::functional;

const std::vector<ModuleFamily>& module_families() {
  static const std::vector<ModuleFamily> all = {
      {"activation",
       {
#include "tests/nn/rows/activation.def"
       }},
      {"attention",
       {
#include "tests/nn/rows/attention.def"
       }},
      {"basic",
       {
#include "tests/nn/rows/basic.def"
       }},
      {"channel",
       {
#include "tests/nn/rows/channel.def"
       }},
      {"image",
       {
#include "tests/nn/rows/image.def"
       }},
      {"loss",
       {
#include "tests/nn/rows/loss.def"
       }},
      {"norm",
       {
#include "tests/nn/rows/norm.def"
       }},
      {"sequence",
       {
#include "tests/nn/rows/sequence.def"
       }},
      {"window",
       {
#include "tests/nn/rows/window.def"
       }},
  };
  return all;
}

}  // namespace gradus::test
