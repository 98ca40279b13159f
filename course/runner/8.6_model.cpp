// Runs task 8.6: the part that "function" names, on a file in memory and on blocks that count. The
// blocks are simpler than those of tasks 8.4 and 8.5: they add and multiply.
#include <algorithm>
#include <stdexcept>

#include "core/model.h"
#include "runner/runner.h"

namespace {

using Row = std::vector<float>;

[[noreturn]] void refuse(const std::string& text) { throw std::runtime_error(text); }
std::string said(size_t size) { return std::to_string(size) + " numbers"; }

// What the file and the blocks have and count. It lies apart from the objects that a student's code
// gets.
struct Counting {
  std::string file;
  std::vector<course::Int8Matrix> matrices;
  long bytes = 0, put = 0, products = 0, seen = 0;
};
Counting* counting = nullptr;

struct File final : course::ModelFile {
  long size() const override { return static_cast<long>(counting->file.size()); }
  std::string read(long start, long count) override {
    if (start < 0 || count < 0 || start > size() || count > size() - start)
      throw std::out_of_range("read: the file has " + std::to_string(size()) + " bytes, and not " +
                              std::to_string(count) + " from byte " + std::to_string(start) +
                              " on");
    counting->bytes += count;
    return counting->file.substr(static_cast<size_t>(start), static_cast<size_t>(count));
  }
};

struct Simple final : course::Blocks {
  int put(const course::Int8Matrix& matrix) override {
    const long numbers = matrix.rows * matrix.columns;
    if (static_cast<long>(matrix.q.size()) != numbers ||
        static_cast<long>(matrix.scales.size()) != numbers / course::gpu::kGroup)
      refuse("put: a matrix of " + std::to_string(matrix.rows) + " rows and " +
             std::to_string(matrix.columns) + " columns has " + said(matrix.q.size()) + " and " +
             said(matrix.scales.size()) + " of scales");
    counting->put += numbers;
    counting->matrices.push_back(matrix);
    return kFirst + static_cast<int>(counting->matrices.size()) - 1;
  }
  Row product(int number, const Row& x) override {
    const course::Int8Matrix& matrix = at(number);
    const size_t rows = static_cast<size_t>(matrix.rows),
                 columns = static_cast<size_t>(matrix.columns);
    if (x.size() != columns)
      refuse("product: x has " + said(x.size()) + ", the matrix " + std::to_string(columns) +
             " columns");
    Row out(rows);
    for (size_t at = 0; at < matrix.q.size(); ++at)
      out[at / columns] += static_cast<float>(matrix.q[at]) *
                           matrix.scales[at / course::gpu::kGroup] * x[at % columns];
    counting->products += matrix.rows * matrix.columns;
    return out;
  }
  static const course::Int8Matrix& at(int number) {
    const size_t i = static_cast<size_t>(number - kFirst);
    if (number < kFirst || i >= counting->matrices.size())
      refuse("there is no matrix " + std::to_string(number));
    return counting->matrices[i];
  }
  // Without a root: x times the weight.
  Row rms_norm(const Row& x, const Row& weight) override {
    if (x.size() != weight.size())
      refuse("rms_norm: x has " + said(x.size()) + ", the weight " + said(weight.size()));
    Row out = x;
    for (size_t e = 0; e < x.size(); ++e) out[e] *= weight[e];
    return out;
  }
  // Adds the place to the first number of each head.
  Row rope(const Row& x, int heads, long place) override {
    if (heads < 1 || x.size() % static_cast<size_t>(heads) != 0)
      refuse("rope: x has " + said(x.size()) + " for " + std::to_string(heads) + " heads");
    Row out = x;
    for (size_t e = 0; e < x.size(); e += x.size() / static_cast<size_t>(heads))
      out[e] += static_cast<float>(place);
    return out;
  }
  // The square of the left half times the right one.
  Row swiglu(const Row& x) override {
    const size_t half = x.size() / 2;
    Row out;
    for (size_t e = 0; e < half; ++e) out.push_back(x[e] * x[e] * x[half + e]);
    return out;
  }
  // The mean of the values, each times the product of its key and the query.
  Row grouped_attention(const Row& q, const course::KvCache& cache, int heads,
                        int groups) override {
    if (heads < 1 || groups < 1 || heads % groups != 0 ||
        q.size() % static_cast<size_t>(heads) != 0)
      refuse("grouped_attention: q has " + said(q.size()) + " for " + std::to_string(heads) +
             " heads in " + std::to_string(groups) + " groups");
    const size_t d = q.size() / static_cast<size_t>(heads), width = d * static_cast<size_t>(groups);
    if (cache.k.empty() || cache.k.size() != cache.v.size() || cache.k.size() % width != 0)
      refuse("grouped_attention: the cache has " + said(cache.k.size()) + " of keys and " +
             said(cache.v.size()) + " of values, in rows of " + std::to_string(width));
    const size_t n = cache.k.size() / width, shared = static_cast<size_t>(heads / groups);
    counting->seen += static_cast<long>(n);
    Row out(q.size());
    for (size_t j = 0; j < n; ++j)
      for (size_t h = 0; h < q.size(); h += d) {
        const size_t at = j * width + h / d / shared * d;
        float score = 0;
        for (size_t e = 0; e < d; ++e) score += q[h + e] * cache.k[at + e];
        for (size_t e = 0; e < d; ++e)
          out[h + e] += score * cache.v[at + e] / static_cast<float>(n);
      }
    return out;
  }

 private:
  static constexpr int kFirst = 7;  // numbers of matrices need not begin at 0
};

// A token is a byte less 'a'. The largest logit is chosen, the first of several.
struct Letters final : course::Words {
  std::vector<int> encode(const std::string& question) override {
    std::vector<int> out;
    for (const char each : question) out.push_back(each - 'a');
    return out;
  }
  std::string decode(const std::vector<int>& tokens) override {
    std::string out;
    for (const int each : tokens) out += static_cast<char>('a' + each);
    return out;
  }
  int choose(const Row& logits) override {
    if (logits.empty()) refuse("choose: there is no logit");
    return static_cast<int>(std::max_element(logits.begin(), logits.end()) - logits.begin());
  }
  int end() const override { return last; }
  int last = 0;
};

void show(const course::Header& header, Message& out) {
  std::string text;
  std::vector<long> shapes, places;
  for (const course::Entry& each : header.entries) {
    text += each.name + " " + each.dtype + "\n";
    shapes.push_back(static_cast<long>(each.shape.size()));
    shapes.insert(shapes.end(), each.shape.begin(), each.shape.end());
    places.insert(places.end(), {each.begin, each.end});
  }
  out.text("tensors", text);
  out.longs("shapes", shapes);
  out.longs("places", places);
  out.number("data", header.data);
  text.clear();
  for (const auto& [name, value] : header.metadata) text += name + " " + value + "\n";
  out.text("metadata", text);
}

void show(const course::Int8Matrix& matrix, Row& numbers, std::vector<long>& shapes) {
  for (size_t i = 0; i < matrix.q.size(); ++i)
    numbers.push_back(static_cast<float>(matrix.q[i]) * matrix.scales.at(i / course::gpu::kGroup));
  shapes.insert(shapes.end(), {matrix.rows, matrix.columns});
}

void show(const course::LanguageModel& model, Message& out) {
  Row numbers, norms = model.norm;
  std::vector<long> shapes;
  show(model.table, numbers, shapes);
  show(Simple::at(model.head), numbers, shapes);
  for (const course::ModelLayer& each : model.layers) {
    norms.insert(norms.end(), each.norm1.begin(), each.norm1.end());
    norms.insert(norms.end(), each.norm2.begin(), each.norm2.end());
    for (const int number : {each.q, each.k, each.v, each.o, each.gate, each.up, each.down})
      show(Simple::at(number), numbers, shapes);
  }
  out.longs("numbers",
            {model.heads, model.groups, static_cast<long>(model.layers.size()), model.place});
  out.floats("norms", norms);
  out.floats("weights", numbers);
  out.longs("shapes", shapes);
}

// How many numbers are in the caches.
long cached(const course::LanguageModel& model) {
  size_t out = 0;
  for (const course::ModelLayer& each : model.layers)
    out += each.cache.k.size() + each.cache.v.size();
  return static_cast<long>(out);
}

// The tokens of "tokens", in pieces of so many.
void read_tokens(course::LanguageModel& model, Simple& blocks, const Message& in, Message& out) {
  const std::vector<long> tokens = in.longs("tokens");
  Row all;
  size_t at = 0;
  for (const long piece : in.longs("pieces")) {
    const auto start = tokens.begin() + static_cast<long>(at);
    const Row logits = course::forward(model, blocks, {start, start + piece});
    all.insert(all.end(), logits.begin(), logits.end());
    at += static_cast<size_t>(piece);
  }
  out.floats("logits", all);
  out.number("place", model.place);
}

}  // namespace

void run(const Message& in, Message& out) {
  const std::string function = in.text("function");
  Counting all;
  all.file = in.text("file");
  counting = &all;
  File file;
  if (function == "read_header") {
    show(course::read_header(file), out);
    out.number("bytes", all.bytes);
    return;
  }
  course::Header header = course::parse_header(in.text("header"));
  header.data = in.number("data");
  if (function == "read_floats") {
    out.floats("out", course::read_floats(file, header, in.text("name")));
    out.number("bytes", all.bytes);
    return;
  }
  Simple blocks;
  course::LanguageModel model = course::load_model(file, header, blocks);
  const long loaded = all.bytes, put = all.put;
  if (function == "load_model") {
    show(model, out);
  } else if (function == "forward") {
    read_tokens(model, blocks, in, out);
  } else if (function == "refused") {
    const std::vector<long> tokens = in.longs("tokens");
    bool threw = false;
    try {
      course::forward(model, blocks, {tokens.begin(), tokens.end()});
    } catch (const std::out_of_range&) {
      threw = true;
    }
    out.longs("left", {threw, model.place, cached(model)});
  } else if (function == "answer") {
    Letters words;
    words.last = static_cast<int>(in.number("end"));
    std::string answers;
    const std::string questions = in.text("questions");
    const std::vector<long> most = in.longs("most");  // one for all questions, or one for each
    size_t asked = 0;
    for (size_t start = 0; start < questions.size();) {
      const size_t end = questions.find('\n', start);
      answers += course::answer(model, blocks, words, questions.substr(start, end - start),
                                static_cast<int>(most[asked++ % most.size()])) +
                 "\n";
      start = end + 1;
    }
    out.text("answers", answers);
    out.longs("left", {model.place, cached(model)});
  } else {
    throw std::logic_error("there is no function " + function);
  }
  out.longs("bytes", {loaded, all.bytes});
  out.longs("put", {put, all.put});
  out.number("products", all.products);
  out.number("seen", all.seen);
}
