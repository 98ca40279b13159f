// Reads C++ by its words: enough for the head of a kernel, and for the namespaces around it.
#include "gradus/cuda/rtc/signature.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>

namespace gradus::cuda::rtc {

namespace {

struct Word {
  std::string_view text;
  size_t begin;
};

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool is_name(std::string_view word) {
  return is_name(word[0]) && !std::isdigit(static_cast<unsigned char>(word[0]));
}

// The end of a comment, a string, a character or a line of the preprocessor that begins at `at`;
// `at` itself where none does.
size_t skipped(std::string_view text, size_t at) {
  const auto after = [&](std::string_view end, size_t from) {
    const size_t found = text.find(end, from);
    return found == std::string_view::npos ? text.size() : found + end.size();
  };
  if (text.substr(at, 2) == "//") return after("\n", at);
  if (text.substr(at, 2) == "/*") return after("*/", at + 2);
  if (text[at] == '#') {
    size_t end = after("\n", at);
    while (end < text.size() && end >= 2 && text[end - 2] == '\\') end = after("\n", end);
    return end;
  }
  if (text[at] == '"' || text[at] == '\'') {
    size_t end = at + 1;
    while (end < text.size() && text[end] != text[at]) end += text[end] == '\\' ? 2 : 1;
    return std::min(end + 1, text.size());
  }
  return at;
}

std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> out;
  for (size_t at = 0; at < text.size();) {
    if (const size_t end = skipped(text, at); end > at) {
      at = end;
      continue;
    }
    if (std::isspace(static_cast<unsigned char>(text[at]))) {
      ++at;
      continue;
    }
    size_t end = at + 1;
    if (is_name(text[at]))
      while (end < text.size() && is_name(text[end])) ++end;
    else if (text.substr(at, 2) == "::")
      ++end;
    out.push_back({text.substr(at, end - at), at});
    at = end;
  }
  return out;
}

// The place behind the bracket that closes the one at `open`.
size_t behind(const std::vector<Word>& words, size_t open) {
  int depth = 0;
  for (size_t i = open; i < words.size(); ++i) {
    if (words[i].text == "(" || words[i].text == "<") ++depth;
    if ((words[i].text == ")" || words[i].text == ">") && --depth == 0) return i + 1;
  }
  return words.size();
}

const std::set<std::string_view> kQualifiers{"const",      "volatile", "__restrict__",
                                             "__restrict", "restrict", "__grid_constant__",
                                             "struct",     "typename", "register"};
const std::set<std::string_view> kBuiltIn{"void",  "bool", "char", "signed", "unsigned",
                                          "short", "int",  "long", "float",  "double"};

// The words of a built-in type in one form: "long long" for long long int.
std::string built_in(const std::vector<std::string_view>& words) {
  const auto has = [&](std::string_view word) { return std::ranges::count(words, word); };
  const std::string sign = has("unsigned") ? "unsigned " : "";
  if (has("char")) return has("signed") ? "signed char" : sign + "char";
  if (has("short")) return sign + "short";
  if (has("long") > 1) return sign + "long long";
  if (has("double")) return "double";
  if (has("long")) return sign + "long";
  if (has("int") || has("signed") || has("unsigned")) return sign + "int";
  return std::string(words.front());
}

// REQUIRES: first < last.
Parameter parameter_of(std::string_view text, const std::vector<Word>& words, size_t first,
                       size_t last) {
  Parameter out{};
  for (size_t i = first; i < last; ++i)
    if (words[i].text == "=") last = i;  // a default
  const size_t end = words[last - 1].begin + words[last - 1].text.size();
  out.text = text.substr(words[first].begin, end - words[first].begin);
  std::vector<std::string_view> built_ins;
  for (size_t i = first; i < last; ++i) {
    const std::string_view word = words[i].text;
    if (word == "const" && !out.is_pointer) out.is_const = true;
    if (word == "*" || word == "[") out.is_pointer = true;
    if (kBuiltIn.contains(word)) built_ins.push_back(word);
    if (!is_name(word) || kQualifiers.contains(word) || kBuiltIn.contains(word)) continue;
    if (built_ins.empty() && out.type.empty()) {
      out.type = word;
      for (; i + 1 < last && (words[i + 1].text == "::" || words[i + 1].text == "<");) {
        const size_t next = words[i + 1].text == "<" ? behind(words, i + 1) : i + 3;
        for (++i; i < next; ++i) out.type += words[i].text;
        --i;
      }
    } else {
      out.name = word;
    }
  }
  if (!built_ins.empty()) out.type = built_in(built_ins);
  out.known = known_type(out.type);
  return out;
}

std::vector<Parameter> parameters_of(std::string_view text, const std::vector<Word>& words,
                                     size_t open, size_t close) {
  std::vector<Parameter> out;
  size_t first = open + 1;
  int depth = 0;
  for (size_t i = first; i <= close; ++i) {
    const std::string_view word = words[i].text;
    if ((word == "," && depth == 0) || i == close) {
      if (i > first) out.push_back(parameter_of(text, words, first, i));
      first = i + 1;
    }
    if (word == "(" || word == "<" || word == "[") ++depth;
    if (word == ")" || word == ">" || word == "]") --depth;
  }
  const bool is_void = out.size() == 1 && out[0].type == "void" && !out[0].is_pointer;
  return is_void ? std::vector<Parameter>{} : out;
}

// The kernel whose head begins after __global__, at i, which is left behind its parameters.
std::optional<Signature> read_kernel(std::string_view text, const std::vector<Word>& words,
                                     size_t& i) {
  for (; i + 1 < words.size() && words[i].text != ";" && words[i].text != "{"; ++i) {
    if (words[i + 1].text != "(" || !is_name(words[i].text)) continue;
    const size_t close = behind(words, i + 1) - 1;
    if (close >= words.size() || words[close].text != ")") return {};
    const std::string_view name = words[i].text;
    const bool is_attribute = name.starts_with("__") && close + 1 < words.size() &&
                              words[close + 1].text != "{" && words[close + 1].text != ";";
    const size_t open = i + 1;
    i = close;
    if (is_attribute) continue;  // __launch_bounds__(256)
    return Signature{std::string(name), false, parameters_of(text, words, open, close)};
  }
  return {};
}

}  // namespace

std::vector<Signature> kernels_in(std::string_view text) {
  std::vector<Signature> out;
  const std::vector<Word> words = words_of(text);
  std::vector<std::string> scopes;
  std::string next_scope;
  bool in_template = false;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i].text;
    if (word == "namespace")
      while (i + 1 < words.size() && words[i + 1].text != "{" && words[i + 1].text != ";")
        next_scope += words[++i].text;
    if (word == "template") in_template = true;
    if (word == "{") scopes.push_back(next_scope.empty() ? "" : next_scope + "::");
    if (word == "}" && !scopes.empty()) scopes.pop_back();
    if (word == "{" || word == "}" || word == ";") next_scope.clear(), in_template = false;
    if (word != "__global__") continue;
    if (auto kernel = read_kernel(text, words, ++i)) {
      kernel->is_template = in_template;
      std::string around;
      for (const std::string& scope : scopes) around += scope;
      kernel->name = around + kernel->name;
      const auto is_same = [&](const Signature& each) { return each.name == kernel->name; };
      if (std::ranges::none_of(out, is_same)) out.push_back(std::move(*kernel));
    }
    if (i < words.size() && words[i].text == "{") --i;
  }
  return out;
}

}  // namespace gradus::cuda::rtc
