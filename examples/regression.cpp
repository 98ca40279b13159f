// Learns from a table of cars how far each drives on a gallon: numbers, a column of text, and
// missing values. Stops when cars that it has not seen are predicted no better.
#include <gradus/gradus.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>

using namespace gradus;

int main(int argc, char** argv) try {
  std::string file = "data/cars/cars.csv", out = "runs/regression", device = "cpu";
  int64_t epochs = 500, batch_size = 32, hidden = 64, patience = 100;
  double lr = 3e-3;
  uint64_t seed = 1;
  bool resume = false;
  CLI::App app("Learns miles per gallon from a table of cars.");
  app.option_defaults()->always_capture_default();
  app.add_option("--data", file, "The table, data/cars/cars.csv of the repository");
  app.add_option("--epochs", epochs, "Passes over the table at most")->check(CLI::PositiveNumber);
  app.add_option("--patience", patience, "Epochs to wait for a better one")
      ->check(CLI::PositiveNumber);
  app.add_option("--batch-size", batch_size, "Cars in a step")->check(CLI::PositiveNumber);
  app.add_option("--hidden", hidden, "Width of the hidden layers")->check(CLI::PositiveNumber);
  app.add_option("--lr", lr, "Learning rate");
  app.add_option("--seed", seed, "Of the weights, the order, and the cars that are held back");
  app.add_option("--device", device, "cpu, cuda or cuda:N");
  app.add_option("--out", out, "Folder for checkpoints and the picture");
  app.add_flag("--resume", resume, "Goes on from the newest checkpoint in the folder");
  CLI11_PARSE(app, argc, argv);
  manual_seed(seed);

  // Rows without a target are left out. A missing number is replaced by the mean of its column.
  const data::CsvTable table = data::read_csv(file);
  const Tensor rows = table.numbers("mpg").isnan().logical_not().nonzero().flatten();
  Tensor x =
      table.numbers({"cylinders", "displacement", "horsepower", "weight", "acceleration", "year"});
  x = where(x.isnan(), x.nanmean(0, /*keepdim=*/true), x);
  x = (x - x.mean(0)) / x.std(0);
  const auto origins = table.labels("origin");
  const Tensor origin =
      one_hot(table.classes("origin", origins), static_cast<int64_t>(origins.size()));
  x = cat({x, origin.to(kFloat)}, 1).index_select(0, rows);
  const Tensor y = table.numbers("mpg").index_select(0, rows).unsqueeze(1);
  std::cout << table.rows() << " cars, " << table.rows() - rows.size(0) << " of them without mpg, "
            << table.missing("horsepower") << " without horsepower; " << x.size(1) << " features\n";

  const auto parts = data::random_split(data::TensorPairDataset(x, y), {0.8, 0.2});
  data::DataLoader train(parts[0],
                         data::DataLoaderOptions(batch_size).shuffle(true).device(device));
  data::DataLoader all_unseen(parts[1], data::DataLoaderOptions(rows.numel()).device(device));

  nn::Sequential model(nn::Linear(x.size(1), hidden), nn::ReLU(), nn::Linear(hidden, hidden),
                       nn::ReLU(), nn::Linear(hidden, 1));
  model->to(device);
  optim::AdamW adamw(model->parameters(), optim::AdamWOptions(lr).weight_decay(0.1));
  watch::EarlyStopping stopping{watch::EarlyStoppingOptions().patience(patience)};
  watch::History history;
  serialize::Checkpoints checkpoints(out, *model, adamw);
  checkpoints.add("stopping", stopping).add("loader", train).add("history", history);

  int64_t epoch = resume ? checkpoints.load() : 0;
  watch::ProgressBar bar(
      epochs, watch::ProgressBarOptions().desc("regression").unit("epoch").initial(epoch));
  while (epoch < epochs && !stopping.should_stop()) {
    metrics::MeanMetric train_error, test_error;
    for (auto& [inputs, targets] : train) {
      adamw.zero_grad();
      const Tensor loss = mse_loss(model->forward(inputs), targets);
      loss.backward();
      adamw.step();
      train_error.update(loss.detach(), static_cast<double>(inputs.size(0)));
    }
    const NoGradGuard no_grad;
    for (auto& [inputs, targets] : all_unseen)
      test_error.update(l1_loss(model->forward(inputs), targets));
    history.log(
        {{"training", train_error.compute().sqrt()}, {"unseen cars", test_error.compute()}});
    bar.set_postfix({{"error on unseen cars", history.column("unseen cars").back()}});
    bar.update();
    stopping.step(history.column("unseen cars").back());
    if (stopping.improved()) save(model, out + "/best.safetensors");
    ++epoch;
    if (epoch % 10 == 0 || epoch == epochs || stopping.should_stop()) checkpoints.save(epoch);
  }
  bar.close();

  // The best model's answers, in the order of the truth.
  load(model, out + "/best.safetensors");
  const NoGradGuard no_grad;
  watch::Curve truth{"measured", {}}, answers{"predicted", {}};
  for (auto& [inputs, targets] : all_unseen) {
    const auto [sorted, order] = targets.flatten().sort();
    const Tensor predicted = model->forward(inputs).flatten().index_select(0, order);
    for (int64_t i = 0; i < sorted.numel(); ++i) {
      truth.y.push_back(sorted[i].item<double>());
      answers.y.push_back(predicted[i].item<double>());
    }
  }
  const std::string picture = out + "/regression.svg";
  watch::save_svg(watch::plot_curves("Cars that were held back", "car",
                                     {{"miles per gallon", {answers, truth}}}),
                  picture);
  std::cout << "mean error on unseen cars: " << stopping.best_score()
            << " miles per gallon; picture: " << picture << '\n';
} catch (const std::exception& error) {
  std::cerr << "regression: " << error.what() << '\n';
  return 1;
}
