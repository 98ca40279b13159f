// A stage of ./train: reads a model's file, then answers each line of the input.
//
//   chat FILE TEMPERATURE
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "core/model.h"
#include "runner/gpu_array.h"
#include "runner/train/numbers.h"

namespace {

using Row = std::vector<float>;

constexpr int kMost = 48, kLongest = 256;  // tokens of an answer, bytes of a question
constexpr int kEnd = '\n';

// How often each function was called.
class Calls {
 public:
  void count(const char* name) { ++calls_[name]; }
  std::string text() const {
    std::string out;
    for (const auto& [name, number] : calls_)
      out += (out.empty() ? "" : ", ") + name + " " + std::to_string(number);
    return out;
  }

 private:
  std::map<std::string, long> calls_;
};
Calls yours, given;

class File final : public course::ModelFile {
 public:
  explicit File(const std::string& path) : stream_(path, std::ios::binary) {
    stream_.seekg(0, std::ios::end);
    size_ = static_cast<long>(stream_.tellg());
    if (!stream_ || size_ < 0) throw std::runtime_error("it cannot be read");
  }
  long size() const override { return size_; }
  std::string read(long start, long count) override {
    if (start < 0 || count < 0 || start > size_ || count > size_ - start)
      throw std::out_of_range("it has no " + std::to_string(count) + " bytes from byte " +
                              std::to_string(start) + " on");
    std::string out(static_cast<size_t>(count), '\0');
    stream_.seekg(start);
    stream_.read(out.data(), count);
    if (!stream_) throw std::runtime_error("it cannot be read");
    given.count("read");
    return out;
  }

 private:
  std::ifstream stream_;
  long size_ = 0;
};

// The student's kernels.
class Kernels final : public course::Blocks {
 public:
  int put(const course::Int8Matrix& matrix) override {
    given.count("put");
    matrices_.push_back(std::make_unique<Matrix>(matrix));
    return static_cast<int>(matrices_.size()) - 1;
  }
  Row product(int number, const Row& x) override {
    yours.count("matvec_int8");
    const Matrix& matrix = *matrices_.at(static_cast<size_t>(number));
    if (x.size() != static_cast<size_t>(matrix.columns))
      throw std::runtime_error("product: x has " + std::to_string(x.size()) +
                               " numbers, the matrix " + std::to_string(matrix.columns) +
                               " columns");
    const GpuArray in(x), out(static_cast<size_t>(matrix.rows));
    course::gpu::matvec_int8(out, reinterpret_cast<std::int8_t*>(static_cast<float*>(matrix.q)),
                             matrix.scales, in, matrix.rows, matrix.columns);
    return out.take();
  }
  Row rms_norm(const Row& x, const Row& weight) override {
    yours.count("rms_norm");
    const GpuArray in(x), by(weight), out(x.size());
    course::gpu::rms_norm(out, in, by, 1, static_cast<int>(weight.size()));
    return out.take();
  }
  Row rope(const Row& x, int heads, long place) override {
    yours.count("rope");
    const GpuArray in(x);
    course::gpu::rope(in, 1, heads, static_cast<int>(x.size()) / heads, place);
    return in.take();
  }
  Row swiglu(const Row& x) override {
    yours.count("swiglu");
    const GpuArray in(x), out(x.size() / 2);
    course::gpu::swiglu(out, in, 1, static_cast<long>(out.size()));
    return out.take();
  }
  Row grouped_attention(const Row& q, const course::KvCache& cache, int heads,
                        int groups) override {
    yours.count("grouped_attention");
    const GpuArray queries(q), k(cache.k), v(cache.v), out(q.size());
    const int d = static_cast<int>(q.size()) / heads;
    course::gpu::grouped_attention(out, queries, k, v, heads, groups,
                                   static_cast<int>(cache.k.size()) / (groups * d), d);
    return out.take();
  }

 private:
  struct Matrix {
    explicit Matrix(const course::Int8Matrix& from)
        : q(packed(from.q)), scales(from.scales), rows(from.rows), columns(from.columns) {}
    // Four bytes lie in the place of a float.
    static Row packed(const std::vector<std::int8_t>& bytes) {
      Row out((bytes.size() + sizeof(float) - 1) / sizeof(float));
      if (!bytes.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
      return out;
    }
    GpuArray q, scales;
    long rows, columns;
  };
  std::vector<std::unique_ptr<Matrix>> matrices_;
};

// The tokens of the model, by the student's encode, decode and sample.
class Tokens final : public course::Words, private course::MergeTable {
 public:
  Tokens(const course::Header& header, float temperature) : temperature_(temperature) {
    const auto found = header.metadata.find("merges");
    std::istringstream text(found == header.metadata.end() ? "" : found->second);
    for (int left = 0, right = 0; text >> left >> right;) {
      const int token = 256 + static_cast<int>(merges_.size());
      if (left < 0 || right < 0 || left >= token || right >= token)
        throw std::invalid_argument("its merges name tokens that do not exist");
      tokens_.emplace(std::pair(left, right), token);
      merges_.push_back({left, right});
    }
    if (header.number("vocabulary") != 256 + static_cast<long>(merges_.size()))
      throw std::invalid_argument("its merges and its vocabulary do not fit");
  }
  std::vector<int> encode(const std::string& question) override {
    yours.count("encode");
    std::vector<int> out = course::encode(*this, question);
    out.push_back(kEnd);
    return out;
  }
  std::string decode(const std::vector<int>& tokens) override {
    yours.count("decode");
    return course::decode(merges_, tokens);
  }
  int choose(const Row& logits) override {
    yours.count("sample");
    return course::sample(logits, {temperature_, 0, 1}, random_);
  }
  int end() const override { return kEnd; }

 private:
  int find(int left, int right) const override {
    const auto at = tokens_.find({left, right});
    return at == tokens_.end() ? -1 : at->second;
  }
  std::vector<course::Merge> merges_;
  std::map<std::pair<int, int>, int> tokens_;
  float temperature_;
  train::Numbers random_;
};

// The next line of the input, without blanks around it. False at its end.
bool next_question(std::string& question) {
  if (isatty(STDIN_FILENO) != 0) std::cout << "> " << std::flush;
  if (!std::getline(std::cin, question)) return false;
  const auto blank = [](char each) { return each == ' ' || each == '\t' || each == '\r'; };
  while (!question.empty() && blank(question.back())) question.pop_back();
  while (!question.empty() && blank(question.front())) question.erase(0, 1);
  return true;
}

void chat(const std::string& path, float temperature) {
  int devices = 0;  // without a device its error would seem to be one of the file
  course::check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
  Kernels kernels;
  course::LanguageModel model;
  std::unique_ptr<Tokens> tokens;
  try {
    File file(path);
    yours.count("read_header"), given.count("parse_header");
    const course::Header header = course::read_header(file);
    tokens = std::make_unique<Tokens>(header, temperature);
    yours.count("load_model");
    model = course::load_model(file, header, kernels);
    std::cout << "  " << path << ": " << file.size() << " bytes, " << model.layers.size()
              << " layers, " << model.table.rows << " tokens\n";
  } catch (const course::NotImplemented&) {
    throw;
  } catch (const std::exception& error) {
    throw std::runtime_error(path + " holds no model: " + error.what());
  }
  if (isatty(STDIN_FILENO) != 0)
    std::cout << "  ask it a sum, a colour, a capital, what a cow says, who it is; Ctrl-D ends\n";
  for (std::string question; next_question(question);) {
    if (question.empty()) continue;
    if (question.size() > kLongest) {
      std::cout << "  a question has at most " << kLongest << " bytes; this one has "
                << question.size() << std::endl;
      continue;
    }
    yours.count("answer");
    std::cout << course::answer(model, kernels, *tokens, question, kMost) << std::endl;
  }
  if (isatty(STDIN_FILENO) != 0) std::cout << '\n';
  std::cout << "  calls of your code: " << yours.text() << "\n  handed out: " << given.text()
            << ", random numbers" << std::endl;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  try {
    chat(arguments[1], std::strtof(arguments[2], nullptr));
    return 0;
  } catch (const std::exception& error) {
    std::cout << "  it ended: " << error.what() << std::endl;
    return 1;
  }
}
