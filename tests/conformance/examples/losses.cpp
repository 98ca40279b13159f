// The first losses of the examples char_gpt and cnn_fashion_mnist, and char_gpt's validation loss
// after them, with the weights and batches that they came from, for losses.py to repeat in PyTorch.
// Nothing is dropped out.
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

// The rates of the cnn's first steps are those of the example. The highest rate within 50 steps
// would let roundings grow to hundredths.
constexpr int64_t kCnnCycle = 2000, kValidationBatches = 20;

// Trains with AdamW and one cycle of rates, and writes what losses.py needs.
template <class Model, class Loader, class Loss>
serialize::NamedTensors record(Model& model, Loader& loader, int64_t steps, double lr,
                               const optim::OneCycleLROptions& cycle, double clip,
                               const Loss& loss_of) {
  const ScalarType dtype = model->parameters()[0].scalar_type();
  serialize::NamedTensors out;
  for (const auto& item : model->state_dict())
    out.insert("model." + item.key(), item.value().clone());
  optim::AdamW adamw(model->parameters(), optim::AdamWOptions(lr));
  optim::OneCycleLR schedule(adamw, cycle);
  std::vector<Tensor> xs, ys, losses;
  model->train();
  while (static_cast<int64_t>(losses.size()) < steps)
    for (auto& [data, y] : loader) {
      adamw.zero_grad();
      const Tensor x = data.is_floating_point() ? data.to(dtype) : data;
      const Tensor loss = loss_of(model->forward(x), y);
      loss.backward();
      if (clip > 0) nn::utils::clip_grad_norm_(model->parameters(), clip);
      adamw.step();
      schedule.step();
      xs.push_back(x.cpu()), ys.push_back(y.cpu()), losses.push_back(loss.detach());
      if (static_cast<int64_t>(losses.size()) == steps) break;
    }
  out.insert("x", stack(xs)), out.insert("y", stack(ys)), out.insert("losses", stack(losses).cpu());
  return out;
}

}  // namespace

int main(int argc, char** argv) try {
  std::string folder, images = "/usr/share/datasets/fashion-mnist", device = "cpu";
  std::string file = "/usr/share/common-licenses";
  bool in_double = false;
  int64_t steps = 50, batch_size = 16, layers = 4, heads = 4, width = 128, context = 128;
  CLI::App app("Writes the first losses of char_gpt and cnn_fashion_mnist.");
  app.option_defaults()->always_capture_default();
  app.add_option("folder", folder, "Where the files go")->required();
  app.add_option("--data", images, "The files of Fashion-MNIST");
  app.add_option("--text", file, "What char_gpt reads");
  app.add_option("--steps", steps, "Training steps of char_gpt; the cnn makes 50");
  app.add_option("--batch-size", batch_size, "As in char_gpt");
  app.add_option("--context", context, "As in char_gpt");
  app.add_option("--layers", layers, "As in char_gpt");
  app.add_option("--heads", heads, "As in char_gpt");
  app.add_option("--width", width, "As in char_gpt");
  app.add_option("--device", device, "cpu, cuda or cuda:N");
  app.add_flag("--double", in_double, "Computes in float64");
  CLI11_PARSE(app, argc, argv);
  const ScalarType dtype = in_double ? kDouble : kFloat;
  manual_seed(1);

  const std::string text = data::read_text(file);
  const data::CharVocabulary vocabulary(text);
  auto parts = data::random_split(data::TextDataset(vocabulary.encode(text), context), {0.9, 0.1});
  const auto options = data::DataLoaderOptions(batch_size).device(device);
  data::DataLoader pieces(parts[0], data::DataLoaderOptions(options).shuffle(true).drop_last(true));
  data::DataLoader validation(parts[1], options);
  gpt_example::GPT gpt(vocabulary.size(), context, layers, heads, width, 0.0);
  gpt->to(device, dtype);
  auto gpt_run = record(gpt, pieces, steps, 2e-3,
                        optim::OneCycleLROptions(2e-3, steps).pct_start(0.1).cycle_momentum(false),
                        1.0, gpt_example::loss_of);
  const NoGradGuard no_grad;
  gpt->eval();
  std::vector<Tensor> xs, ys;
  metrics::MeanMetric mean;
  for (auto& [x, y] : validation) {
    mean.update(gpt_example::loss_of(gpt(x), y));
    xs.push_back(x.cpu()), ys.push_back(y.cpu());
    if (std::ssize(xs) == kValidationBatches) break;
  }
  gpt_run.insert("heads", tensor({heads}));
  gpt_run.insert("validation.x", cat(xs)), gpt_run.insert("validation.y", cat(ys));
  gpt_run.insert("validation.loss", mean.compute().cpu());
  serialize::save_file(gpt_run, folder + "/char_gpt.safetensors");

  const AutoGradMode grad(true);
  nn::Sequential cnn = cnn_example::make_model();
  for (const auto& module : cnn->children())
    if (auto* const dropout = module->as<nn::Dropout>()) dropout->options.p(0);
  cnn->to(device, dtype);
  data::DataLoader batches(
      data::datasets::MNIST(images).map(data::transforms::Normalize<>(0.286, 0.353)),
      data::DataLoaderOptions(128).shuffle(true).device(device));
  serialize::save_file(record(cnn, batches, 50, 4e-3, optim::OneCycleLROptions(4e-3, kCnnCycle), 0,
                              nn::CrossEntropyLoss()),
                       folder + "/cnn_fashion_mnist.safetensors");
} catch (const std::exception& error) {
  std::cerr << "example_losses: " << error.what() << '\n';
  return 1;
}
