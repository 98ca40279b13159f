// What messages of C++ say, in the words of Python: names, constants and named arguments.
#include "words.h"

#include <cctype>
#include <utility>

namespace gradus::python {
namespace {

using Word = std::pair<std::string_view, std::string_view>;

// Each begins with the beginning of a word. A longer one comes before what it begins with.
constexpr Word kWords[] = {
    {"autograd::AnomalyMode::set_enabled(true)", "gradus.autograd.set_detect_anomaly(True)"},
    {"serialize::load_pt", "gradus.load_pt"},
    {"torch::", "gradus."},
    {"NoGradGuard", "no_grad()"},
    {"Tensor()", "None"},
    {"std::nullopt", "None"},
    {"nullopt", "None"},
    {"linalg_", "linalg."},
    {"kBool", "gradus.bool"},
    {"kByte", "gradus.uint8"},
    {"kChar", "gradus.int8"},
    {"kShort", "gradus.int16"},
    {"kInt", "gradus.int32"},
    {"kLong", "gradus.int64"},
    {"kHalf", "gradus.float16"},
    {"kBFloat16", "gradus.bfloat16"},
    {"kFloat", "gradus.float32"},
    {"kDouble", "gradus.float64"},
    {"kComplexFloat", "gradus.complex64"},
    {"kComplexDouble", "gradus.complex128"},
    {"kStrided", "gradus.strided"},
    {"kCPU", "'cpu'"},
    {"kCUDA", "'cuda'"},
    {"kNone", "'none'"},
    {"kMean", "'mean'"},
    {"kSum", "'sum'"},
    {"kBatchMean", "'batchmean'"},
    {"kMax", "'max'"},
    {"kZeros", "'zeros'"},
    {"kConstant", "'constant'"},
    {"kReflect", "'reflect'"},
    {"kReplicate", "'replicate'"},
    {"kCircular", "'circular'"},
    {"kBorder", "'border'"},
    {"kReflection", "'reflection'"},
    {"kValid", "'valid'"},
    {"kSame", "'same'"},
    {"kNearest", "'nearest'"},
    {"kNearestExact", "'nearest-exact'"},
    {"kLinear", "'linear'"},
    {"kBilinear", "'bilinear'"},
    {"kBicubic", "'bicubic'"},
    {"kTrilinear", "'trilinear'"},
    {"kArea", "'area'"},
    {"kReLU", "'relu'"},
    {"kGELU", "'gelu'"},
};

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// The word of the table that a text begins with, as a whole: "kMean" does not begin "kMeans".
const Word* word_of(std::string_view text) {
  for (const Word& word : kWords) {
    const size_t size = word.first.size();
    if (text.starts_with(word.first) &&
        (text.size() == size || !in_word(text[size]) || !std::isalnum(word.first.back())))
      return &word;
  }
  return nullptr;
}

// " = true" and " = false" after the name of an argument.
constexpr Word kValues[] = {{" = true", "=True"}, {" = false", "=False"}};

}  // namespace

std::string in_python(std::string_view message) {
  std::string out;
  out.reserve(message.size());
  while (!message.empty()) {
    const bool begins = out.empty() || !in_word(out.back());
    const Word* word = begins ? word_of(message) : nullptr;
    if (!begins)
      for (const Word& value : kValues)
        if (message.starts_with(value.first) &&
            (message.size() == value.first.size() || !in_word(message[value.first.size()])))
          word = &value;
    if (word) {
      // "mode='kSum'" has the quotation marks.
      const bool quoted = out.ends_with('\'') && word->second.starts_with('\'');
      out += quoted ? word->second.substr(1, word->second.size() - 2) : word->second;
      message.remove_prefix(word->first.size());
    } else if (!begins && message.size() > 2 && message.starts_with("::") && in_word(message[2])) {
      out += '.';
      message.remove_prefix(2);
    } else {
      out += message.front();
      message.remove_prefix(1);
    }
  }
  return out;
}

}  // namespace gradus::python
