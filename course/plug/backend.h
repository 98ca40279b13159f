// StudentBackend: the library's backend of a device, with the student's code for float32 tensors.
#pragma once

#include <functional>
#include <map>
#include <ostream>
#include <set>
#include <string>

#include "plug/code.h"
#include "plug/forwarding.h"

namespace course::plug {

// How many calls of a function of Backend ran on whose code.
struct Calls {
  int64_t student = 0, library = 0;
};

// fill, copy, map, map_grad, zip, reduce, matmul and update call the student's code. What a task
// does not cover (other types, other operations, more than 4 dimensions) and what is not
// implemented yet is handed on to the library, so that nothing has to be solved before the rest can
// be used.
class StudentBackend final : public ForwardingBackend {
 public:
  // Both must outlive it.
  StudentBackend(Backend& inner, const Code& code) : ForwardingBackend(inner), code_(code) {}

  const std::map<std::string, Calls>& calls() const { return calls_; }  // by the function's name
  const std::map<std::string, int64_t>& tasks() const {
    return tasks_;
  }  // calls of the student's code, by task
  void forget() { calls_.clear(), tasks_.clear(); }

  void fill(const Tensor& out, const Scalar& value) override;
  void copy(const Tensor& src, const Tensor& dst) override;
  void map(gradus::UnaryOp op, const Tensor& x, const Tensor& out) override;
  void map_grad(gradus::UnaryOp op, const Tensor& grad, const Tensor& x, const Tensor& y,
                const Tensor& out) override;
  void zip(gradus::BinaryOp op, const Operand& x, const Operand& y, const Tensor& out) override;
  void reduce(gradus::ReduceOp op, const Tensor& x, const Tensor& out) override;
  void matmul(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& out) override;
  void update(gradus::UpdateOp op, int states,
              ArrayRef<gradus::UpdatedParameter> parameters) override;

 private:
  // Calls the student's function; false where its task is not solved yet, and then nothing has
  // happened.
  bool solved(const char* task, const std::function<void()>& call);
  bool map_with(Op1 op, const Tensor& x, const Tensor& out);
  bool zip_with(Op2 op, const Operand& x, const Operand& y, const Tensor& out);
  bool fill_with(const Tensor& out, float value);
  bool slope_with(Op1 op, const Tensor& grad, const Tensor& x, const Tensor& y, const Tensor& out);
  bool reduce_with(gradus::ReduceOp op, const Tensor& x, const Tensor& out);
  bool product_with(const Tensor& a, const Tensor& b, const Tensor& out);
  bool step_at_once(int states, ArrayRef<gradus::UpdatedParameter> parameters);
  bool step_by_zip(int states, const gradus::UpdatedParameter& parameter);
  bool update_with(int states, ArrayRef<gradus::UpdatedParameter> parameters);
  void handed_on(const char* function) override { ++calls_[function].library; }
  // Counts a call, and hands it on to the library where the student's code has not done it.
  void count(const char* name, bool is_student, const std::function<void()>& library);

  const Code& code_;
  std::set<std::string> unsolved_;
  std::map<std::string, Calls> calls_;
  std::map<std::string, int64_t> tasks_;
};

}  // namespace course::plug
