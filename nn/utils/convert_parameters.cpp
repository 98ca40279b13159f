// Parameters as one vector, and back.
#include "gradus/nn/utils/convert_parameters.h"

#include "gradus/autograd/functions.h"

namespace gradus::nn::utils {

namespace {
void check_one_device(const char* name, const Tensors& parameters) {
  for (const Tensor& parameter : parameters)
    check(parameter.device() == parameters[0].device(), name, ": parameters are on ",
          parameters[0].device(), " and on ", parameter.device(), "; move them to one device");
}
}  // namespace

Tensor parameters_to_vector(const Tensors& parameters) {
  check_one_device("parameters_to_vector", parameters);
  Tensors flat;
  for (const Tensor& parameter : parameters) flat.push_back(parameter.reshape({-1}));
  return cat(flat);
}

void vector_to_parameters(const Tensor& vec, const Tensors& parameters) {
  check_one_device("vector_to_parameters", parameters);
  int64_t elements = 0, begin = 0;
  for (const Tensor& parameter : parameters) elements += parameter.numel();
  check(vec.dim() == 1 && vec.numel() == elements, "vector_to_parameters: the vector has shape ",
        vec.sizes(), ", and the parameters have ", elements,
        " elements; give what parameters_to_vector() of them returned");
  Tensors pieces;
  for (const Tensor& parameter : parameters) {
    pieces.push_back(vec.detach().slice(0, begin, begin + parameter.numel()).view_as(parameter));
    begin += parameter.numel();
  }
  for (size_t i = 0; i < pieces.size(); ++i) parameters[i].set_data(pieces[i]);
}

}  // namespace gradus::nn::utils
