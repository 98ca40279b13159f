// Module 8, task 8.6: a language model that is read from a file, and answers.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/language.h"

namespace course {

// A file of the format safetensors. Its first 8 bytes are a number without a sign, the lowest byte
// first: the length of the header. Then come the header, which is text, and the data.
struct ModelFile {
  virtual long size() const = 0;
  // `count` bytes from byte `start` on. Errors: std::out_of_range where the file has no such bytes.
  virtual std::string read(long start, long count) = 0;

 protected:
  ~ModelFile() = default;
};

// A tensor of a file: its bytes are the bytes begin ... end - 1 of the data.
struct Entry {
  std::string name, dtype;
  Dims shape;
  long begin = 0, end = 0;
};
struct Header {
  long data = 0;  // the byte of the file at which the data begin
  std::vector<Entry> entries;
  std::map<std::string, std::string> metadata;

  // Errors: std::invalid_argument where there is no tensor of this name; where the metadata have no
  // whole number of this name.
  const Entry& entry(const std::string& name) const;
  long number(const std::string& name) const;
};
// What the text of a header says, in its order, with data = 0. It is as the text has it: sizes and
// places are 0 or more, and nothing else is certain. Errors: std::invalid_argument where the text
// is none of a header.
Header parse_header(const std::string& text);

// A matrix as task 8.5 has it: q is (rows, columns), scales (rows, columns / gpu::kGroup).
struct Int8Matrix {
  std::vector<std::int8_t> q;
  std::vector<float> scales;
  long rows = 0, columns = 0;
};

// What a model computes with. Matrices stay where it computes, and have numbers.
struct Blocks {
  // Moves a matrix there, and returns its number.
  virtual int put(const Int8Matrix& matrix) = 0;
  // A matrix times x: tasks 8.5. All others have the names of the functions of task 8.4.
  virtual std::vector<float> product(int matrix, const std::vector<float>& x) = 0;
  virtual std::vector<float> rms_norm(const std::vector<float>& x,
                                      const std::vector<float>& weight) = 0;
  // x has `heads` heads of equal size, and stands at place `place`.
  virtual std::vector<float> rope(const std::vector<float>& x, int heads, long place) = 0;
  virtual std::vector<float> swiglu(const std::vector<float>& x) = 0;  // the gate is the left half
  // Of the queries of one token, over all rows of the cache.
  virtual std::vector<float> grouped_attention(const std::vector<float>& q, const KvCache& cache,
                                               int heads, int groups) = 0;

 protected:
  ~Blocks() = default;
};

// Norms of a layer, the numbers of its matrices, and what it has read.
struct ModelLayer {
  std::vector<float> norm1, norm2;
  int q = 0, k = 0, v = 0, o = 0, gate = 0, up = 0, down = 0;
  KvCache cache;
};
struct LanguageModel {
  int heads = 0, groups = 0;
  Int8Matrix table;  // a row for each token
  int head = 0;      // the number of the same matrix, which gives the logits
  std::vector<float> norm;
  std::vector<ModelLayer> layers;
  long place = 0;  // how many tokens were read: the next one stands here
};

// Texts and tokens (task 8.1), and the choice of the next token (task 8.3).
struct Words {
  virtual std::vector<int> encode(const std::string& question) = 0;  // one token at least
  virtual std::string decode(const std::vector<int>& tokens) = 0;
  virtual int choose(const std::vector<float>& logits) = 0;
  virtual int end() const = 0;  // the token that ends an answer

 protected:
  ~Words() = default;
};

// Task 8.6, in five parts.
// Reads the header, and nothing behind it. Errors: std::invalid_argument where the file ends before
// the header does; where the dtype of a tensor is none of F32, BF16 and I8; where its bytes are not
// as many as its dtype and shape have, or lie outside of the data; and where two have one name.
// A shape with a 0 has no bytes, however large its other sizes are.
Header read_header(ModelFile& file);

// The numbers of a tensor of dtype F32 or BF16, the lowest byte first. A BF16 is the upper half of
// a float. Errors: std::invalid_argument where there is no such tensor, or it is I8.
std::vector<float> read_floats(ModelFile& file, const Header& header, const std::string& name);

// The model of a file, which has read nothing. The metadata have the numbers layers, heads, groups,
// width, hidden and vocabulary; text 8.6 lists names and shapes of the tensors. Reads each tensor
// that it needs once and no other, and puts each matrix once. Errors: std::invalid_argument where a
// number or a tensor is missing, or a tensor has another shape or dtype than it needs; where heads
// does not divide width, groups does not divide heads, or gpu::kGroup does not divide width and
// hidden.
LanguageModel load_model(ModelFile& file, const Header& header, Blocks& blocks);

// Reads some tokens, which follow those that were read, and returns the logits of the next one.
// Each goes through the layers once, and the last one alone through the head. Errors:
// std::out_of_range where the table has no such token; nothing was read then. REQUIRES: there is a
// token.
std::vector<float> forward(LanguageModel& model, Blocks& blocks, const std::vector<int>& tokens);

// The answer to a question, which begins a new text: the model forgets what it has read. Tokens are
// chosen one after the other, up to the end of the answer, which is no part of it, and at most
// `most` of them. A token that nothing follows is not read. REQUIRES: most >= 0; with 0 the answer
// is empty, and the question need not be read.
std::string answer(LanguageModel& model, Blocks& blocks, Words& words, const std::string& question,
                   int most);

}  // namespace course
