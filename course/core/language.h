// Module 8: what makes a language model of a transformer, for extra points: its tokens, what it
// remembers of the text so far, the choice of the next token, and the kernels of newer models.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/transformer.h"

namespace course {

// Tokens 0 ... 255 are the bytes. Token 256 + i is merges[i]: its left part, then its right part,
// which are tokens of smaller numbers.
struct Merge {
  int left = 0, right = 0;
};

// Task 8.1, in three parts.
// Learns at most `count` merges from a text, which is its bytes at first. Each merge is the pair of
// neighbouring tokens that stands at most places: of several such pairs, the one of the smallest
// left part, and of these the one of the smallest right part. Places may overlap: "aaa" has the
// pair of a and a at two. Then the places of the pair become its token, from left to right: in
// "aaa" the first two letters. Learning ends where no pair stands at two places.
std::vector<Merge> train_bpe(const std::string& text, int count);

// Merges that are looked up.
struct MergeTable {
  virtual int find(int left, int right) const = 0;  // the token of this pair, or -1: there is none

 protected:
  ~MergeTable() = default;
};
// The tokens of a text: its bytes, in which each merge took all its places from left to right, one
// merge after the other in the order of their numbers. Calls find() at most 8 times for each byte.
std::vector<int> encode(const MergeTable& merges, const std::string& text);

// The text of these tokens.
// Errors: std::out_of_range where a token is neither a byte nor one of the merges.
std::string decode(const std::vector<Merge>& merges, const std::vector<int>& tokens);

// Queries, keys and values of some rows, a row for each token: head h has the numbers h * d to
// h * d + d - 1 of a row, of which there are heads * d.
struct Projected {
  std::vector<float> q, k, v;
};
// Keys and values of all tokens that a layer has read, row by row. A new cache is empty.
struct KvCache {
  std::vector<float> k, v;
};

// Task 8.2, in two parts.
// Attention of new rows, which follow those in the cache. Their keys and values are put behind
// those in the cache. Row i of the result is for each head the sum of softmax(q[i] k[j] / sqrt(d))
// v[j] over all rows j that were in the cache, and over the new ones up to i itself.
std::vector<float> attend(KvCache& cache, const Projected& rows, int heads, int d);

// A transformer whose weights nobody else has. Each function takes rows and treats each alone.
struct Decoder {
  virtual int layers() const = 0;
  virtual int heads() const = 0;
  virtual int d() const = 0;  // numbers of a head
  // What layer 0 reads: a row of heads() * d() numbers for each token. The first of them stands at
  // place `place` of the text.
  virtual std::vector<float> embed(const std::vector<int>& tokens, long place) = 0;
  // From the rows that a layer reads.
  virtual Projected project(int layer, const std::vector<float>& x) = 0;
  // What the next layer reads, from the rows that this one reads and their attention.
  virtual std::vector<float> finish(int layer, const std::vector<float>& x,
                                    const std::vector<float>& attention) = 0;
  // The logits of the token that follows each row, from what the last layer gave.
  virtual std::vector<float> logits(const std::vector<float>& x) = 0;

 protected:
  ~Decoder() = default;
};
// `count` tokens that continue the prompt, each the one of the largest logit (the first of
// several). Each token goes through the layers once, in a cache for each layer, and those of the
// prompt together; the last one that is written need not go. REQUIRES: the prompt is not empty.
std::vector<int> generate(Decoder& decoder, const std::vector<int>& prompt, int count);

// How the next token is chosen.
struct Sampling {
  float temperature = 1;  // 0: always the token of the largest logit
  int top_k = 0;          // so many of the likeliest tokens stay; 0: all of them
  float top_p = 1;        // the likeliest tokens stay that sum to this
};
// Task 8.3, in two parts.
// The probability of each token. First they are softmax(logits / temperature). Then the top_k
// likeliest stay, divided by their sum. Of these the likeliest stay, one after the other until
// their sum is at least top_p, and at least one; they are divided by their sum. All others get 0.
// Of equal logits the one of the smaller number is the likelier. With temperature 0 the likeliest
// gets 1. Errors: std::invalid_argument where temperature or top_k is below 0, or top_p is not in 0
// ... 1. REQUIRES: at least one logit is finite; others may be -infinity, which is a probability of
// 0. The temperature is finite.
std::vector<float> probabilities(const std::vector<float>& logits, const Sampling& sampling);
// A token that is drawn by these probabilities: of all numbers that random.next() may give, each
// token has a share that is its probability. Calls next() once, and never with temperature 0.
int sample(const std::vector<float>& logits, const Sampling& sampling, Random& random);

}  // namespace course

namespace course::gpu {

// Task 8.4, in four parts, each in one launch. Pointers are to the memory of a device, matrices are
// row-major.
// For each row r of x (rows, d): out[r, e] = x[r, e] / sqrt(the mean of the row's squares, plus
// kEpsilon) * weight[e]. out may be x.
void rms_norm(float* out, const float* x, const float* weight, long rows, int d);

// Turns pairs of numbers of x (rows, heads * d), in place. Row r stands at place p = first + r of
// its text. In each head the numbers e and e + d / 2, for 0 <= e < d / 2, are turned by the angle
// a = p / kBase^(2 e / d):
//   x[e], x[e + d / 2] = x[e] cos a - x[e + d / 2] sin a, x[e] sin a + x[e + d / 2] cos a
// REQUIRES: d is even.
constexpr float kBase = 10000;
void rope(float* x, long rows, int heads, int d, long first);

// For x (rows, 2 * columns): out[r, c] = silu(x[r, c]) * x[r, columns + c], where silu(u) = u / (1
// + exp(-u)). out is (rows, columns).
void swiglu(float* out, const float* x, long rows, long columns);

// Attention of one token, whose queries are q (heads, d), over a text whose keys and values are k
// and v (n, groups * d): head h of q uses columns g * d ... g * d + d - 1 of k and v, where g = h /
// (heads / groups). out[h] = the sum of softmax(q[h] k[j] / sqrt(d))[j] v[j] over all rows j. Each
// number of k and v is loaded once for all heads that use it.
// REQUIRES: groups divides heads, heads / groups <= kMostShared, d <= kLargestWidth, n > 0.
constexpr int kMostShared = 8, kLargestWidth = 64;
void grouped_attention(float* out, const float* q, const float* k, const float* v, int heads,
                       int groups, int n, int d);

// Task 8.5, in two parts, each in one launch. A matrix w (rows, columns) becomes a byte for each
// number, and a scale for each group of kGroup numbers that follow one another in a row:
// w[r, c] is about q[r, c] * scales[r, c / kGroup]. scales is (rows, columns / kGroup).
// REQUIRES: kGroup divides columns.
constexpr int kGroup = 32;
// The scale is the group's largest |w| / 127, and q is w / scale, rounded to the nearest whole
// number. Where all numbers of a group are 0, so are its scale and all its q. Loads each number
// once.
void quantize(std::int8_t* q, float* scales, const float* w, long rows, long columns);
// y[r] = the sum of q[r, c] * scales[r, c / kGroup] * x[c] over c, for x of `columns` numbers.
void matvec_int8(float* y, const std::int8_t* q, const float* scales, const float* x, long rows,
                 long columns);

}  // namespace course::gpu
