// The search for NaN and infinities on the CPU. Both have all bits of the exponent set, so that a
// search needs no arithmetic.
#include "gradus/tensor/nonfinite.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "gradus/cpu/parallel.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

namespace {

// The bits of an exponent in a word of `bytes`; the words of a complex number are its parts.
struct NumberForm {
  int bytes, parts;
  uint64_t exponent;
};
NumberForm form_of(ScalarType dtype) {
  switch (dtype) {
    case kHalf:
      return {2, 1, 0x7c00};
    case kBFloat16:
      return {2, 1, 0x7f80};
    case kDouble:
      return {8, 1, 0x7ff0000000000000};
    case kComplexFloat:
      return {4, 2, 0x7f800000};
    case kComplexDouble:
      return {8, 2, 0x7ff0000000000000};
    default:
      return {4, 1, 0x7f800000};
  }
}

template <class F>
auto visit_words(const NumberForm& form, const F& f) {
  if (form.bytes == 2) return f(uint16_t{});
  return form.bytes == 4 ? f(uint32_t{}) : f(uint64_t{});
}

// The same elements in memory without gaps, in any order.
Tensor dense(const Tensor& x) { return x.is_non_overlapping_and_dense() ? x : raw::contiguous(x); }

template <class Word>
bool has_exponent(const Word* x, int64_t n, Word exponent) {
  constexpr int64_t kBlock = 2048;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = std::min(n, begin + kBlock);
    Word found = 0;
    for (int64_t i = begin; i < end; ++i)
      found |= static_cast<Word>((x[i] & exponent) == exponent ? 1 : 0);
    if (found) return true;
  }
  return false;
}

bool is_all_finite(const Tensor& x) {
  const NumberForm form = form_of(x.scalar_type());
  const Tensor flat = dense(x);
  return visit_words(form, [&]<class Word>(Word) {
    const auto* const words = static_cast<const Word*>(flat.data_ptr());
    const auto exponent = static_cast<Word>(form.exponent);
    const int64_t n = x.numel() * form.parts;
    std::atomic<bool> found = false;
    cpu::parallel_for(0, n, cpu::share_of(n, cpu::kGrain), [&](int64_t first, int64_t last) {
      if (has_exponent(words + first, last - first, exponent))
        found.store(true, std::memory_order_relaxed);
    });
    return !found.load(std::memory_order_relaxed);
  });
}

// Adds the elements of x, the tensor of this number, to the count.
void count(const Tensor& x, int number, Nonfinite& out) {
  const NumberForm form = form_of(x.scalar_type());
  const Tensor flat = raw::contiguous(x);
  visit_words(form, [&]<class Word>(Word) {
    const auto* const words = static_cast<const Word*>(flat.data_ptr());
    const auto exponent = static_cast<Word>(form.exponent);
    const auto fraction = static_cast<Word>(exponent & -exponent) - 1;
    for (int64_t i = 0; i < x.numel(); ++i) {
      bool nan = false, infinite = false;
      for (int part = 0; part < form.parts; ++part) {
        const Word word = words[i * form.parts + part];
        if ((word & exponent) != exponent) continue;
        ((word & fraction) != 0 ? nan : infinite) = true;
      }
      if (!nan && !infinite) continue;
      if (out.kinds() == 0 || (nan && out.nans == 0)) out.tensor = number, out.place = i;
      ++(nan ? out.nans : out.infinities);
    }
  });
}

Nonfinite count_all(ArrayRef<Tensor> tensors) {
  Nonfinite out;
  for (size_t i = 0; i < tensors.size(); ++i)
    if (!is_all_finite(tensors[i])) count(tensors[i], static_cast<int>(i), out);
  return out;
}

double largest_magnitude(ArrayRef<Tensor> tensors) {
  double out = 0;
  for (const Tensor& x : tensors) {
    const bool complex = isComplexType(x.scalar_type());
    const Tensor wide = raw::contiguous(raw::to(x, complex ? kComplexDouble : kDouble));
    const auto* const values = static_cast<const double*>(wide.data_ptr());
    for (int64_t i = 0; i < x.numel() * (complex ? 2 : 1); ++i)
      if (std::isfinite(values[i])) out = std::max(out, std::abs(values[i]));
  }
  return out;
}

}  // namespace

unsigned cpu_kinds(ArrayRef<Tensor> tensors) {
  Nonfinite out;
  for (const Tensor& x : tensors)
    if (!is_all_finite(x)) count(x, 0, out);
  return out.kinds();
}

bool cpu_find_nonfinite(const CheckedOperation& operation, NonfiniteFinding& finding) {
  bool finite = true;
  for (const Tensor& x : operation.results) finite = finite && is_all_finite(x);
  if (finite) return false;
  finding = {.number = operation.number, .results = count_all(operation.results)};
  finding.operands = count_all(operation.operands);
  finding.given = operation.given | finding.operands.kinds();
  const unsigned found = finding.results.kinds();
  finding.made = (found & ~finding.given) != 0;
  if (!finding.made && !(found & kNans)) return false;
  finding.largest = largest_magnitude(operation.operands);
  return true;
}

}  // namespace gradus
