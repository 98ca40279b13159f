// SimpleImputer: numbers in the place of missing ones, under the names of scikit-learn.
//
//   data::SimpleImputer imputer("median");
//   const Tensor x = imputer.fit_transform(train.numbers({"area", "rooms"}));
//   const Tensor y = imputer.transform(test.numbers({"area", "rooms"}));
#pragma once

#include <string>

#include "gradus/tensor/tensor.h"

namespace gradus::data {

// Missing numbers are NaN, as CsvTable::numbers() writes them.
class SimpleImputer {
 public:
  // strategy: "mean", "median" (between the two in the middle, where their number is even) or
  // "constant", which is fill_value. Errors: ValueError for another strategy.
  explicit SimpleImputer(std::string strategy = "mean", double fill_value = 0);

  // Learns a number for each column of x, whose rows are dimension 0, from those that are there.
  // Errors: ValueError for x without dimensions, and for a column without a number unless the
  // strategy is "constant"; TypeError unless x is float32 or float64. Nothing is learned then.
  SimpleImputer& fit(const Tensor& x);
  // A copy of x with these numbers where it is NaN. Errors: ValueError before fit(), and for x with
  // other columns.
  Tensor transform(const Tensor& x) const;
  Tensor fit_transform(const Tensor& x) { return fit(x).transform(x); }
  // The number of each column. Undefined before fit().
  const Tensor& statistics() const { return statistics_; }

 private:
  std::string strategy_;
  double fill_value_;
  Tensor statistics_;
};

}  // namespace gradus::data
