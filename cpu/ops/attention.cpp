// temporary
#include "gradus/cpu/backend.h"
namespace gradus::cpu {
void CpuBackend::attention(const Attention& how, const Tensor& q, const Tensor& k, const Tensor& v,
                 const Tensor& mask, const Tensor& out, const Tensor& log_sums) { Backend::attention(how,q,k,v,mask,out,log_sums); }
void CpuBackend::attention_grad(const Attention& how, const Tensor& grad, const Tensor& q, const Tensor& k,
                      const Tensor& v, const Tensor& mask, const Tensor& out,
                      const Tensor& log_sums, const Tensor& grad_q, const Tensor& grad_k,
                      const Tensor& grad_v) { Backend::attention_grad(how,grad,q,k,v,mask,out,log_sums,grad_q,grad_k,grad_v); }
}
