// The first losses of the examples char_gpt and cnn_fashion_mnist, with the weights and batches
// that they came from, for losses.py to repeat in PyTorch. Nothing is dropped out.
//   example_losses FOLDER [FASHION_MNIST [TEXT]]
#include <gradus/gradus.h>
#include <CLI/CLI.hpp>

#include <iostream>

// The examples' models; their main functions are not called, and need no result.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wreturn-type"
#define main unused_main
namespace gpt_example {
#include "examples/char_gpt.cpp"
}
namespace cnn_example {
#include "examples/cnn_fashion_mnist.cpp"
}
#undef main
#pragma GCC diagnostic pop

namespace {

using namespace gradus;

// kCnnCycle: the rates of the example's first steps. The highest rate within 50 steps would let
// roundings grow to hundredths.
constexpr int64_t kSteps = 50, kCnnCycle = 2000;

// Trains with AdamW and one cycle of rates, and writes what losses.py needs.
template <class Model, class Loader, class Loss>
void record(const std::string& path, Model& model, Loader& loader, double lr,
            const optim::OneCycleLROptions& cycle, double clip, const Loss& loss_of) {
  serialize::NamedTensors out;
  for (const auto& item : model->state_dict())
    out.insert("model." + item.key(), item.value().clone());
  optim::AdamW adamw(model->parameters(), optim::AdamWOptions(lr));
  optim::OneCycleLR schedule(adamw, cycle);
  std::vector<Tensor> xs, ys, losses;
  model->train();
  for (auto& [x, y] : loader) {
    adamw.zero_grad();
    const Tensor loss = loss_of(model->forward(x), y);
    loss.backward();
    if (clip > 0) nn::utils::clip_grad_norm_(model->parameters(), clip);
    adamw.step();
    schedule.step();
    xs.push_back(x), ys.push_back(y), losses.push_back(loss.detach());
    if (losses.size() == kSteps) break;
  }
  out.insert("x", stack(xs)), out.insert("y", stack(ys)), out.insert("losses", stack(losses));
  serialize::save_file(out, path);
}

}  // namespace

int main(int argc, char** argv) try {
  check(argc >= 2, "name a folder for the files");
  const std::string folder = argv[1];
  const std::string images = argc > 2 ? argv[2] : "/usr/share/datasets/fashion-mnist";
  const std::string text = data::read_text(argc > 3 ? argv[3] : "/usr/share/common-licenses");
  manual_seed(1);

  const data::CharVocabulary vocabulary(text);
  gpt_example::GPT gpt(vocabulary.size(), 128, 4, 4, 128, 0.0);
  data::DataLoader pieces(data::TextDataset(vocabulary.encode(text), 128),
                          data::DataLoaderOptions(16).shuffle(true));
  record(folder + "/char_gpt.safetensors", gpt, pieces, 2e-3,
         optim::OneCycleLROptions(2e-3, kSteps).pct_start(0.1).cycle_momentum(false), 1.0,
         gpt_example::loss_of);

  nn::Sequential cnn = cnn_example::make_model();
  for (const auto& module : cnn->children())
    if (auto* const dropout = module->as<nn::Dropout>()) dropout->options.p(0);
  data::DataLoader batches(
      data::datasets::MNIST(images).map(data::transforms::Normalize<>(0.286, 0.353)),
      data::DataLoaderOptions(128).shuffle(true));
  record(folder + "/cnn_fashion_mnist.safetensors", cnn, batches, 4e-3,
         optim::OneCycleLROptions(4e-3, kCnnCycle), 0, nn::CrossEntropyLoss());
} catch (const std::exception& error) {
  std::cerr << "example_losses: " << error.what() << '\n';
  return 1;
}
