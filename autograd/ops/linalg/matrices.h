// Checks that all functions of linear algebra share, and errors that name a matrix. A public
// function makes a Called of its name and passes that as `op`, so that errors of the functions that
// it calls name it, too.
#pragma once

#include "gradus/autograd/engine/own_result.h"
#include "gradus/autograd/engine/record.h"
#include "gradus/tensor/base/called.h"
#include "gradus/tensor/raw/factorize.h"

namespace gradus::matrices {

// x itself. Errors: TypeError where x is not of Float or Double, ValueError for fewer than two
// dimensions; both in PyTorch's words.
const Tensor& checked(const char* op, const Tensor& x, const char* name = "A");
// Errors: ValueError unless x holds square matrices; its dtype is not looked at.
void check_square(const char* op, const Tensor& x, const char* name = "A");
// `checked` where the matrices are square.
const Tensor& checked_square(const char* op, const Tensor& x, const char* name = "A");
// Errors: TypeError where the dtypes differ, Error where the devices do.
void check_alike(const char* op, const Tensor& a, const char* a_name, const Tensor& b,
                 const char* b_name);
// Errors: NotImplementedError unless pivot.
void check_pivot(const char* op, bool pivot);

// Both with the leading dimensions that theirs broadcast to. Errors: ValueError.
TensorPair with_one_batch(const char* op, const Tensor& a, const Tensor& b);
// The identity of the size and the batch of square matrices x.
Tensor identity_like(const Tensor& x);

// Errors: LinAlgError for the first matrix whose info is not 0: OP: (Batch element I): WHAT, where
// `what` makes the text of the number. Waits for a GPU.
void check_info(const char* op, const Tensor& info, std::string (*what)(int));
// Texts for check_info.
std::string singular_inverse(int info);
std::string singular_solve(int info);
std::string not_positive_definite(int info);
std::string no_eigenvalues(int info);
std::string no_singular_values(int info);
std::string zero_in_u(int info);

// record() for a function of one tensor with several results, of which backward(node, grads) gets
// the gradients; some may be undefined. Results may be saved.
template <class F>
void record_results(const char* name, ArrayRef<Tensor> results, const Tensor& input,
                    ArrayRef<Tensor> saved, F backward) {
  auto node = make_node<LambdaNode<F>>(name, std::move(backward));
  node->add_next_edge(gradient_edge(input));
  for (const Tensor& tensor : saved) {
    std::optional<uint32_t> place;
    for (uint32_t i = 0; i < results.size(); ++i)
      if (tensor.is_same(results[i])) place = i;
    node->save(tensor, place);
  }
  for (const Tensor& result : results) {
    own_unless_shared(result, TensorRefs{input});
    set_history(result, node, node->add_input_metadata(result));
  }
}

}  // namespace gradus::matrices
