// Einstein summation: every operand becomes a tensor with one dimension for each label of the
// equation (of size 1 where it lacks the label), and operands are contracted from left to right,
// each pair by one batched matrix product.
#include <algorithm>

#include "gradus/autograd/engine/cast_operands.h"
#include "gradus/autograd/functions.h"
#include "gradus/autograd/ops/product/named_matmul.h"

namespace gradus {

namespace {

// Letters are labels 0 to 51, in the order of the alphabet, upper case first. The dimensions that
// "..." stands for are labels behind them, aligned at the last one.
using Labels = std::vector<int>;
constexpr int kLetters = 52, kEllipsis = -1;

int label_of(char c) { return c <= 'Z' ? c - 'A' : c - 'a' + 26; }
char letter_of(int label) { return static_cast<char>(label < 26 ? 'A' + label : 'a' + label - 26); }

bool contains(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

Labels parse_term(std::string_view term) {
  Labels labels;
  for (size_t i = 0; i < term.size(); ++i) {
    const char c = term[i];
    if (c == ' ') continue;
    if (term.substr(i, 3) == "...") {
      check(!contains(labels, kEllipsis), "einsum: \"", term, "\" has more than one ellipsis");
      labels.push_back(kEllipsis);
      i += 2;
      continue;
    }
    check((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'), "einsum: \"", term,
          "\" has the character '", std::string(1, c),
          "'; expected letters, \"...\", ',' and \"->\"");
    labels.push_back(label_of(c));
  }
  return labels;
}

std::vector<Labels> parse_terms(std::string_view text) {
  std::vector<Labels> terms;
  for (;;) {
    const size_t comma = text.find(',');
    terms.push_back(parse_term(text.substr(0, comma)));
    if (comma == std::string_view::npos) return terms;
    text.remove_prefix(comma + 1);
  }
}

// The labels of an operand of `rank` dimensions, with the ellipsis spelled out.
Labels spelled_out(const Labels& term, size_t rank, size_t operand, int ellipsis_rank) {
  const bool has_ellipsis = contains(term, kEllipsis);
  const size_t letters = term.size() - has_ellipsis;
  check(has_ellipsis ? letters <= rank : letters == rank, "einsum: operand ", operand, " has ",
        rank, " dimensions, and the equation gives it ", letters, has_ellipsis ? " and more" : "");
  Labels out;
  for (int label : term) {
    if (label != kEllipsis) {
      out.push_back(label);
      continue;
    }
    const int covered = static_cast<int>(rank - letters);
    for (int i = ellipsis_rank - covered; i < ellipsis_rank; ++i) out.push_back(kLetters + i);
  }
  return out;
}

size_t position(const Labels& labels, int label) {
  return static_cast<size_t>(std::find(labels.begin(), labels.end(), label) - labels.begin());
}
std::string name_of(int label) {
  return label < kLetters ? std::string(1, letter_of(label)) : "...";
}

// The most dimensions that an ellipsis stands for.
int ellipsis_rank_of(const std::vector<Labels>& terms, ArrayRef<Tensor> tensors) {
  int rank = 0;
  for (size_t i = 0; i < terms.size(); ++i)
    if (contains(terms[i], kEllipsis))
      rank = std::max(rank,
                      static_cast<int>(tensors[i].dim()) - static_cast<int>(terms[i].size()) + 1);
  return rank;
}

struct Equation {
  std::vector<Labels> inputs;  // for each operand, a label for each dimension
  Labels order;                // those of the result, then those that are summed over
  size_t results;              // how many are of the result

  Equation(std::string_view text, ArrayRef<Tensor> tensors) {
    const size_t arrow = text.find("->");
    const std::vector<Labels> terms = parse_terms(text.substr(0, arrow));
    check(terms.size() == tensors.size(), "einsum: the equation has ", terms.size(),
          " operands, and ", tensors.size(), " tensors were given");
    const int ellipsis_rank = ellipsis_rank_of(terms, tensors);
    Labels all;
    for (size_t i = 0; i < terms.size(); ++i) {
      inputs.push_back(spelled_out(terms[i], tensors[i].sizes().size(), i, ellipsis_rank));
      all.insert(all.end(), inputs[i].begin(), inputs[i].end());
    }
    const Labels result =
        arrow == std::string_view::npos ? implied_result(all) : parse_term(text.substr(arrow + 2));
    for (int label : result) {
      if (label == kEllipsis) {
        for (int i = 0; i < ellipsis_rank; ++i) order.push_back(kLetters + i);
        continue;
      }
      check(contains(all, label), "einsum: the result's label '", name_of(label),
            "' is of no operand");
      check(!contains(order, label), "einsum: the result has the label '", name_of(label),
            "' twice");
      order.push_back(label);
    }
    results = order.size();
    for (int label : all)
      if (!contains(order, label)) order.push_back(label);
  }

  // Marks the dimensions that are summed over together with an operand: those of which it is the
  // last user.
  std::vector<bool> summed_with(size_t operand) const {
    std::vector<bool> summed(order.size());
    for (size_t d = results; d < order.size(); ++d) {
      size_t last = inputs.size() - 1;
      while (!contains(inputs[last], order[d])) --last;
      summed[d] = last == operand;
    }
    return summed;
  }

 private:
  // The result where "->" is missing: the dimensions of ellipses, then the letters that occur once,
  // in order.
  static Labels implied_result(const Labels& all) {
    Labels result{kEllipsis};
    for (int label = 0; label < kLetters; ++label)
      if (std::count(all.begin(), all.end(), label) == 1) result.push_back(label);
    return result;
  }
};

// The diagonal for labels that x has twice, and x's dimensions in the order of `order`.
Tensor aligned(Tensor x, Labels labels, const Labels& order, size_t operand) {
  for (size_t i = 0; i < labels.size();) {
    const size_t again =
        position({labels.begin() + static_cast<int64_t>(i) + 1, labels.end()}, labels[i]) + i + 1;
    if (again == labels.size()) {
      ++i;
      continue;
    }
    const int64_t d = static_cast<int64_t>(i), e = static_cast<int64_t>(again);
    const int label = labels[i];
    check(x.size(d) == x.size(e), "einsum: operand ", operand, " has '", name_of(label),
          "' twice, for dimensions of size ", x.size(d), " and ", x.size(e));
    x = x.diagonal(0, d, e);  // which becomes the last dimension
    labels.erase(labels.begin() + e), labels.erase(labels.begin() + d);
    labels.push_back(label);
  }
  Dims permutation, shape;
  for (int label : order) {
    const size_t at = position(labels, label);
    if (at < labels.size()) permutation.push_back(static_cast<int64_t>(at));
    shape.push_back(at < labels.size() ? x.sizes()[at] : 1);
  }
  return x.permute(permutation).reshape(shape);
}

// The product of x and y, summed over the dimensions in `summed`, which keep size 1. x and y have
// the same number of dimensions and broadcast.
Tensor contract(Tensor x, Tensor y, const std::vector<bool>& summed) {
  Dims batch, left, right, inner;
  for (size_t i = 0; i < summed.size(); ++i) {
    const int64_t d = static_cast<int64_t>(i);
    const bool in_x = x.sizes()[d] != 1, in_y = y.sizes()[d] != 1;
    if (!summed[i]) {
      (in_x && in_y ? batch : in_x ? left : right).push_back(d);
    } else if (in_x && in_y) {
      inner.push_back(d);
    } else {
      if (in_x) x = x.sum(d, true);
      if (in_y) y = y.sum(d, true);
      right.push_back(d);
    }
  }
  if (!x.is_floating_point() && !y.is_floating_point()) {  // one of them may be a sum, in int64
    const ScalarType common = promoteTypes(x.dtype(), y.dtype());
    x = x.to(common), y = y.to(common);
  }
  const auto joined = [](std::initializer_list<Dims> lists) {
    Dims out;
    for (const Dims& list : lists)
      for (int64_t d : list) out.push_back(d);
    return out;
  };
  const auto size = [](const Tensor& t, const Dims& dims) {
    int64_t out = 1;
    for (int64_t d : dims) out *= t.sizes()[d];
    return out;
  };
  const int64_t batches = size(x, batch), rows = size(x, left), columns = size(y, right);
  const int64_t depth = size(x, inner);
  const Dims made = joined({batch, left, right, inner});  // the dimensions that the product has
  Dims shape = Dims::filled(static_cast<int64_t>(made.size()), 1), back = shape;
  for (size_t i = 0; i < made.size(); ++i) {
    back[made[i]] = static_cast<int64_t>(i);
    const int64_t own = x.sizes()[made[i]];
    if (i < made.size() - inner.size()) shape[i] = own != 1 ? own : y.sizes()[made[i]];
  }
  return autograd::matmul(
             x.permute(joined({batch, left, inner, right})).reshape({batches, rows, depth}),
             y.permute(joined({batch, inner, right, left})).reshape({batches, depth, columns}),
             {"einsum", "an operand", "the next one"})
      .reshape(shape)
      .permute(back);
}

void check_sizes(const Tensors& operands, const Labels& order) {
  for (size_t d = 0; d < order.size(); ++d) {
    int64_t size = 1;
    for (const Tensor& x : operands) {
      const int64_t own = x.sizes()[d];
      check(own == size || own == 1 || size == 1, "einsum: the label '", name_of(order[d]),
            "' stands for the sizes ", size, " and ", own);
      if (own != 1) size = own;
    }
  }
}

Tensor summed_over(const Tensor& x, const std::vector<bool>& summed) {
  Dims dims;
  for (size_t d = 0; d < summed.size(); ++d)
    if (summed[d]) dims.push_back(static_cast<int64_t>(d));
  return dims.empty() ? x : x.sum(dims, true);
}

}  // namespace

static Tensor contracted(std::string_view equation, ArrayRef<Tensor> tensors) {
  check(!tensors.empty(), "einsum: no operands, expected at least 1");
  for (const Tensor& x : tensors) x.operand("einsum", "an operand");
  const Equation parsed(equation, tensors);
  Tensors operands;
  for (size_t i = 0; i < tensors.size(); ++i)
    operands.push_back(aligned(tensors[i], parsed.inputs[i], parsed.order, i));
  check_sizes(operands, parsed.order);
  Tensor out = summed_over(operands[0], parsed.summed_with(0));
  for (size_t i = 1; i < operands.size(); ++i)
    out = contract(out, operands[i], parsed.summed_with(i));
  return out.reshape(out.sizes().slice(0, parsed.results));
}

Tensor einsum(std::string_view equation, ArrayRef<Tensor> tensors) {
  GRADUS_AUTOCAST(einsum, equation, tensors);
  try {
    return contracted(equation, tensors);
  } catch (Error& error) {
    error.add_context("; the equation is \"" + std::string(equation) + '"');
    throw;
  }
}

}  // namespace gradus
