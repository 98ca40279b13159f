// Curves that are thinned as they grow.
#include "gradus/watch/dashboard/history.h"

#include "gradus/autograd/functions.h"
#include "gradus/tensor/base/error.h"
#include "gradus/tensor/factories.h"

namespace gradus::watch::detail {

namespace {
constexpr size_t kMostPoints = 1000, kMostNames = 200;
const std::string kRows = "rows", kCurve = "curve.", kText = "text.";
}  // namespace

void Series::add(Point point) {
  last_ = point;
  if (count_++ % stride_ != 0) return;
  kept_.push_back(point);
  if (kept_.size() < kMostPoints) return;
  for (size_t i = 0; i < kept_.size() / 2; ++i) kept_[i] = kept_[2 * i];
  kept_.resize(kept_.size() / 2);
  stride_ *= 2;
}

std::vector<Point> Series::points() const {
  std::vector<Point> out = kept_;
  if ((count_ - 1) % stride_ != 0) out.push_back(last_);
  return out;
}

void History::add(const char* op, const LogRow& row, std::optional<int64_t> step) {
  const std::lock_guard lock(mutex_);
  size_t names = curves_.series.size() + curves_.texts.size();
  for (const auto& [name, value] : row)
    names += !(value.number() ? curves_.series.contains(name) : curves_.texts.contains(name));
  check(names <= kMostNames, op, ": ", names, " names, expected at most ", kMostNames,
        "; give the same name to all values of a curve");
  const int64_t at = step ? *step : ++rows_;
  for (const auto& [name, value] : row)
    if (const auto number = value.number())
      curves_.series[name].add({at, *number});
    else
      curves_.texts[name] = value.exact();
}

Curves History::copy() const {
  const std::lock_guard lock(mutex_);
  return curves_;
}

OrderedDict<std::string, Tensor> History::state_dict() const {
  const std::lock_guard lock(mutex_);
  OrderedDict<std::string, Tensor> out;
  out.insert(kRows, full({}, rows_, kLong));
  for (const auto& [name, series] : curves_.series) {
    std::vector<double> numbers;
    for (const auto& [step, value] : series.points()) {
      numbers.push_back(static_cast<double>(step));
      numbers.push_back(value);
    }
    out.insert(kCurve + name, tensor(numbers, kDouble).view({-1, 2}));
  }
  for (const auto& [name, text] : curves_.texts)
    out.insert(kText + name, tensor(std::vector<uint8_t>(text.begin(), text.end()), kByte));
  return out;
}

void History::load_state_dict(const OrderedDict<std::string, Tensor>& state) {
  Curves curves;
  int64_t rows = 0;
  for (const auto& item : state) {
    const std::string& key = item.key();
    const Tensor value = item.value().cpu().contiguous();
    const auto takes = [&](ScalarType dtype, int64_t dim) {
      return value.scalar_type() == dtype && value.dim() == dim;
    };
    if (key == kRows && takes(kLong, 0)) {
      rows = value.item<int64_t>();
    } else if (key.starts_with(kCurve) && takes(kDouble, 2) && value.size(1) == 2 &&
               value.size(0) > 0) {
      Series& series = curves.series[key.substr(kCurve.size())];
      const double* at = value.data_ptr<double>();
      for (int64_t i = 0; i < value.size(0); ++i, at += 2)
        series.add({static_cast<int64_t>(at[0]), at[1]});
    } else if (key.starts_with(kText) && takes(kByte, 1)) {
      const auto* const text = value.data_ptr<uint8_t>();
      curves.texts[key.substr(kText.size())] = std::string(text, text + value.numel());
    } else {
      fail("Dashboard: load_state_dict: ", key, " is ", value.scalar_type(), " of shape ",
           value.sizes(), ", expected rows, curves and texts; give what state_dict() returned");
    }
  }
  check(curves.series.size() + curves.texts.size() <= kMostNames,
        "Dashboard: load_state_dict: ", curves.series.size() + curves.texts.size(),
        " names, expected at most ", kMostNames, "; give what state_dict() returned");
  const std::lock_guard lock(mutex_);
  curves_ = std::move(curves);
  rows_ = rows;
}

}  // namespace gradus::watch::detail
