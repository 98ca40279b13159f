// Factors of small matrices by columns, for which a call of LAPACK takes longer than its work.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

namespace gradus::cpu {

// Rows and columns of the largest small matrix.
inline constexpr int64_t kSmallFactors = 16;

// As LAPACK's potrf: a lower triangle becomes L. Returns the one-based place of the first pivot
// that is not positive, before which columns are done, or 0.
template <class T>
int small_cholesky(int64_t n, T* a) {
  for (int64_t k = 0; k < n; ++k) {
    T* const column = a + k * n;
    if (!(column[k] > 0)) return static_cast<int>(k + 1);
    column[k] = std::sqrt(column[k]);
    const T scale = 1 / column[k];
    for (int64_t i = k + 1; i < n; ++i) column[i] *= scale;
    for (int64_t j = k + 1; j < n; ++j)
      for (int64_t i = j; i < n; ++i) a[j * n + i] -= column[i] * column[j];
  }
  return 0;
}

// As LAPACK's getrf: a becomes L and U, with one-based pivots. Returns the one-based place of the
// first pivot that is zero, or 0.
template <class T>
int small_lu(int64_t rows, int64_t columns, T* a, int* pivots) {
  int info = 0;
  for (int64_t k = 0; k < std::min(rows, columns); ++k) {
    T* const column = a + k * rows;
    int64_t pivot = k;
    T largest = std::abs(column[k]);
    for (int64_t i = k + 1; i < rows; ++i) {
      const bool larger = std::abs(column[i]) > largest;
      largest = larger ? std::abs(column[i]) : largest, pivot = larger ? i : pivot;
    }
    pivots[k] = static_cast<int>(pivot + 1);
    if (column[pivot] == 0) {
      info = info ? info : static_cast<int>(k + 1);
    } else {
      if (pivot != k)
        for (int64_t j = 0; j < columns; ++j) std::swap(a[j * rows + k], a[j * rows + pivot]);
      // The inverse of a tiny pivot overflows.
      const bool tiny = largest < std::numeric_limits<T>::min();
      const T inverse = 1 / column[k];
      for (int64_t i = k + 1; i < rows; ++i)
        column[i] = tiny ? column[i] / column[k] : column[i] * inverse;
    }
    for (int64_t j = k + 1; j < columns; ++j) {
      const T factor = a[j * rows + k];
      for (int64_t i = k + 1; i < rows; ++i) a[j * rows + i] -= column[i] * factor;
    }
  }
  return info;
}

// Columns of `rows` elements times I - tau v v', where v is one and then the elements of `tail`.
template <class T>
void reflect(int64_t rows, int64_t columns, int64_t stride, const T* tail, T tau, T* a) {
  for (int64_t j = 0; j < columns; ++j, a += stride) {
    T sum = a[0];
    for (int64_t i = 1; i < rows; ++i) sum += tail[i - 1] * a[i];
    sum *= tau;
    a[0] -= sum;
    for (int64_t i = 1; i < rows; ++i) a[i] -= tail[i - 1] * sum;
  }
}

// As LAPACK's geqrf: a becomes R and the tails of reflections. These are computed in double, in
// which squares of floats neither overflow nor vanish.
inline void small_qr(int64_t rows, int64_t columns, float* a, float* tau) {
  for (int64_t k = 0; k < std::min(rows, columns); ++k) {
    float* const at = a + k * rows + k;
    double squares = 0;
    for (int64_t i = 1; i < rows - k; ++i) squares += std::pow(static_cast<double>(at[i]), 2);
    tau[k] = 0;
    if (squares == 0) continue;
    const double first = static_cast<double>(at[0]),
                 beta = -std::copysign(std::sqrt(first * first + squares), first),
                 scale = 1 / (first - beta);
    for (int64_t i = 1; i < rows - k; ++i)
      at[i] = static_cast<float>(static_cast<double>(at[i]) * scale);
    at[0] = static_cast<float>(beta), tau[k] = static_cast<float>((beta - first) / beta);
    reflect(rows - k, columns - k - 1, rows, at + 1, tau[k], at + rows);
  }
}

// As LAPACK's orgqr: the first `columns` columns of the product of `count` reflections.
template <class T>
void small_householder(int64_t rows, int64_t columns, int64_t count, T* a, const T* tau) {
  for (int64_t k = columns; k-- > 0;) {
    T *const column = a + k * rows, *const at = column + k;
    const T factor = k < count ? tau[k] : T(0);
    if (k < count) reflect(rows - k, columns - k - 1, rows, at + 1, factor, at + rows);
    for (int64_t i = 1; i < rows - k; ++i) at[i] = k < count ? at[i] * -factor : T(0);
    at[0] = 1 - factor;
    std::fill(column, at, T(0));
  }
}

// Eigenvalues d of the symmetric tridiagonal matrix with diagonal d and neighbours e, by implicit
// QR steps with Wilkinson's shift (Golub and Van Loan, "Matrix Computations", 8.3). The columns of
// q are turned with it. Returns whether they were found.
inline bool small_tridiagonal_eigh(int64_t n, double* d, double* e, double* q) {
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  for (int64_t last = n - 1, steps = 0; last > 0; ++steps) {
    int64_t first = last;
    while (first > 0 &&
           std::abs(e[first - 1]) > kEpsilon * (std::abs(d[first - 1]) + std::abs(d[first])))
      --first;
    if (first == last) {
      --last;
      continue;
    }
    if (steps > 60 * n) return false;
    const double half = (d[last - 1] - d[last]) / 2, end = e[last - 1];
    const double root = std::sqrt(half * half + end * end);
    double x = d[first] - (d[last] - end * end / (half + std::copysign(root, half))), z = e[first];
    for (int64_t k = first; k < last; ++k) {
      const double length = std::sqrt(x * x + z * z);
      const double c = length > 0 ? x / length : 1, s = length > 0 ? z / length : 0;
      if (k > first) e[k - 1] = length;
      const double upper = d[k], lower = d[k + 1], beside = e[k];
      d[k] = c * c * upper + 2 * c * s * beside + s * s * lower;
      d[k + 1] = s * s * upper - 2 * c * s * beside + c * c * lower;
      e[k] = x = c * s * (lower - upper) + (c * c - s * s) * beside;
      if (k + 1 < last) z = s * e[k + 1], e[k + 1] *= c;
      double *const one = q + k * n, *const two = one + n;
      for (int64_t i = 0; i < n; ++i) {
        const double held = one[i];
        one[i] = c * held + s * two[i], two[i] = c * two[i] - s * held;
      }
    }
  }
  return true;
}

// Does what LAPACK's syevd does with one triangle. Eigenvalues come in order, and eigenvectors
// replace a. Squares of floats neither overflow nor vanish in double, in which it computes. Returns
// false, and changes nothing, where an element is not finite.
inline bool small_eigh(int64_t n, bool upper, float* a, float* values) {
  double m[kSmallFactors * kSmallFactors], q[kSmallFactors * kSmallFactors] = {};
  double d[kSmallFactors], e[kSmallFactors], v[kSmallFactors], w[kSmallFactors];
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = j; i < n; ++i) {
      const float x = upper ? a[i * n + j] : a[j * n + i];
      if (!std::isfinite(x)) return false;
      m[j * n + i] = m[i * n + j] = static_cast<double>(x);
    }
  // Reflections make it tridiagonal: (I - v v' / half) m (I - v v' / half) for each column.
  for (int64_t j = 0; j < n; ++j) q[j * n + j] = 1;
  for (int64_t k = 0; k + 2 < n; ++k) {
    double squares = 0, sum = 0;
    for (int64_t i = k + 2; i < n; ++i) squares += m[k * n + i] * m[k * n + i];
    if (squares == 0) continue;
    const double head = m[k * n + k + 1],
                 beta = -std::copysign(std::sqrt(head * head + squares), head);
    const double half = beta * (beta - head);
    for (int64_t i = k + 1; i < n; ++i) v[i] = m[k * n + i] - (i == k + 1 ? beta : 0);
    for (int64_t i = k + 1; i < n; ++i) {
      w[i] = 0;
      for (int64_t j = k + 1; j < n; ++j) w[i] += m[i * n + j] * v[j];
      w[i] /= half, sum += w[i] * v[i];
    }
    for (int64_t i = k + 1; i < n; ++i) w[i] -= sum / (2 * half) * v[i];
    for (int64_t j = k + 1; j < n; ++j)
      for (int64_t i = k + 1; i < n; ++i) m[j * n + i] -= v[i] * w[j] + w[i] * v[j];
    m[k * n + k + 1] = beta;
    for (int64_t i = 0; i < n; ++i) w[i] = 0;
    for (int64_t j = k + 1; j < n; ++j)
      for (int64_t i = 0; i < n; ++i) w[i] += q[j * n + i] * v[j];
    for (int64_t j = k + 1; j < n; ++j)
      for (int64_t i = 0; i < n; ++i) q[j * n + i] -= w[i] / half * v[j];
  }
  for (int64_t i = 0; i < n; ++i) d[i] = m[i * n + i], e[i] = i + 1 < n ? m[i * n + i + 1] : 0;
  if (!small_tridiagonal_eigh(n, d, e, q)) return false;

  int order[kSmallFactors];
  std::iota(order, order + n, 0);
  std::sort(order, order + n, [&](int i, int j) { return d[i] < d[j]; });
  for (int64_t j = 0; j < n; ++j) {
    values[j] = static_cast<float>(d[order[j]]);
    for (int64_t i = 0; i < n; ++i) a[j * n + i] = static_cast<float>(q[order[j] * n + i]);
  }
  return true;
}

}  // namespace gradus::cpu
