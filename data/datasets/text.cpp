// Characters of UTF-8, and pieces of a text.
#include "gradus/data/datasets/text.h"

#include <filesystem>
#include <set>

#include "gradus/autograd/functions.h"
#include "gradus/data/readers/byte_reader.h"
#include "gradus/tensor/base/utf8.h"
#include "gradus/tensor/factories.h"

namespace gradus::data {

namespace {

template <class F>
void for_each_character(const char* op, std::string_view text, const F& f) {
  for (size_t at = 0; at < text.size();) {
    const size_t length = utf8_length(text.substr(at));
    check(length > 0, op, ": byte ", at,
          " of the text begins no character of UTF-8; convert it, as by iconv -t UTF-8");
    f(text.substr(at, length));
    at += length;
  }
}

}  // namespace

std::string read_text(const std::string& path) {
  if (std::filesystem::is_directory(path)) {
    std::set<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(path))
      if (entry.is_regular_file() && !entry.is_symlink()) files.insert(entry.path().string());
    check<Error>(!files.empty(), "read_text: ", path,
                 " is a folder without a file; name one that has some");
    std::string text;
    for (const std::string& file : files) text += read_text(file);
    return text;
  }
  const std::vector<uint8_t> bytes = inflated(read_file("read_text", path), "read_text: " + path);
  return {bytes.begin(), bytes.end()};
}

CharVocabulary::CharVocabulary(std::string_view text) {
  std::set<std::string, std::less<>> different;
  for_each_character("CharVocabulary", text, [&](std::string_view character) {
    if (!different.contains(character)) different.emplace(character);
  });
  characters_.assign(different.begin(), different.end());
  for (const auto& character : characters_)
    numbers_.emplace(character, static_cast<int64_t>(numbers_.size()));
}

Tensor CharVocabulary::encode(std::string_view text) const {
  std::vector<int64_t> numbers;
  numbers.reserve(text.size());
  for_each_character("CharVocabulary::encode", text, [&](std::string_view character) {
    const auto found = numbers_.find(character);
    check(found != numbers_.end(), "CharVocabulary::encode: the vocabulary of ", size(),
          " characters lacks '", character, "'; make it of all of the text");
    numbers.push_back(found->second);
  });
  return tensor(numbers, kLong);
}

std::string CharVocabulary::decode(const Tensor& numbers) const {
  const Tensor here = numbers.to(TensorOptions(kCPU)).to(kLong).contiguous();
  std::string out;
  for (int64_t i = 0; i < here.numel(); ++i) {
    const int64_t number = here.data_ptr<int64_t>()[i];
    check<IndexError>(number >= 0 && number < size(), "CharVocabulary::decode: number ", number,
                      " of a vocabulary of ", size(), " characters; give numbers of encode()");
    out += characters_[static_cast<size_t>(number)];
  }
  return out;
}

namespace datasets {

TextDataset::TextDataset(Tensor tokens, int64_t length, std::optional<int64_t> stride)
    : tokens_(std::move(tokens)), length_(length), stride_(stride.value_or(length)) {
  check(length_ > 0 && stride_ > 0, "TextDataset: length = ", length_, " and stride = ", stride_,
        ", expected both above 0");
  check(tokens_.defined() && tokens_.dim() == 1,
        "TextDataset: tokens is not one row of numbers; use flatten()");
  check(tokens_.size(0) > length_, "TextDataset: ", tokens_.size(0),
        " tokens, expected more than length = ", length_,
        "; give a longer text or a smaller length");
}

Example<> TextDataset::get(size_t index) {
  check<IndexError>(index < *size(), "TextDataset: index ", index, " of ", *size(),
                    " pieces; count from 0");
  const int64_t begin = static_cast<int64_t>(index) * stride_;
  return {tokens_.narrow(0, begin, length_), tokens_.narrow(0, begin + 1, length_)};
}

std::optional<size_t> TextDataset::size() const {
  return static_cast<size_t>((tokens_.size(0) - length_ - 1) / stride_ + 1);
}

}  // namespace datasets
}  // namespace gradus::data
