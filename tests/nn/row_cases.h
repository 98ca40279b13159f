// Functions of a batch whose results have a row for each row of it: what batch_invariance_test.cpp
// compares in batches of several sizes.
#pragma once

#include <functional>

#include "tests/support.h"

namespace gradus {

// A function of a batch, whose result has a row for each row of it.
struct RowCase {
  std::string name;
  Tensor batch;
  std::function<Tensor(const Tensor&)> f;
};
using RowCases = std::vector<RowCase>;

inline constexpr int64_t kWholeBatch = 64;
// Of what takes long on a simulated device.
inline int64_t rows_for(Device device) { return device.is_cpu() ? kWholeBatch : 8; }

class Drawn {
 public:
  Drawn(Device device, ScalarType dtype) : device_(device), dtype_(dtype) {}
  Tensor operator()(IntArrayRef sizes) const { return randn(sizes).to(device_, dtype_); }

 private:
  Device device_;
  ScalarType dtype_;
};

inline RowCases product_cases(Device device, ScalarType dtype) {
  const Drawn draw(device, dtype);
  RowCases out;
  const std::string type = std::string(" ") + std::string(short_name(dtype));
  struct Shape {
    int64_t k, n;
  };
  std::vector<Shape> shapes{{70, 33}};
  if (device.is_cpu())
    shapes = {{3, 5}, {37, 1}, {64, 32}, {70, 130}, {200, 400}, {600, 9}, {1030, 70}};
  for (const auto& [k, n] : shapes) {
    const std::string of = type + " " + std::to_string(k) + " x " + std::to_string(n);
    const Tensor x = draw({kWholeBatch, k}), w = draw({k, n}), turned = draw({n, k}),
                 bias = draw({n});
    out.push_back({"mm" + of, x, [=](const Tensor& b) { return mm(b, w); }});
    out.push_back({"mm of columns" + of, x, [=](const Tensor& b) { return mm(b, turned.t()); }});
    out.push_back({"mm of a transposed batch" + of, x,
                   [=](const Tensor& b) { return mm(b.t().contiguous().t(), w); }});
    out.push_back({"linear" + of, x, [=](const Tensor& b) { return linear(b, turned, bias); }});
    out.push_back(
        {"linear without bias" + of, x, [=](const Tensor& b) { return linear(b, turned); }});
    out.push_back({"addmm of a row" + of, x, [=](const Tensor& b) { return addmm(bias, b, w); }});
    out.push_back({"addmm" + of, x, [=](const Tensor& b) {
                     return addmm(b.narrow(1, 0, 1).expand({b.size(0), n}), b, w, 0.5, 2);
                   }});
    out.push_back({"cdist" + of, x, [=](const Tensor& b) { return cdist(b, turned); }});
    out.push_back({"mv" + of, x, [=](const Tensor& b) { return mv(b, w.select(1, 0)); }});
  }
  const Tensor long_rows = draw({8, 5, 8200}), columns = draw({8200, 2});
  out.push_back({"mm of many terms" + type, long_rows.select(1, 0).contiguous(),
                 [=](const Tensor& b) { return mm(b, columns); }});
  out.push_back({"bmm of many terms" + type, long_rows, [](const Tensor& b) {
                   return bmm(b.narrow(1, 0, 2), b.narrow(1, 2, 3).transpose(1, 2));
                 }});
  // A GPU cuts these sums into parts, for few rows and for many, for one batch and for many.
  const Tensor few = draw({kWholeBatch, 512}), weight = draw({20, 512}), shift = draw({20});
  out.push_back(
      {"linear in parts" + type, few, [=](const Tensor& b) { return linear(b, weight, shift); }});
  out.push_back({"bmm in parts" + type, draw({kWholeBatch, 3, 512}), [](const Tensor& b) {
                   return bmm(b.narrow(1, 0, 1), b.narrow(1, 1, 2).transpose(1, 2));
                 }});
  for (const int64_t k : {5, 70}) {
    const std::string of = type + " " + std::to_string(k);
    const Tensor x = draw({rows_for(device), 14, k}), w = draw({k, 6});
    out.push_back({"bmm" + of, x, [](const Tensor& b) {
                     return bmm(b.narrow(1, 0, 5), b.narrow(1, 5, 9).transpose(1, 2));
                   }});
    out.push_back({"bmm of rows" + of, x, [](const Tensor& b) {
                     return bmm(b.narrow(1, 0, 1), b.narrow(1, 5, 9).transpose(1, 2));
                   }});
    out.push_back(
        {"matmul with one matrix" + of, x, [=](const Tensor& b) { return matmul(b, w); }});
    out.push_back({"matmul of sequences first" + of, x,
                   [=](const Tensor& b) { return matmul(b.transpose(0, 1), w).transpose(0, 1); }});
  }
  return out;
}

inline RowCases attention_cases(Device device, ScalarType dtype) {
  const Drawn draw(device, dtype);
  const std::string type = std::string(" ") + std::string(short_name(dtype));
  RowCases out;
  struct Shape {
    int64_t heads, queries, keys, width;
  };
  std::vector<Shape> shapes{{2, 1, 5, 8}, {2, 1, 260, 16}, {2, 5, 5, 8}};
  if (device.is_cpu()) shapes.insert(shapes.end(), {{2, 70, 140, 24}, {1, 33, 33, 64}});
  for (const auto& s : shapes) {
    const auto shape = s;
    const std::string of = type + " " + std::to_string(s.queries) + " x " + std::to_string(s.keys);
    // Keys and values of the batch stand behind its queries.
    const Tensor x = draw({rows_for(device), s.heads, s.queries + 2 * s.keys, s.width});
    const Tensor mask = draw({s.queries, s.keys});
    const auto attend = [shape](const Tensor& b, const std::optional<Tensor>& m, bool causal) {
      return scaled_dot_product_attention(
          b.narrow(2, 0, shape.queries), b.narrow(2, shape.queries, shape.keys),
          b.narrow(2, shape.queries + shape.keys, shape.keys), m, 0, causal);
    };
    out.push_back({"attention" + of, x, [=](const Tensor& b) { return attend(b, {}, false); }});
    out.push_back(
        {"causal attention" + of, x, [=](const Tensor& b) { return attend(b, {}, true); }});
    out.push_back(
        {"masked attention" + of, x, [=](const Tensor& b) { return attend(b, mask, false); }});
  }
  return out;
}

inline RowCases norm_cases(Device device, ScalarType dtype) {
  const Drawn draw(device, dtype);
  const std::string type = std::string(" ") + std::string(short_name(dtype));
  RowCases out;
  for (const int64_t n : {7, 64, 130}) {
    const Tensor x = draw({kWholeBatch, n}), weight = draw({n}), bias = draw({n});
    const std::string of = type + " " + std::to_string(n);
    out.push_back(
        {"layer_norm" + of, x, [=](const Tensor& b) { return layer_norm(b, {n}, weight, bias); }});
    out.push_back({"rms_norm" + of, x, [=](const Tensor& b) {
                     return nn::functional::rms_norm(
                         b, nn::functional::RMSNormFuncOptions({n}).weight(weight));
                   }});
  }
  for (const int64_t side : {3, 8}) {
    const Tensor x = draw({kWholeBatch, 8, side, side}), weight = draw({8}), bias = draw({8});
    const Tensor mean = draw({8}), var = draw({8}).square() + 0.5;
    const std::string of = type + " " + std::to_string(side) + " x " + std::to_string(side);
    out.push_back(
        {"group_norm" + of, x, [=](const Tensor& b) { return group_norm(b, 2, weight, bias); }});
    out.push_back({"group_norm of channels last" + of, x, [=](const Tensor& b) {
                     return group_norm(b.contiguous(MemoryFormat::ChannelsLast), 2, weight, bias);
                   }});
    out.push_back({"batch_norm in eval" + of, x, [=](const Tensor& b) {
                     return batch_norm(b, weight, bias, mean, var, false, 0.1, 1e-5, false);
                   }});
  }
  return out;
}

inline RowCases reduction_cases(Device device, ScalarType dtype) {
  const Drawn draw(device, dtype);
  const std::string type = std::string(" ") + std::string(short_name(dtype));
  RowCases out;
  for (const int64_t n : {5, 33, 130, 5000}) {
    if (!device.is_cpu() && n > 1000) continue;
    const Tensor x = draw({kWholeBatch, n});
    const std::string of = type + " " + std::to_string(n);
    out.push_back({"sum" + of, x, [](const Tensor& b) { return b.sum(1); }});
    out.push_back({"mean" + of, x, [](const Tensor& b) { return b.mean(1); }});
    out.push_back({"var" + of, x, [](const Tensor& b) { return b.var(1); }});
    out.push_back({"norm" + of, x, [](const Tensor& b) { return linalg_vector_norm(b, 2, 1); }});
    out.push_back({"prod" + of, x, [](const Tensor& b) { return b.prod(1); }});
    out.push_back({"logsumexp" + of, x, [](const Tensor& b) { return logsumexp(b, 1); }});
    out.push_back({"softmax" + of, x, [](const Tensor& b) { return softmax(b, 1); }});
    out.push_back({"log_softmax" + of, x, [](const Tensor& b) { return log_softmax(b, 1); }});
    out.push_back(
        {"sum of columns" + of, x, [](const Tensor& b) { return b.t().contiguous().sum(0); }});
    out.push_back({"softmax of columns" + of, x,
                   [](const Tensor& b) { return softmax(b.t().contiguous(), 0).t(); }});
    out.push_back(
        {"var of columns" + of, x, [](const Tensor& b) { return b.t().contiguous().var(0); }});
    if (dtype == kFloat || dtype == kDouble)
      out.push_back({"rfft" + of, x, [](const Tensor& b) { return view_as_real(fft::rfft(b)); }});
    out.push_back({"cumsum" + of, x, [](const Tensor& b) { return cumsum(b, 1); }});
  }
  for (const int64_t n : {3, 20}) {
    const Tensor x = draw({kWholeBatch, 21, n});
    const std::string of = type + " " + std::to_string(n);
    out.push_back({"mean of a sequence" + of, x, [](const Tensor& b) { return b.mean(1); }});
    out.push_back({"mean of a sequence that comes first" + of, x,
                   [](const Tensor& b) { return b.transpose(0, 1).contiguous().mean(0); }});
    out.push_back(
        {"softmax over a sequence" + of, x, [](const Tensor& b) { return softmax(b, 1); }});
    out.push_back({"sum of both" + of, x, [](const Tensor& b) { return b.sum({1, 2}); }});
  }
  return out;
}

inline RowCases elementwise_cases(Device device, ScalarType dtype) {
  const Drawn draw(device, dtype);
  const std::string type = std::string(" ") + std::string(short_name(dtype));
  RowCases out;
  for (const int64_t n : {1, 7, 45}) {
    const Tensor x = draw({kWholeBatch, n}), other = draw({n});
    const std::string of = type + " " + std::to_string(n);
    out.push_back({"exp" + of, x, [](const Tensor& b) { return b.exp(); }});
    out.push_back({"log" + of, x, [](const Tensor& b) { return b.abs().log(); }});
    out.push_back({"sin" + of, x, [](const Tensor& b) { return (b * 1000).sin(); }});
    out.push_back({"gelu" + of, x, [](const Tensor& b) { return gelu(b); }});
    out.push_back({"silu" + of, x, [](const Tensor& b) { return silu(b); }});
    out.push_back({"tanh" + of, x, [](const Tensor& b) { return b.tanh(); }});
    out.push_back({"pow" + of, x, [=](const Tensor& b) { return b.abs().pow(other); }});
    out.push_back(
        {"a quotient" + of, x, [=](const Tensor& b) { return (b + other) / (other * b); }});
  }
  return out;
}

inline RowCases convolution_cases(Device device, ScalarType dtype) {
  const Drawn draw(device, dtype);
  const std::string type = std::string(" ") + std::string(short_name(dtype));
  RowCases out;
  struct Shape {
    const char* name;
    int64_t in, filters, side, kernel, stride, padding, groups;
  };
  std::vector<Shape> shapes{
      {"1 x 1", 6, 10, 5, 1, 1, 0, 1},           {"3 x 3", 3, 8, 6, 3, 1, 1, 1},
      {"strided", 4, 6, 7, 3, 2, 1, 1},          {"depthwise", 8, 8, 6, 3, 1, 1, 8},
      {"3 x 3 of many", 33, 39, 6, 3, 1, 1, 1},  {"1 x 1 of many", 40, 33, 4, 1, 1, 0, 1},
      {"1 x 1 in parts", 512, 36, 4, 1, 1, 0, 1}};
  if (device.is_cpu())
    shapes.insert(shapes.end(), {{"3 x 3 of a plane", 34, 36, 18, 3, 1, 1, 1},
                                 {"strided of many", 33, 64, 9, 3, 2, 1, 1},
                                 {"in groups", 64, 64, 7, 3, 1, 1, 2}});
  for (const Shape& shape : shapes) {
    const Shape s = shape;
    const std::string of = std::string(" ") + s.name + type;
    const Tensor x = draw({rows_for(device), s.in, s.side, s.side});
    const Tensor weight = draw({s.filters, s.in / s.groups, s.kernel, s.kernel}),
                 bias = draw({s.filters});
    const auto convolve = [=](const Tensor& b) {
      return conv2d(b, weight, bias, s.stride, s.padding, 1, s.groups);
    };
    out.push_back({"conv2d" + of, x, convolve});
    out.push_back({"conv2d of channels last" + of, x, [=](const Tensor& b) {
                     return convolve(b.contiguous(MemoryFormat::ChannelsLast));
                   }});
    const Tensor turned = draw({s.in, s.filters / s.groups, s.kernel, s.kernel});
    out.push_back({"conv_transpose2d" + of, x, [=](const Tensor& b) {
                     return conv_transpose2d(b, turned, bias, s.stride, s.padding, 0, s.groups);
                   }});
  }
  const Tensor x = draw({rows_for(device), 4, 8, 8});
  out.push_back({"avg_pool2d" + type, x, [](const Tensor& b) { return avg_pool2d(b, 3); }});
  out.push_back({"max_pool2d" + type, x, [](const Tensor& b) { return max_pool2d(b, 3); }});
  return out;
}

inline RowCases sequence_cases(Device device, ScalarType dtype) {
  const Drawn draw(device, dtype);
  const std::string type = std::string(" ") + std::string(short_name(dtype));
  RowCases out;
  const Tensor table = draw({11, 6});
  out.push_back({"embedding" + type, randint(11, {rows_for(device), 5}).to(device),
                 [=](const Tensor& b) { return embedding(table, b); }});
  for (const int64_t width : {5, 40}) {
    const Tensor x = draw({rows_for(device), 4, width});
    nn::LSTM lstm(nn::LSTMOptions(width, width + 3).batch_first(true));
    nn::GRU gru(nn::GRUOptions(width, width + 3).batch_first(true).bidirectional(true));
    nn::RNN rnn(nn::RNNOptions(width, width + 3).batch_first(true));
    lstm->to(device, dtype), gru->to(device, dtype), rnn->to(device, dtype);
    const std::string of = type + " " + std::to_string(width);
    out.push_back(
        {"LSTM" + of, x, [=](const Tensor& b) mutable { return std::get<0>(lstm->forward(b)); }});
    out.push_back(
        {"GRU" + of, x, [=](const Tensor& b) mutable { return std::get<0>(gru->forward(b)); }});
    out.push_back(
        {"RNN" + of, x, [=](const Tensor& b) mutable { return std::get<0>(rnn->forward(b)); }});
  }
  return out;
}

// A GPT: tokens (N, T) to scores (N, T, words). With a cache it takes some more tokens at a time.
struct SmallGptImpl : nn::Module {
  static constexpr int64_t kWords = 13, kWidth = 24, kHeads = 2, kPlaces = 40;

  SmallGptImpl() {
    words = register_module("words", nn::Embedding(kWords, kWidth));
    places = register_module("places", nn::Embedding(kPlaces, kWidth));
    for (int i = 0; i < 2; ++i) {
      const std::string number = std::to_string(i);
      norms.push_back(
          register_module("norm" + number, nn::LayerNorm(nn::LayerNormOptions({kWidth}))));
      parts.push_back(register_module("parts" + number, nn::Linear(kWidth, 3 * kWidth)));
      up.push_back(register_module("up" + number, nn::Linear(kWidth, 4 * kWidth)));
      down.push_back(register_module("down" + number, nn::Linear(4 * kWidth, kWidth)));
    }
    head = register_module("head", nn::Linear(kWidth, kWords));
  }
  // cache: keys and values of the tokens before, for each layer; empty at first.
  Tensor forward(const Tensor& tokens, std::vector<Tensor>* cache = nullptr) {
    const int64_t batch = tokens.size(0), count = tokens.size(1);
    const int64_t before = cache && !cache->empty() ? cache->front().size(2) : 0;
    Tensor x = words(tokens) + places(arange(before, before + count, tokens.options()));
    Tensors seen;
    for (size_t i = 0; i < norms.size(); ++i) {
      const Tensors qkv = parts[i](norms[i](x)).chunk(3, -1);
      const auto heads = [&](const Tensor& of) {
        return of.reshape({batch, count, kHeads, kWidth / kHeads}).transpose(1, 2);
      };
      Tensor k = heads(qkv[1]), v = heads(qkv[2]);
      if (before > 0) k = cat({(*cache)[2 * i], k}, 2), v = cat({(*cache)[2 * i + 1], v}, 2);
      seen.push_back(k), seen.push_back(v);
      const Tensor y = scaled_dot_product_attention(heads(qkv[0]), k, v, {}, 0, before == 0);
      x = x + y.transpose(1, 2).reshape({batch, count, kWidth});
      x = x + down[i](gelu(up[i](x)));
    }
    if (cache) *cache = seen;
    return head(x);
  }
  nn::Embedding words{nullptr}, places{nullptr};
  std::vector<nn::LayerNorm> norms;
  std::vector<nn::Linear> parts, up, down;
  nn::Linear head{nullptr};
};
GRADUS_MODULE(SmallGpt);

inline RowCases model_cases(Device device, ScalarType dtype) {
  const Drawn draw(device, dtype);
  const std::string type = std::string(" ") + std::string(short_name(dtype));
  RowCases out;
  nn::Sequential mlp(nn::Linear(20, 50), nn::ReLU(), nn::Linear(50, 50), nn::Tanh(),
                     nn::Linear(50, 7));
  mlp->to(device, dtype);
  out.push_back({"MLP" + type, draw({rows_for(device), 20}),
                 [=](const Tensor& b) mutable { return mlp->forward(b); }});
  SmallGpt gpt;
  gpt->to(device, dtype);
  out.push_back({"GPT" + type, randint(SmallGptImpl::kWords, {rows_for(device), 9}).to(device),
                 [=](const Tensor& b) mutable { return gpt->forward(b); }});
  const auto convolution = [](int64_t in, int64_t filters, int64_t stride) {
    return nn::Conv2d(nn::Conv2dOptions(in, filters, 3).stride(stride).padding(1).bias(false));
  };
  nn::Sequential trunk(convolution(3, 32, 1), nn::BatchNorm2d(32), nn::ReLU());
  nn::Sequential block(convolution(32, 32, 1), nn::BatchNorm2d(32), nn::ReLU(),
                       convolution(32, 32, 1), nn::BatchNorm2d(32));
  nn::Sequential end(convolution(32, 30, 2), nn::ReLU(), nn::AdaptiveAvgPool2d(1), nn::Flatten(),
                     nn::Linear(30, 5));
  for (nn::Sequential* part : {&trunk, &block, &end}) (*part)->to(device, dtype), (*part)->eval();
  out.push_back({"ResNet" + type, draw({rows_for(device), 3, 8, 8}), [=](const Tensor& b) mutable {
                   const Tensor x = trunk->forward(b);
                   return end->forward(relu(block->forward(x) + x));
                 }});
  return out;
}

}  // namespace gradus
