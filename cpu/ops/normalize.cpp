// Normalisations, row by row.
#include <cmath>

#include "gradus/cpu/backend.h"
#include "gradus/cpu/parallel.h"
#include "gradus/cpu/simd/norm_loops.h"
#include "gradus/tensor/table/dispatch.h"

namespace gradus::cpu {

namespace {

// Rows whose gradients of the weights are added up in one line.
constexpr int64_t kLines = 16;
// Rows that are read twice before the next ones.
constexpr int64_t kMostRows = 8;

template <class T>
const T* data(const Tensor& x) {
  return x.defined() ? static_cast<const T*>(x.data_ptr()) : nullptr;
}

// f(first row, last row) for a few rows that stay in the first-level cache, on several threads. f
// sums all of them before it computes what waits for a row's sums.
template <class F>
void for_rows(const NormalizedRows& rows, const F& f) {
  constexpr int64_t kElements = 4096;
  const int64_t grain = std::max<int64_t>(kGrain / 4 / rows.length, 1);
  const int64_t some = std::clamp<int64_t>(kElements / rows.length, 1, kMostRows);
  parallel_for(0, rows.rows, share_of(rows.rows, grain, 1), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; r += some) f(r, std::min(r + some, end));
  });
}

template <class T>
struct Rows {
  const NormalizedRows& rows;
  const NormLoops<T>& loops = table_of<NormLoops<T>>();
  const int64_t weights = rows.weights();

  bool by_element() const { return rows.inner == 1 && rows.length > 1; }
  // f(row, its group, where its mean and rstd are) for some rows: a short one would wait for
  // divisions.
  template <class F>
  void each(int64_t first, int64_t last, const F& f) const {
    int64_t group = rows.group(first);
    for (int64_t r = first; r < last; ++r) {
      f(r, group, rows.shared ? group : r);
      if (++group == rows.groups) group = 0;
    }
  }
  // The weights of a row.
  const T* of_group(const T* weight, int64_t group) const {
    return weight ? weight + group * weights : nullptr;
  }
  // f(first element, elements, the scalar weight, the scalar bias) for runs of one weight; for the
  // whole row, with 1 and 0, where each element has its own.
  template <class F>
  void for_runs(const T* weight, const T* bias, const F& f) const {
    if (by_element()) return f(0, rows.length, T(1), T(0));
    for (int64_t k = 0; k < weights; ++k)
      f(k * rows.inner, rows.inner, weight ? weight[k] : T(1), bias ? bias[k] : T(0));
  }

  // The mean of a row, and the sum of the squares of what its elements differ from it.
  double row_moments(const T* x, T& mean) const {
    const auto n = static_cast<double>(rows.length);
    double squares = 0, about_mean = 0;
    const auto sums_about = [&](T about) {
      const double apart = loops.moments(rows.length, x, about, squares) / n;
      mean = about + static_cast<T>(apart);
      about_mean = std::max(squares - apart * apart * n, 0.0);
      return apart * apart * n;
    };
    // Where the elements lie as far from a few of them as from their mean, the difference loses a
    // bit at most.
    if (const T about = mean_of_few(x); !(sums_about(about) <= about_mean)) {
      const T found = mean;
      sums_about(found);
      mean = found;
    }
    return std::isfinite(about_mean) ? about_mean : wide_moments(x, mean);
  }
  T mean_of_few(const T* x) const {
    const auto at = [&](int64_t i) { return x[i * rows.length / 8]; };
    return (((at(0) + at(1)) + (at(2) + at(3))) + ((at(4) + at(5)) + (at(6) + at(7)))) / T(8);
  }
  // The same in double, for numbers whose squares T cannot hold. The mean of infinite ones is
  // infinite, and nothing is known of the squares.
  double wide_moments(const T* x, T& mean) const {
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < rows.length; ++i) sum += static_cast<double>(x[i]);
    const double wide = sum / static_cast<double>(rows.length);
    for (int64_t i = 0; i < rows.length; ++i) {
      const double apart = static_cast<double>(x[i]) - wide;
      squares += apart * apart;
    }
    mean = static_cast<T>(wide);
    return squares;
  }

  // Two parts' moments make the whole's without cancellation: Chan, Golub and LeVeque, "Updating
  // formulae and a pairwise algorithm for computing sample variances" (1979).
  void moments(const T* x, T* means, T* variances) const {
    const auto n = static_cast<double>(rows.length);
    parallel_for(0, rows.groups, share_of(rows.groups, kGrain / 4 / rows.elements() + 1, 1),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t g = begin; g < end; ++g) {
                     double count = 0, mean = 0, squares = 0;
                     for (int64_t r = g; r < rows.rows; r += rows.groups) {
                       T row_mean;
                       squares += row_moments(x + r * rows.length, row_mean);
                       const double apart = static_cast<double>(row_mean) - mean;
                       count += n;
                       mean += std::isfinite(apart) ? apart * (n / count)
                                                    : static_cast<double>(row_mean);
                       squares += apart * (apart * ((count - n) * (n / count)));
                     }
                     means[g] = static_cast<T>(mean);
                     variances[g] = static_cast<T>(squares / count);
                   }
                 });
  }

  void normalize(double eps, const T* x, const T* weight, const T* bias, T* means, T* rstds,
                 T* out) const {
    for_rows(rows, [&](int64_t first, int64_t last) {
      if (!rows.shared)
        for (int64_t r = first; r < last; ++r) {
          const double squares = row_moments(x + r * rows.length, means[r]);
          rstds[r] =
              static_cast<T>(1 / std::sqrt(squares / static_cast<double>(rows.length) + eps));
        }
      each(first, last, [&](int64_t r, int64_t group, int64_t at) {
        const T *from = x + r * rows.length, *w = of_group(weight, group),
                *b = of_group(bias, group);
        const T mean = means[at], rstd = rstds[at];
        for_runs(w, b, [&](int64_t i, int64_t n, T scale, T shift) {
          loops.apply(n, from + i, mean, rstd * scale, shift, by_element() ? w : nullptr,
                      by_element() ? b : nullptr, out + r * rows.length + i);
        });
      });
    });
  }

  // Sums of rows, of which `lines` share the work: each has its own line of the table.
  void sum(const T* grad, const T* x, const T* mean, const T* rstd, T* sums) const {
    const int64_t width = rows.groups * weights, samples = rows.rows / rows.groups;
    const int64_t lines = std::min(samples, kLines), share = divide_up(samples, lines);
    const StoragePtr memory =
        cpu_backend().allocate(static_cast<size_t>(2 * lines * width) * sizeof(T), Device(kCPU));
    T* const table = static_cast<T*>(memory->data());
    std::fill(table, table + 2 * lines * width, T(0));
    const auto add_row = [&](int64_t r, int64_t at, T* weight_sums, T* bias_sums) {
      const T *g = grad + r * rows.length, *from = x + r * rows.length;
      const T m = mean[at], s = rstd[at];
      if (by_element())
        return loops.add_products(1, rows.length, g, from, &m, &s, weight_sums, bias_sums);
      for (int64_t k = 0; k < weights; ++k) {
        double products = 0;
        const double sum = loops.grad_sums(rows.inner, g + k * rows.inner, from + k * rows.inner, m,
                                           nullptr, products);
        weight_sums[k] += static_cast<T>(products) * s;
        bias_sums[k] += static_cast<T>(sum);
      }
    };
    parallel_for(0, lines, rows.rows * rows.length > kGrain ? 1 : lines,
                 [&](int64_t begin, int64_t end) {
                   for (int64_t line = begin; line < end; ++line) {
                     T* const weight_sums = table + 2 * line * width;
                     const int64_t last = std::min((line + 1) * share, samples) * rows.groups;
                     const int64_t begin_row = line * share * rows.groups;
                     if (by_element() && rows.groups == 1 && !rows.shared) {
                       for (int64_t r = begin_row; r < last; r += kMostRows)
                         loops.add_products(std::min(kMostRows, last - r), rows.length,
                                            grad + r * rows.length, x + r * rows.length, mean + r,
                                            rstd + r, weight_sums, weight_sums + width);
                       continue;
                     }
                     each(begin_row, last, [&](int64_t r, int64_t group, int64_t at) {
                       const int64_t first = group * weights;
                       add_row(r, at, weight_sums + first, weight_sums + width + first);
                     });
                   }
                 });
    std::copy(table, table + 2 * width, sums);
    for (int64_t line = 1; line < lines; ++line)
      for (int64_t i = 0; i < 2 * width; ++i) sums[i] += table[2 * line * width + i];
  }

  void normalize_grad(const T* grad, const T* x, const T* mean, const T* rstd, const T* weight,
                      const T* sums, T* out) const {
    const double share = 1 / static_cast<double>(rows.elements());
    struct Sums {
      T shift, slope;
    };
    for_rows(rows, [&](int64_t first, int64_t last) {
      Sums of_rows[kMostRows];
      each(first, last, [&](int64_t r, int64_t group, int64_t at) {
        const T *g = grad + r * rows.length, *from = x + r * rows.length,
                *w = of_group(weight, group);
        const T m = mean[at], s = rstd[at];
        // The sums of grad times weight, and of that times x - mean.
        double sum = 0, products = 0;
        if (rows.shared) {
          const T scale = w ? *w : T(1);
          sum = static_cast<double>(sums[rows.groups + group] * scale);
          products = static_cast<double>(sums[group] * scale / s);
        } else {
          for_runs(w, nullptr, [&](int64_t i, int64_t count, T scale, T) {
            const auto factor = static_cast<double>(scale);
            double part = 0;
            sum += factor *
                   loops.grad_sums(count, g + i, from + i, m, by_element() ? w : nullptr, part);
            products += factor * part;
          });
        }
        of_rows[r - first] = {s * static_cast<T>(sum * share),
                              s * s * s * static_cast<T>(products * share)};
      });
      each(first, last, [&](int64_t r, int64_t group, int64_t at) {
        const T *g = grad + r * rows.length, *from = x + r * rows.length,
                *w = of_group(weight, group);
        const T m = mean[at], s = rstd[at];
        const auto& of_row = of_rows[r - first];
        for_runs(w, nullptr, [&](int64_t i, int64_t count, T scale, T) {
          loops.apply_grad(count, g + i, from + i, m, s * scale, of_row.shift, of_row.slope,
                           by_element() ? w : nullptr, out + r * rows.length + i);
        });
      });
    });
  }
};

}  // namespace

void CpuBackend::normalize(const NormalizedRows& rows, double eps, const Tensor& x,
                           const Tensor& weight, const Tensor& bias, const Tensor& mean,
                           const Tensor& rstd, const Tensor& out) {
  visit_floating("normalize", x.dtype(), [&]<class T>(TypeTag<T>) {
    Rows<T>{rows}.normalize(eps, data<T>(x), data<T>(weight), data<T>(bias), mean.data_ptr<T>(),
                            rstd.data_ptr<T>(), out.data_ptr<T>());
  });
}

void CpuBackend::moments(const NormalizedRows& rows, const Tensor& x, const Tensor& mean,
                         const Tensor& variance) {
  visit_floating("normalize", x.dtype(), [&]<class T>(TypeTag<T>) {
    Rows<T>{rows}.moments(data<T>(x), mean.data_ptr<T>(), variance.data_ptr<T>());
  });
}

void CpuBackend::normalize_sums(const NormalizedRows& rows, const Tensor& grad, const Tensor& x,
                                const Tensor& mean, const Tensor& rstd, const Tensor& sums) {
  visit_floating("normalize", x.dtype(), [&]<class T>(TypeTag<T>) {
    Rows<T>{rows}.sum(data<T>(grad), data<T>(x), data<T>(mean), data<T>(rstd), sums.data_ptr<T>());
  });
}

void CpuBackend::normalize_grad(const NormalizedRows& rows, const Tensor& grad, const Tensor& x,
                                const Tensor& mean, const Tensor& rstd, const Tensor& weight,
                                const Tensor& sums, const Tensor& out) {
  visit_floating("normalize", x.dtype(), [&]<class T>(TypeTag<T>) {
    Rows<T>{rows}.normalize_grad(data<T>(grad), data<T>(x), data<T>(mean), data<T>(rstd),
                                 data<T>(weight), data<T>(sums), out.data_ptr<T>());
  });
}

}  // namespace gradus::cpu
