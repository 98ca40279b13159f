// Text for models of characters: a vocabulary, and a data set of pieces of a text.
//
//   const std::string text = data::read_text("book.txt");
//   const data::CharVocabulary vocabulary(text);
//   const data::TextDataset pieces(vocabulary.encode(text), 256);
//   data::DataLoader loader(pieces, data::DataLoaderOptions(64).shuffle(true));
//   for (auto& [x, y] : loader) ...  // int64 (64, 256) each; y is one character ahead of x
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gradus/data/datasets/base.h"

namespace gradus::data {

// The bytes of a file, plain or gzip. A folder gives the bytes of its files in the order of their
// names, without folders in it and symbolic links. Errors: Error where it cannot be read, and for a
// folder without a file; ValueError where gzip data are corrupt.
std::string read_text(const std::string& path);

// Numbers for the characters of a text, by their code points: those of UTF-8.
class CharVocabulary {
 public:
  // Of every character that the text holds. Errors: ValueError for text that is no UTF-8, with the
  // byte.
  explicit CharVocabulary(std::string_view text);

  int64_t size() const { return static_cast<int64_t>(characters_.size()); }
  // All characters in the order of their numbers. CharVocabulary(vocabulary.text()) has the same
  // numbers, so a file of this text keeps the vocabulary.
  std::string text() const {
    std::string out;
    for (const std::string& character : characters_) out += character;
    return out;
  }
  // int64 (characters). Errors: ValueError for a character that the vocabulary lacks.
  Tensor encode(std::string_view text) const;
  // The text of numbers, of any shape. Errors: IndexError for a number that no character has.
  std::string decode(const Tensor& numbers) const;

 private:
  std::vector<std::string> characters_;
  std::map<std::string, int64_t, std::less<>> numbers_;
};

namespace datasets {

// Pieces of `length` tokens that begin every `stride` tokens (default: length), and the same ones a
// token later as targets.
class TextDataset : public Dataset<TextDataset> {
 public:
  // Errors: ValueError unless tokens are one row of more than `length`, and lengths are positive.
  TextDataset(Tensor tokens, int64_t length, std::optional<int64_t> stride = std::nullopt);

  Example<> get(size_t index) override;
  std::optional<size_t> size() const override;

 private:
  Tensor tokens_;
  int64_t length_, stride_;
};

}  // namespace datasets

using datasets::TextDataset;

}  // namespace gradus::data
