// searchsorted, bucketize and isin: searches in sorted lists.
#include "gradus/autograd/functions.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

namespace {

Tensor search(const char* op, const Tensor& list, const Tensor& wanted, bool out_int32,
              bool right) {
  raw::check_same_device(op, list, "the sorted sequence", wanted, "self");
  check(list.dim() > 0, op,
        ": the sorted sequence has no dimensions, expected 1 or more; reshape it to {1}");
  const auto rows = [](const Tensor& x) { return x.sizes().slice(0, x.sizes().size() - 1); };
  check(list.dim() == 1 || (list.dim() == wanted.dim() && rows(list) == rows(wanted)), op,
        ": the sorted sequence has shape ", list.sizes(), ", self ", wanted.sizes(),
        "; expected one sequence, or one for each row of self; expand() the sequence to its rows");
  return raw::to(raw::searchsorted(list, wanted, right), out_int32 ? kInt : kLong);
}

bool is_right(bool right, std::optional<std::string_view> side) {
  check(!side || *side == "left" || *side == "right", "searchsorted: side is \"", side.value_or(""),
        "\", expected left or right; give one of these words");
  check(!side || !right || *side == "right",
        "searchsorted: side is \"left\" and right is true; give one of them");
  return right || side == "right";
}

Tensor in_order(const Tensor& sequence, const std::optional<Tensor>& sorter) {
  if (!sorter || !sorter->defined()) return sequence;
  check(sorter->sizes() == sequence.operand("searchsorted", "the sorted sequence").sizes(),
        "searchsorted: sorter has shape ", sorter->sizes(), ", the sequence ", sequence.sizes(),
        "; expected the same; sort() gives such indices");
  return sequence.detach().gather(-1, *sorter);
}

Tensor number_on(const Tensor& x, const Scalar& number) {
  return full({}, number, TensorOptions().device(x.device()));
}

}  // namespace

Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& self, bool out_int32, bool right,
                    std::optional<std::string_view> side, const std::optional<Tensor>& sorter) {
  return search("searchsorted", in_order(sorted_sequence, sorter), self, out_int32,
                is_right(right, side));
}
Tensor searchsorted(const Tensor& sorted_sequence, const Scalar& self, bool out_int32, bool right,
                    std::optional<std::string_view> side, const std::optional<Tensor>& sorter) {
  return search("searchsorted", in_order(sorted_sequence, sorter), number_on(sorted_sequence, self),
                out_int32, is_right(right, side));
}

Tensor bucketize(const Tensor& self, const Tensor& boundaries, bool out_int32, bool right) {
  check(boundaries.dim() == 1, "bucketize: boundaries has shape ", boundaries.sizes(),
        ", expected 1 dimension; flatten() it, or use searchsorted()");
  return search("bucketize", boundaries, self, out_int32, right);
}
Tensor bucketize(const Scalar& self, const Tensor& boundaries, bool out_int32, bool right) {
  check(boundaries.dim() == 1, "bucketize: boundaries has shape ", boundaries.sizes(),
        ", expected 1 dimension; flatten() it, or use searchsorted()");
  return search("bucketize", boundaries, number_on(boundaries, self), out_int32, right);
}

Tensor isin(const Tensor& elements, const Tensor& test_elements, bool, bool invert) {
  for (const Tensor& x : {elements, test_elements}) raw::check_number("isin", x);
  raw::check_same_device("isin", elements, "elements", test_elements, "test_elements");
  const ScalarType common = raw::result_type(elements, test_elements);
  const Tensor x = elements.detach().to(common);
  const Tensor tests = test_elements.detach().to(common).reshape({-1});
  const int64_t n = tests.size(0);
  if (n == 0) return full(x.sizes(), invert, x.options().dtype(kBool));
  const Tensor list = raw::sort(tests, 0, false).values;
  const Tensor place = raw::searchsorted(list, x, false).minimum(n - 1);
  const Tensor nearest = list.gather(0, place.reshape({-1})).reshape(x.sizes());
  return invert ? nearest != x : nearest == x;
}
Tensor isin(const Tensor& elements, const Scalar& test_element, bool assume_unique, bool invert) {
  return isin(elements, number_on(elements, test_element), assume_unique, invert);
}
Tensor isin(const Scalar& element, const Tensor& test_elements, bool assume_unique, bool invert) {
  return isin(number_on(test_elements, element), test_elements, assume_unique, invert);
}

}  // namespace gradus
