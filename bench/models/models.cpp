// Training steps of whole models, and generation. bench/models/peer.py runs the same in PyTorch,
// from the weights and batches that this program leaves in FOLDER.
//   bench_models FOLDER [PART...]    the cases whose names contain one of the parts
//   bench_models --list [PART...]    their names alone
#include <memory>
#include <string>

#include "bench/timer.h"
#include "bench/wanted.h"
#include "gradus/serialize/safetensors.h"

namespace library = gradus;
#include "bench/models/generation.h"
#include "bench/models/recurrent.h"
#include "bench/models/unet.h"
#include "bench/models/vision.h"
#include "bench/small_models.h"

using namespace gradus;

namespace {

std::string folder;

// Whether a case runs; with --list its name is printed instead.
bool runs(const std::string& label) {
  if (!bench::wanted(label)) return false;
  if (folder != "--list") return true;
  std::printf("%s\n", label.c_str());
  return false;
}

// The fields of a case beside its time: see bench/table.py.
void report_model(const std::string& name, double seconds, double items, const char* unit,
                  double first_loss, double peak_bytes) {
  bench::report(name.c_str(), "gradus", seconds, items, unit);
  bench::report((name + ", peak memory").c_str(), "gradus", peak_bytes, 1, "bytes");
  bench::report((name + ", first loss").c_str(), "gradus", first_loss, 1, "loss");
}

// Leaves the model's weights and the batch where the peer finds them.
template <class Model>
void keep(const std::string& name, const Model& model, const Tensor& x, const Tensor& y) {
  serialize::NamedTensors all;
  for (const auto& item : model->state_dict()) all.insert("model." + item.key(), item.value());
  all.insert("x", x), all.insert("y", y);
  serialize::save_file(all, folder + "/" + name + ".safetensors");
}

// A step in float32, in TF32 and in bfloat16, with AdamW: made new for each, from the same weights.
// Each is timed eagerly and as a graph; steps: how many between two waits for the GPU.
template <class Make>
void time_model(const std::string& name, const Make& make, const Tensor& x, const Tensor& y,
                double items, const char* unit, int steps = 10) {
  for (const char* const type : {"float32", "TF32", "bfloat16"}) {
    const std::string label = name + ", " + type;
    if (!runs(label)) continue;
    manual_seed(1);
    const auto model = make();
    keep(name, model, x, y);
    model->to(kCUDA);
    optim::AdamW adamw(model->parameters(), optim::AdamWOptions(3e-4));
    const bool tf32 = type == std::string("TF32");
    set_float32_matmul_precision(tf32 ? "high" : "highest");
    detail::allow_tf32_convolutions(tf32);
    // Tensor cores take images whose channels lie last, and so does the peer.
    const bool last = x.dim() == 4 && x.size(1) > 1 && type != std::string("float32");
    const auto ordered = [&](const Tensor& t) {
      return last && t.dim() == 4 ? t.contiguous(MemoryFormat::ChannelsLast) : t;
    };
    if (last) model->to(MemoryFormat::ChannelsLast);
    const Tensor images = ordered(x.cuda()), labels = y.cuda();
    const auto step = [&](const Tensor& input, const Tensor& target) {
      adamw.zero_grad();
      Tensor loss;
      {
        amp::autocast guard(kCUDA, kBFloat16, type == std::string("bfloat16"));
        const Tensor scores = model->forward(input);
        loss =
            nn::functional::cross_entropy(scores.reshape({-1, scores.size(-1)}), target.flatten());
      }
      loss.backward();
      adamw.step();
      return loss;
    };
    const double first = step(images, labels).template item<double>();
    const auto seconds = [&](auto&& run) {
      return bench::host_seconds([&] { run(images, labels); }, 5, steps,
                                 [] { cuda::synchronize(); });
    };
    step(images, labels);
    cuda::reset_peak_memory_stats();
    const double eager = seconds(step);
    report_model(label, eager, items, unit, first,
                 static_cast<double>(cuda::memory_stats().peak_allocated));
    bench::report((label + ", captured").c_str(), "gradus",
                  seconds(cuda::make_graphed(step, images, labels)), items, unit);
  }
  set_float32_matmul_precision("highest");
  detail::allow_tf32_convolutions(false);
}

// Tokens that `batch` sequences of a GPT get, one each at a time, eagerly and as a graph.
void time_generation(const bench::GPTSizes& sizes, int64_t batch) {
  for (const auto& [type, dtype] :
       {std::pair("float32", kFloat), std::pair("bfloat16", kBFloat16)}) {
    const std::string name = "Generation 12 x 768 batch " + std::to_string(batch);
    const std::string label = name + ", " + type;
    if (!runs(label)) continue;
    const NoGradGuard guard;
    manual_seed(1);
    const auto model = std::make_shared<bench::GPT>(sizes);
    keep(name, model, Tensor(zeros({1})), zeros({1}));
    model->to(kCUDA), model->to(dtype);
    constexpr int64_t kLength = 256;
    constexpr int kSteps = 200;
    bench::Generation generation(model, batch, kLength);
    const Tensor scores = generation.step().flatten(0, 1).to(kFloat);
    const double first =
        nn::functional::cross_entropy(scores, zeros({batch}, scores.options().dtype(kLong)))
            .template item<double>();
    const auto seconds = [&](const auto& step) {
      generation.place.zero_();
      return bench::host_seconds(step, 5, kSteps, [&] {
        generation.place.zero_();
        cuda::synchronize();
      });
    };
    cuda::reset_peak_memory_stats();
    const double eager = seconds([&] { generation.step(); });
    report_model(label, eager, static_cast<double>(batch), "token", first,
                 static_cast<double>(cuda::memory_stats().peak_allocated));
    cuda::Graph graph;
    {
      const cuda::StreamGuard on_side(cuda::getStreamFromPool());
      graph.capture_begin();
      generation.step();
      graph.capture_end();
    }
    bench::report((label + ", captured").c_str(), "gradus", seconds([&] { graph.replay(); }),
                  static_cast<double>(batch), "token");
  }
}

// One layer of a transformer's encoder, whose features serve as scores.
struct Encoder : nn::Module {
  Encoder()
      : layer(register_module(
            "layer",
            nn::TransformerEncoderLayer(
                nn::TransformerEncoderLayerOptions(512, 8).dim_feedforward(2048).dropout(0)))) {}
  // Tokens come first in libtorch's layer.
  Tensor forward(const Tensor& x) { return layer->forward(x.transpose(0, 1)).transpose(0, 1); }
  nn::TransformerEncoderLayer layer;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) folder = argv[1];
  if (argc < 2 || (folder != "--list" && !cuda::is_available())) {
    std::fprintf(stderr, "bench/models: %s\n",
                 argc < 2 ? "name a folder for weights" : cuda::why_unavailable().c_str());
    return 1;
  }
  bench::read_wanted(argc - 1, argv + 1);
  manual_seed(0);
  constexpr int kMany = 200;  // steps of a small model
  time_model("MLP 784-512-10 batch 128", bench::mlp, randn({128, 784}), randint(10, {128}), 128,
             "image", kMany);
  time_model("LeNet-5 batch 128", bench::lenet, randn({128, 1, 28, 28}), randint(10, {128}), 128,
             "image", kMany);
  constexpr bench::GPTSizes kTiny = {
      .vocabulary = 65, .tokens = 64, .layers = 4, .heads = 4, .width = 128};
  time_model(
      "Tiny GPT 4 x 128", [&] { return std::make_shared<bench::GPT>(kTiny); },
      randint(65, {12, 64}), randint(65, {12, 64}), 12 * 64, "token", kMany);
  constexpr bench::GPTSizes kSmall = {
      .vocabulary = 65, .tokens = 256, .layers = 6, .heads = 6, .width = 384};
  time_model(
      "GPT 6 x 384", [&] { return std::make_shared<bench::GPT>(kSmall); }, randint(65, {64, 256}),
      randint(65, {64, 256}), 64 * 256, "token");
  constexpr bench::GPTSizes kGPT2 = {
      .vocabulary = 50257, .tokens = 1024, .layers = 12, .heads = 12, .width = 768};
  for (const int64_t batch : {8, 64}) {
    const std::string name = batch == 8 ? "GPT-2 12 x 768" : "GPT-2 12 x 768 batch 64";
    time_model(
        name, [&] { return std::make_shared<bench::GPT>(kGPT2); }, randint(50257, {batch, 1024}),
        randint(50257, {batch, 1024}), static_cast<double>(batch * 1024), "token");
  }
  for (const int64_t batch : {1, 16}) time_generation(kGPT2, batch);
  time_model(
      "Encoder 512", [] { return std::make_shared<Encoder>(); }, randn({32, 128, 512}),
      randint(512, {32, 128}), 32 * 128, "token");
  constexpr bench::GPTSizes kBERT = {
      .vocabulary = 30522, .tokens = 128, .layers = 12, .heads = 12, .width = 768};
  // A half of the rows is padded: those behind token 96.
  Tensor padded = randint(1, 30522, {32, 128});
  padded.narrow(0, 0, 16).narrow(1, 96, 32).zero_();
  time_model(
      "BERT 12 x 768 padded", [&] { return std::make_shared<bench::PaddedEncoder>(kBERT); }, padded,
      randint(30522, {32, 128}), 32 * 128, "token");
  time_model(
      "ResNet-18 batch 128", [] { return std::make_shared<bench::ResNet18>(10); },
      randn({128, 3, 32, 32}), randint(10, {128}), 128, "image");
  for (const int64_t batch : {64, 256})
    time_model(
        "ResNet-50 batch " + std::to_string(batch),
        [] { return std::make_shared<bench::ResNet50>(1000); }, randn({batch, 3, 224, 224}),
        randint(1000, {batch}), static_cast<double>(batch), "image");
  time_model(
      "MobileNetV2 batch 64", [] { return std::make_shared<bench::MobileNetV2>(); },
      randn({64, 3, 224, 224}), randint(1000, {64}), 64, "image");
  time_model(
      "ViT-S batch 64", [] { return std::make_shared<bench::ViT>(); }, randn({64, 3, 224, 224}),
      randint(1000, {64}), 64, "image");
  time_model(
      "U-Net 128 batch 32", [] { return std::make_shared<bench::UNet>(21); },
      randn({32, 3, 128, 128}), randint(21, {32, 128, 128}), 32, "image");
  time_model(
      "LSTM 2 x 512", [] { return std::make_shared<bench::LSTMModel>(1000, 512); },
      randint(1000, {64, 128}), randint(1000, {64, 128}), 64 * 128, "token");
}
