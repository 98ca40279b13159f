// History: the figures of a training, row by row, for the pictures at its end.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "gradus/tensor/base/ordered_dict.h"
#include "gradus/watch/log_value.h"
#include "gradus/watch/pictures/plot.h"

namespace gradus::watch {

// Figures of each epoch or step by name. A checkpoint keeps them, so that a training that was
// resumed has the curves from its beginning.
//
//   watch::History history;
//   history.log({{"epoch", epoch}, {"loss", loss}, {"test accuracy", accuracy}});
//   watch::plot_curves("LeNet", "epoch", {{"loss", {history.curve("loss")}}});
class History {
 public:
  // A row of numbers. A column without one has NaN there.
  // Errors: ValueError for a text, and a name given twice; nothing changes then.
  void log(const LogRow& row);
  // The number of rows.
  int64_t size() const { return rows_; }
  // The figures of a name, one for each row. Errors: ValueError for a name that no row has.
  const std::vector<double>& column(const std::string& name) const;
  // The figures of a name over those of `x`, or over 1, 2, 3, ... Rows where one is NaN are left
  // out. Errors: as column.
  Curve curve(const std::string& name, const std::string& x = "") const;

  // A float64 tensor for each name.
  OrderedDict<std::string, Tensor> state_dict() const;
  // Errors: ValueError for tensors of other kinds, and of several lengths; nothing changes then.
  void load_state_dict(const OrderedDict<std::string, Tensor>& state);

 private:
  std::map<std::string, std::vector<double>> columns_;
  int64_t rows_ = 0;
};

}  // namespace gradus::watch
