// Module 7: the parts of a transformer that writes text, for extra points. Pointers of course::gpu
// are to the memory of a device; a function queues its kernels. All matrices are row-major, and
// what results held before is replaced.
#pragma once

#include <vector>

#include "core/types.h"

namespace course::gpu {

// Task 7.1. A text of `rows` tokens, cut into pieces of `length`: token i stands at place i %
// length of its piece. out[i, e] = table[ids[i], e] + places[i % length, e]. table is (vocabulary,
// d), places (length, d), out (rows, d).
void embedding(float* out, const float* table, const float* places, const int* ids, long rows,
               int length, int d);
// The gradients of both tables: dtable[v, e] is the sum of dout[i, e] over all i with ids[i] == v,
// and dplaces[p, e] that over all i with i % length == p, each in the order of i. Without atomics,
// in at most two launches.
void embedding_backward(float* dtable, float* dplaces, const float* dout, const int* ids, long rows,
                        int length, int vocabulary, int d);

// Task 7.2. For each row r of x (rows, d): mean[r]; rstd[r] = 1 / sqrt(the mean of (x[r, e] -
// mean[r])^2, plus kEpsilon); out[r, e] = (x[r, e] - mean[r]) * rstd[r] * weight[e] + bias[e]. In
// one launch, by a block for each row.
constexpr float kEpsilon = 1e-5f;
void layer_norm(float* out, float* mean, float* rstd, const float* x, const float* weight,
                const float* bias, long rows, int d);
// Its gradients, from dout and what forward had and left. dx is (rows, d); dweight and dbias have d
// numbers. Without atomics, in at most two launches.
void layer_norm_backward(float* dx, float* dweight, float* dbias, const float* dout, const float* x,
                         const float* weight, const float* mean, const float* rstd, long rows,
                         int d);

// Task 7.3. Attention in which row i sees the rows 0 ... i, for `heads` matrices q, k and v of (n,
// d) each, one after the other: weights[i, j] = the softmax over j <= i of q[i] k[j] / sqrt(d), and
// 0 for j > i; out = weights v. weights is (heads, n, n). In one launch.
void causal_attention(float* out, float* weights, const float* q, const float* k, const float* v,
                      int heads, int n, int d);
// Its gradients, from dout and the weights. scratch has room for heads * n * n numbers and holds
// nothing. Without atomics, in at most two launches.
void causal_attention_backward(float* dq, float* dk, float* dv, float* scratch, const float* dout,
                               const float* weights, const float* q, const float* k, const float* v,
                               int heads, int n, int d);

// Task 7.4. out[r, c] = gelu(x[r, c] + bias[c]), where gelu(u) = u (1 + erf(u / sqrt(2))) / 2. In
// one launch.
void bias_gelu(float* out, const float* x, const float* bias, long rows, long columns);
// Its gradients: dx like x, and dbias[c] = the sum of dx[r, c] over the rows. Without atomics, in
// one launch; x, dout and the bias are all that there is: the sums x + bias were not kept.
void bias_gelu_backward(float* dx, float* dbias, const float* dout, const float* x,
                        const float* bias, long rows, long columns);

// A parameter as AdamW sees it: its moments hold nothing before the first step.
struct AdamParam {
  float* weight = nullptr;
  const float* gradient = nullptr;
  float *first = nullptr, *second = nullptr;
  long size = 0;
};
constexpr int kMaxAdamParams = 32;
struct AdamParams {
  int count = 0;
  AdamParam list[kMaxAdamParams] = {};
};
struct AdamW {
  float lr = 1e-3f, beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-8f, weight_decay = 0.01f;
};

// Task 7.5. Step number `step` (1, 2, ...) of AdamW, of all parameters in one launch:
//   weight = weight - lr * weight_decay * weight
//   first  = beta1 * first  + (1 - beta1) * gradient
//   second = beta2 * second + (1 - beta2) * gradient^2          (at step 1 both moments count as 0)
//   weight = weight - lr * (first / (1 - beta1^step)) / (sqrt(second / (1 - beta2^step)) + epsilon)
void adamw_step(const AdamParams& params, const AdamW& adamw, long step);

}  // namespace course::gpu

namespace course {

// A model that says for each token of a piece of text what may come next. It does its work at once.
struct TextModel {
  virtual int vocabulary() const = 0;  // tokens are 0 ... vocabulary() - 1
  virtual int window() const = 0;      // the most tokens of a piece
  virtual void zero_grad() = 0;
  // The logits of `pieces` pieces of `length` tokens: (pieces * length, vocabulary()). Row i sees
  // the tokens of its own piece up to i alone.
  virtual std::vector<float> forward(const std::vector<int>& ids, int pieces, int length) = 0;
  virtual void backward(const std::vector<float>& dlogits) = 0;  // for what forward got last
  virtual void step() = 0;                                       // changes the weights

 protected:
  ~TextModel() = default;
};

// Random numbers, 0 <= next() < 1.
struct Random {
  virtual float next() = 0;

 protected:
  ~Random() = default;
};

// Task 7.6, in three parts.
// The mean over all rows of -log(softmax(logits[row])[targets[row]]); dlogits gets its gradient.
// There is at least a row.
float cross_entropy(std::vector<float>& dlogits, const std::vector<float>& logits,
                    const std::vector<int>& targets);
// Trains for some steps, and returns the loss of each. A step takes `pieces` pieces of
// model.window() tokens: each begins at long(next() * (the number of places where a piece and the
// token after it fit)), one call of next() for each piece, in order. The target of a token is the
// token after it in the text. REQUIRES: text has more than window() tokens.
std::vector<float> train_text(TextModel& model, const std::vector<int>& text, int pieces, int steps,
                              Random& random);
// `count` tokens that continue the prompt, one after the other; each sees the last window() tokens
// at most, prompt and own. With temperature 0 the one of the largest logit (the first of several).
// Else the first token at which the sum of softmax(logits / temperature) exceeds next(), called
// once for each token; the last token where rounding leaves none. REQUIRES: the prompt is not
// empty, temperature >= 0.
std::vector<int> write_text(TextModel& model, const std::vector<int>& prompt, int count,
                            float temperature, Random& random);

}  // namespace course
