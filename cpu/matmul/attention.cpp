// Attention by tiles: some queries against some keys at a time, so that memory grows with the
// length of the sequences, not with its square. Dao, Fu, Ermon, Rudra, Ré, "FlashAttention: fast
// and memory-efficient exact attention" (2022), algorithms 1 and 4.
#include <cmath>
#include <limits>
#include <vector>

#include "gradus/cpu/backend.h"
#include "gradus/cpu/matmul/product.h"
#include "gradus/cpu/parallel.h"
#include "gradus/cpu/simd/attention_loops.h"
#include "gradus/tensor/math/distributions.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cpu {

namespace {

constexpr int64_t kQueries = 128, kKeys = 128;  // of a tile

template <class T>
struct Matrix {
  T* data;
  int64_t row, column;  // steps
  Matrix from(int64_t first) const { return {data + first * row, row, column}; }
  Matrix transposed() const { return {data, column, row}; }
};

template <class T>
void multiply(int64_t m, int64_t n, int64_t k, Matrix<T> a, Matrix<T> b, T* out, int64_t out_row) {
  Product<T> p{};
  p.m = m, p.n = n, p.k = k, p.a = a.data, p.b = b.data, p.out = out;
  p.a_row = a.row, p.a_column = a.column, p.b_row = b.row, p.b_column = b.column;
  p.out_row = out_row, p.out_column = 1;
  multiply_chosen(p);
}

// One head of one sequence of a batch.
template <class T>
struct Head {
  Head(const Attention& attention, const Tensor& all_q, const Tensor& all_k, const Tensor& all_v,
       const Tensor& all_masks, int64_t index)
      : how(attention),
        i(index),
        batch(index / all_q.size(1)),
        head(index % all_q.size(1)),
        queries(all_q.size(2)),
        keys(all_k.size(2)),
        width(all_q.size(3)),
        values(all_v.size(3)),
        q(matrix(all_q, head)),
        k(matrix(all_k, head * all_k.size(1) / all_q.size(1))),
        v(matrix(all_v, head * all_k.size(1) / all_q.size(1))) {
    if (all_masks.defined()) mask = matrix(all_masks, head);
  }

  Matrix<T> matrix(const Tensor& x, int64_t of_head) const {
    const IntArrayRef s = x.strides();
    return {static_cast<T*>(x.data_ptr()) + batch * s[0] + of_head * s[1], s[2], s[3]};
  }
  // How many of `count` keys from `first` on a query sees.
  int64_t seen(int64_t query, int64_t first, int64_t count) const {
    return how.causal ? std::clamp<int64_t>(query + 1 - first, 0, count) : count;
  }
  const T* mask_at(int64_t query, int64_t key) const {
    return mask.data ? mask.data + query * mask.row + key * mask.column : nullptr;
  }
  // Draws which of `count` weights, or gradients of them, from a key on are kept.
  void drop(int64_t query, int64_t key, int64_t count, T* x) const {
    const draw::Dropout<T> drop{draw::Chance(how.dropout), static_cast<T>(1 / (1 - how.dropout))};
    const int64_t first = (i * queries + query) * keys + key;
    for (int64_t j = 0; j < count; ++j)
      x[j] = drop(philox::bits_of<philox::Word>(how.state.seed, how.state.offset,
                                                static_cast<uint64_t>(first + j)),
                  x[j]);
  }

  const Attention& how;
  int64_t i, batch, head, queries, keys, width, values;
  Matrix<T> q, k, v, mask{};
  T scale = static_cast<T>(how.scale);
  const AttentionLoops<T>& loops = table_of<AttentionLoops<T>>();
};

// The results of `rows` queries from `first` on: out (rows, values), contiguous.
template <class T>
void attend(const Head<T>& at, int64_t first, int64_t rows, T* out, T* log_sums) {
  const auto size = static_cast<size_t>(rows);
  const auto values = static_cast<size_t>(at.values);
  std::vector<T> scores(size * kKeys), part(size * values), sums(size), factors(size);
  std::vector<T> tops(size, -std::numeric_limits<T>::infinity());
  std::fill(out, out + rows * at.values, T(0));
  for (int64_t key = 0; key < at.keys && at.seen(first + rows - 1, key, 1) > 0; key += kKeys) {
    const int64_t count = std::min(kKeys, at.keys - key);
    multiply(rows, count, at.width, at.q.from(first), at.k.from(key).transposed(), scores.data(),
             kKeys);
    for (int64_t r = 0; r < rows; ++r) {
      const auto row = static_cast<size_t>(r);
      T* const line = &scores[row * kKeys];
      const int64_t seen = at.seen(first + r, key, count);
      factors[row] = at.loops.weigh(seen, at.scale, at.mask_at(first + r, key), at.mask.column,
                                    line, &tops[row], &sums[row]);
      std::fill(line + seen, line + count, T(0));
      if (at.how.dropout > 0) at.drop(first + r, key, seen, line);
    }
    multiply(rows, at.values, count, {scores.data(), kKeys, 1}, at.v.from(key), part.data(),
             at.values);
    for (int64_t r = 0; r < rows; ++r)
      at.loops.add(at.values, factors[static_cast<size_t>(r)],
                   &part[static_cast<size_t>(r) * values], out + r * at.values);
  }
  for (int64_t r = 0; r < rows; ++r) {
    const T sum = sums[static_cast<size_t>(r)], share = sum > 0 ? 1 / sum : sum;
    for (int64_t e = 0; e < at.values; ++e) out[r * at.values + e] *= share;
    log_sums[r] = sum > 0 || sum != sum ? tops[static_cast<size_t>(r)] + std::log(sum)
                                        : -std::numeric_limits<T>::infinity();
  }
}

template <class T>
struct Gradients {
  const T *grad, *out, *log_sums;  // of this head, contiguous
  T *q, *k, *v;
};

template <class T>
void attend_grad(const Head<T>& at, const Gradients<T>& g) {
  constexpr size_t kTile = kQueries * kKeys;
  std::vector<T> weights(kTile), grads(kTile), dropped(kTile);
  std::vector<T> part(static_cast<size_t>(kKeys * std::max(at.width, at.values)));
  std::vector<T> means(static_cast<size_t>(at.queries));
  for (int64_t i = 0; i < at.queries; ++i)
    means[static_cast<size_t>(i)] =
        at.loops.dot(at.values, g.grad + i * at.values, g.out + i * at.values);
  std::fill(g.q, g.q + at.queries * at.width, T(0));
  std::fill(g.k, g.k + at.keys * at.width, T(0));
  std::fill(g.v, g.v + at.keys * at.values, T(0));
  const auto add = [&](int64_t rows, int64_t columns, T* to) {
    at.loops.add(rows * columns, 1, part.data(), to);
  };
  for (int64_t key = 0; key < at.keys; key += kKeys)
    for (int64_t first = 0; first < at.queries; first += kQueries) {
      const int64_t count = std::min(kKeys, at.keys - key);
      const int64_t rows = std::min(kQueries, at.queries - first);
      if (at.seen(first + rows - 1, key, count) == 0) continue;
      const Matrix<T> grad{const_cast<T*>(g.grad) + first * at.values, at.values, 1};
      const Matrix<T> k = at.k.from(key), v = at.v.from(key), q = at.q.from(first);
      multiply(rows, count, at.width, q, k.transposed(), weights.data(), kKeys);
      multiply(rows, count, at.values, grad, v.transposed(), grads.data(), kKeys);
      for (int64_t r = 0; r < rows; ++r) {
        T *const line = &weights[static_cast<size_t>(r * kKeys)],
                 *const grad_line = &grads[static_cast<size_t>(r * kKeys)],
                 *const drop_line = &dropped[static_cast<size_t>(r * kKeys)];
        const int64_t seen = at.seen(first + r, key, count);
        at.loops.weigh_again(seen, at.scale, at.mask_at(first + r, key), at.mask.column,
                             g.log_sums[first + r], line);
        std::fill(line + seen, line + count, T(0));
        std::copy(line, line + count, drop_line);
        if (at.how.dropout > 0) {
          at.drop(first + r, key, seen, drop_line);
          at.drop(first + r, key, seen, grad_line);
        }
        at.loops.grad(count, at.scale, means[static_cast<size_t>(first + r)], line, grad_line);
      }
      const Matrix<T> of_scores{grads.data(), kKeys, 1}, kept{dropped.data(), kKeys, 1};
      multiply(count, at.values, rows, kept.transposed(), grad, part.data(), at.values);
      add(count, at.values, g.v + key * at.values);
      multiply(rows, at.width, count, of_scores, k, part.data(), at.width);
      add(rows, at.width, g.q + first * at.width);
      multiply(count, at.width, rows, of_scores.transposed(), q, part.data(), at.width);
      add(count, at.width, g.k + key * at.width);
    }
}

// f(i) for i < count, each of so many multiplications, on several threads.
template <class F>
void for_parts(int64_t count, int64_t work, const F& f) {
  const int64_t grain = std::max<int64_t>(2 * kProductGrain / std::max<int64_t>(work, 1), 1);
  parallel_for(0, count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(i);
  });
}

}  // namespace

void CpuBackend::attention(const Attention& how, const Tensor& q, const Tensor& k, const Tensor& v,
                           const Tensor& mask, const Tensor& out, const Tensor& log_sums) {
  const int64_t queries = q.size(2), values = v.size(3), tiles = divide_up(queries, kQueries);
  const int64_t work = std::min(kQueries, queries) * k.size(2) * (q.size(3) + values);
  visit_floating("attention", out.dtype(), [&]<class T>(TypeTag<T>) {
    for_parts(q.size(0) * q.size(1) * tiles, work, [&](int64_t part) {
      const Head<T> at(how, q, k, v, mask, part / tiles);
      const int64_t first = part % tiles * kQueries, row = at.i * queries + first;
      attend(at, first, std::min(kQueries, queries - first),
             static_cast<T*>(out.data_ptr()) + row * values,
             static_cast<T*>(log_sums.data_ptr()) + row);
    });
  });
}

void CpuBackend::attention_grad(const Attention& how, const Tensor& grad, const Tensor& q,
                                const Tensor& k, const Tensor& v, const Tensor& mask,
                                const Tensor& out, const Tensor& log_sums, const Tensor& grad_q,
                                const Tensor& grad_k, const Tensor& grad_v) {
  const int64_t queries = q.size(2), keys = k.size(2), width = q.size(3), values = v.size(3);
  visit_floating("attention", out.dtype(), [&]<class T>(TypeTag<T>) {
    for_parts(q.size(0) * q.size(1), queries * keys * (3 * width + 2 * values), [&](int64_t i) {
      const auto of = [&](const Tensor& x, int64_t size) {
        return static_cast<T*>(x.data_ptr()) + i * size;
      };
      attend_grad(
          Head<T>(how, q, k, v, mask, i),
          {of(grad, queries * values), of(out, queries * values), of(log_sums, queries),
           of(grad_q, queries * width), of(grad_k, keys * width), of(grad_v, keys * values)});
    });
  });
}

}  // namespace gradus::cpu
