// Training continues from a checkpoint bit for bit; files that do not fit are refused.
#include "gradus/serialize/checkpoint.h"

#include "tests/support.h"
#include "tests/temporary_folder.h"

namespace gradus {
namespace {

using optim::SGD, optim::SGDOptions;
using serialize::Checkpoint, serialize::load_checkpoint, serialize::load_file;
using serialize::Metadata, serialize::NamedTensors, serialize::save_checkpoint;
using serialize::save_file, serialize::SafetensorsContents;

struct Training {
  explicit Training(Device device = kCPU, int64_t hidden = 5)
      : net(nn::Linear(4, hidden), nn::ReLU(), nn::Linear(hidden, 2)) {
    net->register_buffer("steps", zeros({}, kLong));
    net->to(device);
    std::vector<optim::OptimizerParamGroup> groups;
    groups.emplace_back(Tensors{net->parameters()[0], net->parameters()[1]});
    groups.emplace_back(
        Tensors{net->parameters()[2], net->parameters()[3]},
        std::make_unique<SGDOptions>(SGDOptions(0.02).momentum(0.5).weight_decay(0.1)));
    sgd = std::make_unique<SGD>(std::move(groups), SGDOptions(0.01).momentum(0.9));
  }
  // Trains on random data of its own, with a falling learning rate.
  void train(int steps) {
    const Device device = net->parameters()[0].device();
    for (int i = 0; i < steps; ++i) {
      const Tensor x = randn({3, 4}, device), y = randn({3, 2}, device);
      sgd->zero_grad();
      mse_loss(net->forward(x), y).backward();
      sgd->step();
      net->buffers()[0].add_(1);
      for (auto& group : sgd->param_groups())
        group.options().set_lr(group.options().get_lr() * 0.9);
    }
  }
  static Tensor mse_loss(const Tensor& x, const Tensor& y) { return (x - y).square().mean(); }

  nn::Sequential net;
  std::unique_ptr<SGD> sgd;
};

// The whole state of a training, for a later comparison.
std::vector<Tensor> values(const Training& training) {
  std::vector<Tensor> out;
  for (const auto& item : training.net->state_dict()) out.push_back(item.value().clone());
  for (const auto& item : training.sgd->state_dict()) out.push_back(item.value().clone());
  out.push_back(default_generator(kCPU).get_state());
  return out;
}
void expect_equal(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(equal(a[i], b[i].to(a[i].device()))) << i;
}

void resume(Device device) {
  const TemporaryFolder folder;
  manual_seed(3);
  Training straight(device);
  straight.train(5);
  save_checkpoint(folder / "c", *straight.net, *straight.sgd,
                  {.step = 5, .epoch = 2, .metadata = {{"note", "h\u00e4lf"}, {"step", "x"}}});
  straight.train(5);
  const auto expected = values(straight);

  manual_seed(4);
  Training resumed(device);
  resumed.train(1);  // something to be overwritten
  const Checkpoint rest = load_checkpoint(folder / "c", *resumed.net, *resumed.sgd);
  EXPECT_EQ(rest.step, 5);
  EXPECT_EQ(rest.epoch, 2);
  EXPECT_EQ(rest.metadata, (Metadata{{"note", "h\u00e4lf"}, {"step", "x"}}));
  EXPECT_TRUE(rest.rng);
  resumed.train(5);
  expect_equal(values(resumed), expected);
}

TEST(Checkpoint, FiveStepsAndFiveAreTen) { resume(kCPU); }
TEST(Checkpoint, FiveStepsAndFiveAreTenOnAGpu) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  resume(kCUDA);
}

TEST(Checkpoint, FromAGpuToTheCpu) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  const TemporaryFolder folder;
  Training there(kCUDA), here;
  there.train(3);
  save_checkpoint(folder / "c", *there.net, *there.sgd);
  load_checkpoint(folder / "c", *here.net, *here.sgd);
  EXPECT_TRUE(here.sgd->state_dict()["state.0.momentum_buffer"].is_cpu());
  expect_equal(values(here), values(there));
}

TEST(Checkpoint, WhatTheFileHolds) {
  const TemporaryFolder folder;
  Training training;
  training.train(1);
  save_checkpoint(folder / "c", *training.net, *training.sgd, {.step = 7});
  const SafetensorsContents contents = load_file(folder / "c");
  EXPECT_EQ(contents.metadata, (Metadata{{"format", "gradus.checkpoint"},
                                         {"version", "1"},
                                         {"step", "7"},
                                         {"epoch", "0"},
                                         {"optimizer", "gradus::optim::SGD"}}));
  for (const char* name :
       {"model.0.weight", "model.2.bias", "model.steps", "optimizer.param_groups.1.weight_decay",
        "optimizer.group_of.2.bias", "optimizer.state.0.weight.momentum_buffer", "rng.cpu"})
    EXPECT_TRUE(contents.tensors.contains(name)) << name;
  expect_values(contents.tensors["optimizer.param_groups.1.momentum"], {0.5});
  expect_values(contents.tensors["optimizer.group_of.2.bias"], {1});
}

TEST(Checkpoint, WithoutAnOptimizer) {
  const TemporaryFolder folder;
  Training a, b;
  a.train(2);
  save_checkpoint(folder / "model", *a.net, {.step = 2, .rng = false});
  const Checkpoint rest = load_checkpoint(folder / "model", *b.net);
  EXPECT_EQ(rest.step, 2);
  EXPECT_FALSE(rest.rng);
  EXPECT_TRUE(equal(a.net->parameters()[0], b.net->parameters()[0]));
  expect_error<ValueError>([&] { load_checkpoint(folder / "model", *b.net, *b.sgd); },
                           "optimizer:\n  the file has none");
  Training c;
  save_checkpoint(folder / "both", *a.net, *a.sgd);
  load_checkpoint(folder / "both", *c.net);
  EXPECT_TRUE(equal(a.net->parameters()[0], c.net->parameters()[0]));
}

TEST(Checkpoint, GeneratorsStayWhereThatIsWished) {
  const TemporaryFolder folder;
  Training training;
  save_checkpoint(folder / "c", *training.net, *training.sgd);
  rand({3});
  const Tensor state = default_generator(kCPU).get_state();
  EXPECT_FALSE(load_checkpoint(folder / "c", *training.net, *training.sgd, false).rng);
  EXPECT_TRUE(equal(default_generator(kCPU).get_state(), state));
  load_checkpoint(folder / "c", *training.net, *training.sgd);
  EXPECT_FALSE(equal(default_generator(kCPU).get_state(), state));
}

// A checkpoint with one change, and the error that it gives.
class Refused : public testing::Test {
 protected:
  Refused() {
    training_.train(2);
    save_checkpoint(folder_ / "c", *training_.net, *training_.sgd, {.step = 2});
    contents_ = load_file(folder_ / "c");
  }

  // Tensor `name` becomes `value`, an undefined one is left out; metadata likewise.
  void refuse(const std::string& name, const Tensor& value, const std::string& why) {
    NamedTensors tensors;
    for (const auto& item : contents_.tensors)
      if (item.key() != name) tensors.insert(item.key(), item.value());
    if (value.defined()) tensors.insert(name, value);
    save_file(tensors, folder_ / "c", contents_.metadata);
    expect_unchanged(training_, why);
  }
  void refuse_text(const std::string& name, const char* text, const std::string& why) {
    Metadata metadata = contents_.metadata;
    metadata.erase(name);
    if (text != nullptr) metadata[name] = text;
    save_file(contents_.tensors, folder_ / "c", metadata);
    expect_unchanged(training_, why);
  }
  void expect_unchanged(Training& into, const std::string& why) {
    into.train(1);
    const auto before = values(into);
    expect_error<ValueError>([&] { load_checkpoint(folder_ / "c", *into.net, *into.sgd); }, why);
    expect_equal(values(into), before);
  }

  TemporaryFolder folder_;
  Training training_;
  SafetensorsContents contents_;
};

TEST_F(Refused, TheModel) {
  refuse("model.0.weight", {},
         "does not fit; nothing was loaded; give the module and the optimizer that were saved\n"
         "model:\n  0.weight is missing");
  refuse("model.steps", {}, "model:\n  steps is missing");
  refuse("model.0.extra", ones({1}), "model:\n  0.extra is unknown");
  refuse("model.0.bias", ones({4}), "model:\n  0.bias has shape [4], expected [5]");
  refuse("model.0.bias", ones({5}, kDouble), "0.bias has dtype float64, expected float32");
  refuse("model.steps", ones({}, kInt), "steps has dtype int32, expected int64");
}

TEST_F(Refused, TheOptimizer) {
  const std::string lr = "optimizer.param_groups.0.lr";
  refuse(lr, {}, "optimizer:\n  param_groups.0.lr is missing");
  refuse(lr, ones({}), "param_groups.0.lr is float32 of shape [], expected float64 of shape []");
  refuse(lr, ones({1}, kDouble), "is float64 of shape [1], expected float64 of shape []");
  refuse(lr, full({}, -1, kDouble), "param_groups.0: SGD: lr = -1, expected 0 or more");
  refuse(lr, full({}, NAN, kDouble), "param_groups.0: SGD: lr = nan");
  refuse("optimizer.param_groups.2.lr", ones({}, kDouble), "param_groups.2.lr is unknown");
  refuse("optimizer.param_groups.1.momentum", full({}, -1, kDouble),
         "groups.1: SGD: momentum = -1");
  refuse("optimizer.group_of.0.bias", full({}, 1, kLong), "group_of.0.bias is 1, expected 0");
  refuse("optimizer.group_of.0.bias", {}, "group_of.0.bias is missing");
  refuse("optimizer.group_of.4.bias", zeros({}, kLong), "group_of.4.bias is unknown");
  const std::string buffer = "optimizer.state.0.bias.momentum_buffer";
  refuse(buffer, ones({6}), "is float32 of shape [6], expected float32 of shape [5]");
  refuse(buffer, ones({5}, kHalf), "is float16 of shape [5], expected float32 of shape [5]");
  refuse("optimizer.state.0.bias.exp_avg", ones({5}), "state.0.bias.exp_avg is unknown");
  refuse("optimizer.state.9.momentum_buffer", ones({5}), "state.9.momentum_buffer is unknown");
}

TEST_F(Refused, TheRest) {
  refuse("rng.cpu", zeros({15}, kByte), "rng:\n  cpu is not the state of a generator");
  refuse("rng.cpu", zeros({16}, kChar), "cpu is not the state of a generator");
  refuse("rng.tpu", zeros({16}, kByte), "\"tpu\" is unknown");
  refuse("rng.cuda.128", zeros({16}, kByte), "\"cuda.128\" is unknown");
  refuse("weight", ones({1}), "file:\n  \"weight\" is unknown");
  refuse_text("format", nullptr, "this is not a checkpoint");
  refuse_text("format", "pt",
              "the metadata do not say format = gradus.checkpoint; this is not a checkpoint, give "
              "one that save_checkpoint wrote");
  refuse_text("version", "2", "do not say version = 1; save the checkpoint again");
  refuse_text("step", nullptr, "step is missing, or no whole number");
  for (const char* text : {"", " 1", "1 ", "1.5", "+1", "0x1", "99999999999999999999"})
    refuse_text("step", text, "step is missing, or no whole number");
  refuse_text("epoch", "one", "epoch is missing, or no whole number");
  refuse_text("lr", "1", "the metadata \"lr\" are unknown");
  refuse_text("optimizer", "gradus::optim::Adam",
              "the file has the state of a \"gradus::optim::Adam\", and this is a");
}

TEST_F(Refused, AllThatIsWrongIsListed) {
  Training wider(kCPU, 6);
  expect_unchanged(wider, "0.weight has shape [5, 4], expected [6, 4]\n  0.bias has shape [5]");
  expect_unchanged(wider, "optimizer:\n  state.0.weight.momentum_buffer is float32");
}

TEST_F(Refused, NamesThatAreNoNames) {
  refuse("model.\x1b[2J", ones({1}), "model:\n  ?[2J is unknown");
  refuse("model." + std::string(100'000, 'n'), ones({1}), "nnn\n  ...");
}

TEST_F(Refused, AFileThatIsTruncated) {
  const auto size = std::filesystem::file_size(folder_ / "c");
  std::filesystem::resize_file(folder_ / "c", size - 1);
  expect_unchanged(training_, "the file is truncated, copy it again");
}

TEST_F(Refused, AnOptimizerOfOtherParameters) {
  Training other;
  expect_error<ValueError>(
      [&] { load_checkpoint(folder_ / "c", *training_.net, *other.sgd); },
      "parameter 0 of the optimizer, of shape [5, 4], is none of the module's");
  expect_error<ValueError>([&] { save_checkpoint(folder_ / "d", *training_.net, *other.sgd); },
                           "is none of the module's; register it");
}

TEST_F(Refused, AMissingFolder) {
  expect_error<Error>([&] { save_checkpoint(folder_ / "no/c", *training_.net, *training_.sgd); },
                      "/no/c cannot be written: No such file or directory");
}

// A schedule and a GradScaler go on, too: their states are in the checkpoint under prefixes.
TEST(Checkpoint, KeepsOtherStates) {
  const TemporaryFolder folder;
  const std::string path = folder / "states";
  const auto with_prefix = [](const std::string& prefix, const NamedTensors& state) {
    NamedTensors out;
    for (const auto& item : state) out.insert(prefix + item.key(), item.value());
    return out;
  };
  Training training;
  optim::StepLR schedule(*training.sgd, 2, 0.5);
  amp::GradScaler scaler(amp::GradScalerOptions().growth_interval(3));
  training.train(1);
  for (int i = 0; i < 3; ++i) schedule.step();
  scaler.step(*training.sgd), scaler.update();
  NamedTensors state = with_prefix("schedule.", schedule.state_dict());
  state.update(with_prefix("scaler.", scaler.state_dict()));
  save_checkpoint(path, *training.net, *training.sgd, {.step = 3, .state = state});

  Training other;
  const Checkpoint loaded = load_checkpoint(path, *other.net, *other.sgd);
  EXPECT_EQ(loaded.step, 3);
  ASSERT_EQ(loaded.state.keys(), state.keys());
  for (const auto& item : state)  // StepLR notes no first rates, which are NaN
    EXPECT_TRUE(allclose(item.value(), loaded.state[item.key()], 0, 0, /*equal_nan=*/true));
  expect_equal(values(training), values(other));
}

// A loader in the middle of a shuffled epoch goes on with the next batch.
TEST(Checkpoint, KeepsThePlaceOfALoader) {
  const TemporaryFolder folder;
  const Tensor rows = arange(20, kFloat).view({20, 1});
  const auto make = [&] {
    return data::DataLoader(data::TensorPairDataset(rows, arange(20)),
                            data::DataLoaderOptions(3).shuffle(true));
  };
  const auto rest_of = [](auto& loader, int64_t first) {
    std::vector<double> out;
    int64_t i = 0;
    for (auto& [x, y] : loader)
      if (i++ >= first)
        for (const double value : to_vector(y)) out.push_back(value);
    return out;
  };
  manual_seed(3);
  Training training;
  auto loader = make();
  std::vector<double> expected;
  {
    int64_t i = 0;
    for (auto& [x, y] : loader) {
      if (i == 2) save_checkpoint(folder / "c", *training.net, *training.sgd, loader, {.step = 2});
      if (i++ > 2)
        for (const double value : to_vector(y)) expected.push_back(value);
    }
  }
  const std::vector<double> next = rest_of(loader, 0);

  manual_seed(4);
  Training other;
  auto resumed = make();
  EXPECT_EQ(load_checkpoint(folder / "c", *other.net, *other.sgd, resumed).step, 2);
  EXPECT_EQ(rest_of(resumed, 0), expected);
  EXPECT_EQ(rest_of(resumed, 0), next);
  expect_equal({training.net->parameters()}, {other.net->parameters()});
  // Without the loader the rest of the file is read as before.
  EXPECT_EQ(load_checkpoint(folder / "c", *other.net, *other.sgd).step, 2);
  save_checkpoint(folder / "d", *training.net, *training.sgd);
  expect_error<ValueError>([&] { load_checkpoint(folder / "d", *other.net, *other.sgd, resumed); },
                           "has no data loader; leave the loader out");
}

}  // namespace
}  // namespace gradus
