// History: columns of numbers, as long as there are rows.
#include "gradus/watch/pictures/history.h"

#include <cmath>
#include <limits>
#include <set>

#include "gradus/autograd/functions.h"
#include "gradus/tensor/factories.h"

namespace gradus::watch {

namespace {
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
}

void History::log(const LogRow& row) {
  std::set<std::string> names;
  for (const auto& [name, value] : row) {
    check(value.number().has_value(), "History::log: ", name, " is \"", value.exact(),
          "\", expected a number; a CSVLogger takes texts");
    check(names.insert(name).second, "History::log: ", name, " is given twice; leave one out");
  }
  ++rows_;
  for (const auto& [name, value] : row) {
    std::vector<double>& column = columns_[name];
    column.resize(static_cast<size_t>(rows_) - 1, kNone);
    column.push_back(*value.number());
  }
  for (auto& [name, column] : columns_) column.resize(static_cast<size_t>(rows_), kNone);
}

const std::vector<double>& History::column(const std::string& name) const {
  const auto found = columns_.find(name);
  if (found != columns_.end()) return found->second;
  std::string known;
  for (const auto& item : columns_) known += (known.empty() ? "" : ", ") + item.first;
  fail<ValueError>("History: no row has a figure \"", name, "\"; there are: ", known);
}

Curve History::curve(const std::string& name, const std::string& x) const {
  const std::vector<double>& ys = column(name);
  const std::vector<double>* const xs = x.empty() ? nullptr : &column(x);
  Curve out{name, {}, {}};
  for (size_t i = 0; i < ys.size(); ++i) {
    const double at = xs != nullptr ? (*xs)[i] : static_cast<double>(i + 1);
    if (std::isnan(ys[i]) || std::isnan(at)) continue;
    out.x.push_back(at);
    out.y.push_back(ys[i]);
  }
  return out;
}

OrderedDict<std::string, Tensor> History::state_dict() const {
  OrderedDict<std::string, Tensor> out;
  for (const auto& [name, column] : columns_) out.insert(name, tensor(column, kDouble));
  return out;
}

void History::load_state_dict(const OrderedDict<std::string, Tensor>& state) {
  std::map<std::string, std::vector<double>> columns;
  int64_t rows = 0;
  for (const auto& item : state) {
    const Tensor& value = item.value();
    check(value.scalar_type() == kDouble && value.dim() == 1,
          "History::load_state_dict: ", item.key(), " is ", value.scalar_type(), " of shape ",
          value.sizes(), ", expected a row of ", kDouble, "; load what state_dict() returned");
    check(columns.empty() || value.size(0) == rows, "History::load_state_dict: ", item.key(),
          " has ", value.size(0), " rows and others ", rows, "; load what state_dict() returned");
    rows = value.size(0);
    const Tensor here = value.cpu().contiguous();
    const double* const begin = here.data_ptr<double>();
    columns.emplace(item.key(), std::vector<double>(begin, begin + rows));
  }
  columns_ = std::move(columns);
  rows_ = rows;
}

}  // namespace gradus::watch
