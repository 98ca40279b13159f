// Trains an LSTM on the characters of a text, and lets it write some text of its own. char_gpt.cpp
// does the same with attention.
//
//   lstm_text --text book.txt
#include <gradus/gradus.h>
#include <CLI/CLI.hpp>

#include <iostream>

using namespace gradus;

// Characters (N, T), and the state behind the earlier ones, to scores of the next ones
// (N, T, vocabulary) and the new state.
struct WriterImpl : nn::Module {
  WriterImpl(int64_t vocabulary, int64_t hidden, int64_t layers, double dropout)
      : embedding(register_module("embedding", nn::Embedding(vocabulary, hidden))),
        lstm(register_module("lstm", nn::LSTM(nn::LSTMOptions(hidden, hidden)
                                                  .num_layers(layers)
                                                  .dropout(layers > 1 ? dropout : 0)
                                                  .batch_first(true)))),
        head(register_module("head", nn::Linear(hidden, vocabulary))) {}

  using State = std::optional<std::tuple<Tensor, Tensor>>;
  std::pair<Tensor, State> forward(const Tensor& characters, const State& state = {}) {
    auto [out, next] = lstm->forward(embedding(characters), state);
    return {head(out), next};
  }

  nn::Embedding embedding;
  nn::LSTM lstm;
  nn::Linear head;
};
GRADUS_MODULE(Writer);

Tensor loss_of(Writer& model, const Tensor& x, const Tensor& y) {
  return nn::functional::cross_entropy(model->forward(x).first.flatten(0, 1), y.flatten());
}

// Text that the model goes on with behind the end of a line. The state remembers what was written.
std::string written(Writer& model, const data::CharVocabulary& vocabulary, int64_t length,
                    const Device& device) {
  const NoGradGuard no_grad;
  model->eval();
  Tensor last = vocabulary.encode("\n").unsqueeze(0).to(device);
  std::vector<Tensor> text;
  WriterImpl::State state;
  for (int64_t i = 0; i < length; ++i) {
    auto [scores, next] = model->forward(last, state);
    last = multinomial(scores.select(1, -1).softmax(-1), 1);
    state = next;
    text.push_back(last);
  }
  return vocabulary.decode(cat(text, 1));
}

int main(int argc, char** argv) try {
  std::string file = "/usr/share/common-licenses", out = "runs/lstm_text", device = "cpu";
  int64_t epochs = 20, batch_size = 32, length = 128, layers = 1, hidden = 192, characters = 500;
  double lr = 4e-3, dropout = 0.2;
  uint64_t seed = 1;
  bool resume = false;
  CLI::App app("Trains an LSTM on the characters of a text.");
  app.option_defaults()->always_capture_default();
  app.add_option("--text", file, "File in UTF-8, plain or .gz, or a folder of such");
  app.add_option("--epochs", epochs, "Passes over the text")->check(CLI::PositiveNumber);
  app.add_option("--batch-size", batch_size, "Pieces of text in a step")
      ->check(CLI::PositiveNumber);
  app.add_option("--length", length, "Characters of a piece")->check(CLI::PositiveNumber);
  app.add_option("--layers", layers, "Layers of the LSTM")->check(CLI::PositiveNumber);
  app.add_option("--hidden", hidden, "Features of a character")->check(CLI::PositiveNumber);
  app.add_option("--dropout", dropout, "Share of features set to 0 between layers");
  app.add_option("--lr", lr, "First learning rate");
  app.add_option("--characters", characters, "Length of the text that the model writes")
      ->check(CLI::PositiveNumber);
  app.add_option("--seed", seed, "Of the weights and the order");
  app.add_option("--device", device, "cpu, cuda or cuda:N");
  app.add_option("--out", out, "Folder for checkpoints and the picture");
  app.add_flag("--resume", resume, "Goes on from the newest checkpoint in the folder");
  CLI11_PARSE(app, argc, argv);

  manual_seed(seed);
  const std::string text = data::read_text(file);
  const data::CharVocabulary vocabulary(text);
  const data::TextDataset pieces(vocabulary.encode(text), length);
  auto parts = data::random_split(pieces, {0.9, 0.1});
  const auto options = data::DataLoaderOptions(batch_size).device(device);
  data::DataLoader train(parts[0], data::DataLoaderOptions(options).shuffle(true));
  data::DataLoader validation(parts[1], options);
  std::cout << file << ": " << text.size() << " characters, " << vocabulary.size()
            << " different ones\n";

  Writer model(vocabulary.size(), hidden, layers, dropout);
  model->to(device);
  optim::Adam adam(model->parameters(), lr);
  optim::CosineAnnealingLR schedule(adam, epochs);
  watch::History history;
  serialize::Checkpoints checkpoints(out, *model, adam);
  checkpoints.add("schedule", schedule).add("loader", train).add("history", history);

  for (int64_t epoch = resume ? checkpoints.load() : 0; epoch < epochs;) {
    watch::ProgressBar bar(static_cast<int64_t>(train.size()),
                           watch::ProgressBarOptions().desc("epoch " + std::to_string(epoch + 1)));
    metrics::MeanMetric train_loss, validation_loss;
    model->train();
    for (auto& [x, y] : train) {
      adam.zero_grad();
      const Tensor loss = loss_of(model, x, y);
      loss.backward();
      nn::utils::clip_grad_norm_(model->parameters(), 1.0);
      adam.step();
      train_loss.update(loss.detach(), static_cast<double>(x.size(0)));
      bar.update();
    }
    schedule.step();

    const NoGradGuard no_grad;
    model->eval();
    for (auto& [x, y] : validation)
      validation_loss.update(loss_of(model, x, y), static_cast<double>(x.size(0)));
    history.log({{"training", train_loss.compute()}, {"validation", validation_loss.compute()}});
    bar.set_postfix({{"loss", history.column("training").back()},
                     {"validation", history.column("validation").back()}});
    checkpoints.save(++epoch);
  }

  const std::string picture = out + "/lstm_text.svg";
  watch::save_svg(watch::plot_curves("An LSTM on " + file, "epoch",
                                     {{"cross entropy of a character, in nats",
                                       {history.curve("training"), history.curve("validation")}}}),
                  picture);
  std::cout << "validation loss " << history.column("validation").back() << "; curves: " << picture
            << "\n\n"
            << written(model, vocabulary, characters, device) << '\n';
} catch (const std::exception& error) {
  std::cerr << "lstm_text: " << error.what() << '\n';
  return 1;
}
