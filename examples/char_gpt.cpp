// Trains a GPT on the characters of a text, and lets it write some text of its own. The model is
// that of Radford et al., "Language models are unsupervised multitask learners" (2019).
//
//   char_gpt --text book.txt
#include <gradus/gradus.h>
#include <CLI/CLI.hpp>

#include <iostream>

using namespace gradus;

// Attention to the earlier characters, then two linear layers, each added to its input.
struct BlockImpl : nn::Module {
  BlockImpl(int64_t width, int64_t head_count, double p)
      : heads(head_count),
        norm1(register_module("norm1", nn::LayerNorm(width))),
        qkv(register_module("qkv", nn::Linear(width, 3 * width))),
        proj(register_module("proj", nn::Linear(width, width))),
        norm2(register_module("norm2", nn::LayerNorm(width))),
        up(register_module("up", nn::Linear(width, 4 * width))),
        down(register_module("down", nn::Linear(4 * width, width))),
        dropout(register_module("dropout", nn::Dropout(p))) {}

  Tensor forward(const Tensor& x) {
    const int64_t batch = x.size(0), length = x.size(1), width = x.size(2);
    const auto parts = qkv(norm1(x)).chunk(3, -1);
    const auto split = [&](const Tensor& part) {
      return part.view({batch, length, heads, width / heads}).transpose(1, 2);
    };
    const Tensor seen = scaled_dot_product_attention(split(parts[0]), split(parts[1]),
                                                     split(parts[2]), {}, 0.0, /*is_causal=*/true);
    const Tensor y = x + dropout(proj(seen.transpose(1, 2).reshape({batch, length, width})));
    return y + dropout(down(gelu(up(norm2(y)))));
  }

  int64_t heads;
  nn::LayerNorm norm1;
  nn::Linear qkv, proj;
  nn::LayerNorm norm2;
  nn::Linear up, down;
  nn::Dropout dropout;
};
GRADUS_MODULE(Block);

// Characters (N, T) to scores of the next ones (N, T, vocabulary).
struct GPTImpl : nn::Module {
  GPTImpl(int64_t vocabulary, int64_t context, int64_t layers, int64_t heads, int64_t width,
          double p)
      : token(register_module("token", nn::Embedding(vocabulary, width))),
        place(register_module("place", nn::Embedding(context, width))),
        blocks(register_module("blocks", nn::Sequential())),
        norm(register_module("norm", nn::LayerNorm(width))),
        head(register_module("head", nn::Linear(width, vocabulary))) {
    for (int64_t i = 0; i < layers; ++i) blocks->push_back(Block(width, heads, p));
    for (Tensor& weight : parameters())
      if (weight.dim() == 2) nn::init::normal_(weight, 0, 0.02);
  }

  Tensor forward(const Tensor& characters) {
    const Tensor places = arange(characters.size(1), characters.options());
    return head(norm(blocks->forward(token(characters) + place(places))));
  }

  nn::Embedding token, place;
  nn::Sequential blocks;
  nn::LayerNorm norm;
  nn::Linear head;
};
GRADUS_MODULE(GPT);

Tensor loss_of(const Tensor& scores, const Tensor& targets) {
  return nn::functional::cross_entropy(scores.flatten(0, 1), targets.flatten());
}

// Text that the model goes on with, character by character, behind the end of a line.
std::string written(GPT& model, const data::CharVocabulary& vocabulary, int64_t length,
                    const Device& device) {
  const NoGradGuard no_grad;
  model->eval();
  const int64_t context = model->place->weight.size(0);
  Tensor text = vocabulary.encode("\n").unsqueeze(0).to(device);
  for (int64_t i = 0; i < length; ++i) {
    const int64_t seen = std::min(text.size(1), context);
    const Tensor scores = model(text.narrow(1, text.size(1) - seen, seen)).select(1, -1);
    text = cat({text, multinomial(scores.softmax(-1), 1)}, 1);
  }
  return vocabulary.decode(text);
}

int main(int argc, char** argv) try {
  std::string file = "/usr/share/common-licenses", out = "runs/char_gpt", device = "cpu";
  int64_t steps = 2000, batch_size = 16, layers = 4, heads = 4, width = 128, context = 128;
  int64_t evaluate_every = 200, characters = 500;
  double lr = 2e-3, dropout = 0.1;
  uint64_t seed = 1;
  bool resume = false;
  CLI::App app("Trains a GPT on the characters of a text.");
  app.option_defaults()->always_capture_default();
  app.add_option("--text", file, "File in UTF-8, plain or .gz, or a folder of such");
  app.add_option("--steps", steps, "Training steps")->check(CLI::PositiveNumber);
  app.add_option("--batch-size", batch_size, "Pieces of text in a step")
      ->check(CLI::PositiveNumber);
  app.add_option("--context", context, "Characters of a piece")->check(CLI::PositiveNumber);
  app.add_option("--layers", layers, "Blocks of attention")->check(CLI::PositiveNumber);
  app.add_option("--heads", heads, "Heads of each block")->check(CLI::PositiveNumber);
  app.add_option("--width", width, "Features of a character")->check(CLI::PositiveNumber);
  app.add_option("--dropout", dropout, "Share of features set to 0");
  app.add_option("--lr", lr, "Highest learning rate");
  app.add_option("--evaluate-every", evaluate_every, "Steps between validations and checkpoints")
      ->check(CLI::PositiveNumber);
  app.add_option("--characters", characters, "Length of the text that the model writes");
  app.add_option("--seed", seed, "Of the weights and the order");
  app.add_option("--device", device, "cpu, cuda or cuda:N");
  app.add_option("--out", out, "Folder for checkpoints and the picture");
  app.add_flag("--resume", resume, "Goes on from the newest checkpoint in the folder");
  CLI11_PARSE(app, argc, argv);

  manual_seed(seed);
  const std::string text = data::read_text(file);
  const data::CharVocabulary vocabulary(text);
  const data::TextDataset pieces(vocabulary.encode(text), context);
  auto parts = data::random_split(pieces, {0.9, 0.1});
  const auto options = data::DataLoaderOptions(batch_size).device(device);
  data::DataLoader train(parts[0], data::DataLoaderOptions(options).shuffle(true).drop_last(true));
  data::DataLoader validation(parts[1], options);
  std::cout << file << ": " << text.size() << " characters, " << vocabulary.size()
            << " different ones\n";

  GPT model(vocabulary.size(), context, layers, heads, width, dropout);
  std::cout << watch::summary(model, zeros({1, context}, kLong)).total_params << " parameters\n";
  model->to(device);
  optim::AdamW adamw(model->parameters(), optim::AdamWOptions(lr).betas({0.9, 0.99}));
  optim::OneCycleLR schedule(
      adamw, optim::OneCycleLROptions(lr, steps).pct_start(0.1).cycle_momentum(false));
  watch::History history;
  serialize::Checkpoints checkpoints(out, *model, adamw);
  checkpoints.add("schedule", schedule).add("loader", train).add("history", history);
  int64_t step = resume ? checkpoints.load() : 0;

  watch::ProgressBar bar(steps, watch::ProgressBarOptions().desc("char_gpt").initial(step));
  metrics::MeanMetric train_loss;
  while (step < steps)
    for (auto& [x, y] : train) {
      model->train();
      adamw.zero_grad();
      const Tensor loss = loss_of(model(x), y);
      loss.backward();
      nn::utils::clip_grad_norm_(model->parameters(), 1.0);
      adamw.step();
      schedule.step();
      train_loss.update(loss.detach());
      ++step;
      bar.update();
      if (step % evaluate_every != 0 && step != steps) continue;

      const NoGradGuard no_grad;
      model->eval();
      metrics::MeanMetric validation_loss;
      for (auto& [u, v] : validation)
        validation_loss.update(loss_of(model(u), v), static_cast<double>(u.size(0)));
      history.log({{"step", step},
                   {"training", train_loss.compute()},
                   {"validation", validation_loss.compute()}});
      train_loss.reset();
      bar.set_postfix({{"loss", history.column("training").back()},
                       {"validation", history.column("validation").back()}});
      checkpoints.save(step);
      if (step == steps) break;
    }
  bar.close();

  const std::string picture = out + "/char_gpt.svg";
  watch::save_svg(watch::plot_curves(
                      "A GPT on " + file, "step",
                      {{"cross entropy of a character, in nats",
                        {history.curve("training", "step"), history.curve("validation", "step")}}}),
                  picture);
  std::cout << "validation loss " << history.column("validation").back() << "; curves: " << picture
            << "\n"
            << written(model, vocabulary, characters, device) << '\n';
} catch (const std::exception& error) {
  std::cerr << "char_gpt: " << error.what() << '\n';
  return 1;
}
