// What Python's garbage collector sees of the Python objects that C++ objects hold.
//
// The collector counts each reference once, so a C++ object is looked into only where one Python
// object owns it: where all handles to it were found from there. What has another owner too, such
// as a graph that a second result still needs, counts as in use.
#pragma once

#include <nanobind/nanobind.h>

#include <unordered_map>
#include <vector>

#include "gradus/autograd/engine/node.h"
#include "objects.h"

namespace gradus::python {

class Visit {
 public:
  // Visits the class and the attributes of `self`.
  Visit(PyObject* self, visitproc visit, void* arg);
  int result() const { return result_; }
  // Whether the C++ object may be looked into: it is constructed, and no thread computes, so that
  // the collector sees the same owners each time that it looks.
  bool sees_inside() const { return result_ == 0 && sees_inside_; }

  void object(PyObject* object) {
    if (result_ == 0 && object) result_ = visit_(object, arg_);
  }
  // Each is called once for each handle that was found.
  void held(const Held& held) {
    if (held.use_count() == 1 && !callbacks_have_ended()) object(held.get());
  }
  // copies: how many of the handles are not to be found.
  void tensor(const Tensor& tensor, int64_t copies = 0);

 private:
  // Whether this is the last handle to an object that has so many.
  bool is_last(const void* object, int64_t handles) {
    return handles == 1 || ++found_[object] == handles;
  }
  void look_into(const TensorImpl& tensor);
  void look_into(const Node& node);
  void hooks(const std::vector<TensorHook>& hooks);
  void node(const std::shared_ptr<Node>& node);

  visitproc visit_;
  void* arg_;
  int result_ = 0;
  bool sees_inside_ = false, looking_ = false;
  std::unordered_map<const void*, int64_t> found_;  // handles, of what has several
  // What is to be looked into yet: graphs are too deep for recursion.
  std::vector<const TensorImpl*> tensors_;
  std::vector<const Node*> nodes_;
};

// A node that holds Python objects.
struct HoldsObjects {
  virtual ~HoldsObjects() = default;
  virtual void visit(Visit& visit) const = 0;
};

// tp_clear of a class with attributes alone.
int clear_attributes(PyObject* self);
// REQUIRES: called before an object of a class with a Visit exists.
void prepare_cycles(nb::module_& m);

}  // namespace gradus::python
