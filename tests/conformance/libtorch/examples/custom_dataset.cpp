// The custom dataset example: a data set over a list of records, batches of several threads, a net.
#include <torch/torch.h>

#include <iostream>
#include <string>
#include <tuple>
#include <vector>

using Data = std::vector<std::pair<std::string, long>>;

// A record is a word and its class: here the number of its vowels.
class CustomDataset : public torch::data::datasets::Dataset<CustomDataset> {
  using Example = torch::data::Example<>;

  Data data;

 public:
  explicit CustomDataset(const Data& records) : data(records) {}

  Example get(size_t index) override {
    auto letters = torch::zeros({26});
    for (char c : data[index].first) letters[c - 'a'] += 1;
    return {letters, torch::full({1}, data[index].second, torch::kLong)};
  }
  torch::optional<size_t> size() const override { return data.size(); }
};

static std::pair<Data, Data> read_info() {
  Data train, test;
  unsigned state = 1;
  auto next = [&](unsigned below) {
    state = state * 1103515245u + 12345u;
    return (state >> 16) % below;
  };
  for (int i = 0; i < 500; ++i) {
    std::string word;
    long vowels = 0;
    for (int k = 0; k < 3; ++k) {
      word += static_cast<char>('a' + next(26));
      if (std::string("aeiou").find(word.back()) != std::string::npos) ++vowels;
    }
    (i % 5 ? train : test).emplace_back(word, vowels);
  }
  return {train, test};
}

struct NetworkImpl : torch::nn::SequentialImpl {
  NetworkImpl() {
    using namespace torch::nn;
    push_back(Linear(26, 32));
    push_back(Functional(torch::relu));
    push_back(Linear(32, 4));
    push_back(Functional([](const torch::Tensor& x) { return torch::log_softmax(x, 1); }));
  }
};
TORCH_MODULE(Network);

template <typename DataLoader>
static std::tuple<double, double> run(Network& network, DataLoader& loader, size_t data_size,
                                      torch::optim::Optimizer* optimizer) {
  network->train(optimizer != nullptr);
  double loss_sum = 0, correct = 0;
  for (auto& batch : loader) {
    auto data = batch.data;
    auto target = batch.target.view({-1});
    auto output = network->forward(data);
    auto loss = torch::nll_loss(output, target);
    if (optimizer) {
      optimizer->zero_grad();
      loss.backward();
      optimizer->step();
    }
    loss_sum += loss.template item<double>() * static_cast<double>(target.size(0));
    correct += torch::sum(output.argmax(1) == target).template item<double>();
  }
  return std::make_tuple(loss_sum / static_cast<double>(data_size),
                         correct / static_cast<double>(data_size));
}

int main() {
  torch::manual_seed(1);
  auto data = read_info();
  auto train_set = CustomDataset(data.first).map(torch::data::transforms::Stack<>());
  auto train_size = train_set.size().value();
  auto train_loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
      std::move(train_set), torch::data::DataLoaderOptions().batch_size(16).workers(2));
  auto test_set = CustomDataset(data.second).map(torch::data::transforms::Stack<>());
  auto test_size = test_set.size().value();
  auto test_loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      std::move(test_set), torch::data::DataLoaderOptions().batch_size(30).drop_last(false));
  std::cout << train_size << " " << test_size << "\n";

  Network network;
  torch::optim::SGD optimizer(network->parameters(), torch::optim::SGDOptions(0.2).momentum(0.5));
  double first = 0, last = 0;
  for (int epoch = 0; epoch < 25; ++epoch) {
    last = std::get<0>(run(network, *train_loader, train_size, &optimizer));
    if (epoch == 0) first = last;
  }
  torch::NoGradGuard guard;
  const auto stat = run(network, *test_loader, test_size, nullptr);
  std::cout << "loss falls to a third: " << (3 * last < first)
            << ", eight of ten right: " << (std::get<1>(stat) > 0.8) << "\n";
}
