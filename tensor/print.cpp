// Tensors as text, byte for byte as libtorch 1.13 writes them. Its oddities are included: "Columns
// 1 to 8" ends without a new line; a negative number widens the columns only where it comes first;
// a scaled matrix indents every row but its first.

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <ios>
#include <iostream>
#include <ostream>

#include "gradus/tensor/raw/raw.h"

namespace gradus {

namespace {

constexpr int kDigits = 4;  // after the point

// Gives the caller's stream back as it was.
class StreamState {
 public:
  explicit StreamState(std::ostream& out)
      : out_(out), flags_(out.flags()), precision_(out.precision()), width_(out.width()) {}
  ~StreamState() {
    out_.width(width_);
    out_.flags(flags_);
    out_.precision(precision_);
  }
  StreamState(const StreamState&) = delete;
  StreamState& operator=(const StreamState&) = delete;

 private:
  std::ostream& out_;
  std::ios_base::fmtflags flags_;
  std::streamsize precision_, width_;
};

// A matrix of doubles; a vector is one column.
struct Matrix {
  const double* data;
  int64_t rows, columns;
  const double* begin() const { return data; }
  const double* end() const { return data + rows * columns; }
};

// How the numbers of one matrix are written.
struct Style {
  enum { whole, fixed, scientific } notation;
  int width;
  double scale = 1;  // written once; the numbers are divided by it
};

// Digits before the point; zero or less counts zeros after it.
int digits(double magnitude) {
  return magnitude == 0 ? 1 : static_cast<int>(std::floor(std::log10(magnitude))) + 1;
}

Style choose_style(const Matrix& m) {
  constexpr int kScientificWidth = 11;
  bool whole = true, any = false;
  double least = 1, most = 1;
  for (double x : m) {
    if (!std::isfinite(x)) continue;
    const double magnitude = std::fabs(x);
    whole &= x == std::ceil(x);
    least = any ? std::min(least, magnitude) : magnitude;
    most = any ? std::max(most, x) : magnitude;
    any = true;
  }
  const int low = digits(least), high = digits(most);
  if (whole) {
    if (high > 9) return {Style::scientific, kScientificWidth};
    return {Style::whole, high + 1};
  }
  if (high - low > 4) {
    const bool three_digits = std::abs(low) > 99 || std::abs(high) > 99;  // in the exponent
    return {Style::scientific, kScientificWidth + three_digits};
  }
  if (high < 0 || high > 5) return {Style::fixed, kDigits + 3, std::pow(10.0, high - 1)};
  return {Style::fixed, kDigits + 2 + std::max(high, 1)};
}

void begin_numbers(std::ostream& out, const Style& style, const std::string& margin) {
  out.unsetf(std::ios_base::floatfield);
  if (style.notation == Style::whole) return;
  out.precision(kDigits);
  if (style.scale != 1) out << style.scale << " *\n" << margin;
  out << (style.notation == Style::fixed ? std::fixed : std::scientific);
}

void print_vector(std::ostream& out, const Matrix& m) {
  const Style style = choose_style(m);
  begin_numbers(out, style, "");
  for (double x : m) out << std::setw(style.width) << x / style.scale << '\n';
}

void print_matrix(std::ostream& out, const Matrix& m, int indent, int64_t line_size) {
  const std::string margin(static_cast<size_t>(indent), ' ');
  const Style style = choose_style(m);
  const int64_t per_line = std::max<int64_t>((line_size - indent) / (style.width + 1), 1);
  out << margin;
  for (int64_t first = 0; first < m.columns; first += per_line) {
    const int64_t last = std::min(first + per_line, m.columns);
    if (per_line < m.columns) {
      if (first != 0) out << '\n';
      out << "Columns " << first + 1 << " to " << last << margin;
    }
    begin_numbers(out, style, margin);
    for (int64_t row = 0; row < m.rows; ++row) {
      if (row != 0) out << margin << (style.scale != 1 ? " " : "");
      for (int64_t column = first; column < last; ++column)
        out << (column == first ? "" : " ") << std::setw(style.width)
            << m.data[row * m.columns + column] / style.scale;
      out << '\n';
    }
  }
}

// The matrices of the last two dimensions, under headers that count the first dimension fastest.
void print_matrices(std::ostream& out, const Tensor& x, int64_t line_size) {
  const int64_t rows = x.size(-2), columns = x.size(-1);
  const int64_t matrices = x.numel() / (rows * columns);
  const IntArrayRef lead = x.sizes().slice(0, x.sizes().size() - 2);
  Dims index = Dims::filled(static_cast<int64_t>(lead.size()), 0);
  for (int64_t n = 0; n < matrices; ++n) {
    if (n != 0) out << '\n';
    int64_t offset = 0;
    out << '(';
    for (size_t d = 0; d < lead.size(); ++d) {
      out << index[d] + 1 << ',';
      offset += index[d] * x.strides()[d];
    }
    out << ".,.) = \n";
    print_matrix(out, {x.data_ptr<double>() + offset, rows, columns}, 1, line_size);
    for (size_t d = 0; d < lead.size() && ++index[d] == lead[d]; ++d) index[d] = 0;
  }
}

void print_elements(std::ostream& out, const Tensor& x, int64_t line_size) {
  if (x.is_complex()) {  // libtorch 1.13 leaves the imaginary part out
    if (x.dim() == 0) {
      out << raw::item(x) << '\n';
      return;
    }
    out << "real:\n";
    print_elements(out, raw::contiguous(raw::part_of(x, 0)), line_size);
    out << "imag:\n";
    return print_elements(out, raw::contiguous(raw::part_of(x, 1)), line_size);
  }
  const double* data = x.data_ptr<double>();
  if (x.dim() == 0) {
    out.unsetf(std::ios_base::floatfield);
    out << *data << '\n';
  } else if (x.dim() == 1) {
    print_vector(out, {data, x.numel(), 1});
  } else if (x.dim() == 2) {
    print_matrix(out, {data, x.size(0), x.size(1)}, 0, line_size);
  } else {
    print_matrices(out, x, line_size);
  }
}

}  // namespace

std::string Tensor::toString() const {
  if (!defined()) return "UndefinedType";
  return std::string(is_cuda() ? "CUDA" : "CPU") + gradus::toString(scalar_type()) + "Type";
}

void Tensor::print() const {
  if (defined())
    std::cerr << '[' << toString() << ' ' << sizes() << "]\n";
  else
    std::cerr << "[UndefinedTensor]\n";
}

std::ostream& print(std::ostream& out, const Tensor& tensor, int64_t line_size) {
  if (!tensor.defined()) return out << "[ Tensor (undefined) ]";
  const StreamState restored(out);
  if (tensor.numel() > 0)
    print_elements(out,
                   raw::contiguous(raw::to(
                       raw::to(tensor, tensor.is_complex() ? kComplexDouble : kDouble), kCPU)),
                   line_size);
  out << "[ " << tensor.toString() << '{';
  for (size_t d = 0; d < tensor.sizes().size(); ++d) out << (d ? "," : "") << tensor.sizes()[d];
  return out << "} ]";
}

void print(const Tensor& tensor, int64_t line_size) { print(std::cout, tensor, line_size); }

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) { return print(out, tensor, 80); }

}  // namespace gradus
