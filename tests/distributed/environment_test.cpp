// Environments that launchers set, and those that are refused.
#include <map>

#include "gradus/distributed/environment.h"
#include "tests/support.h"

namespace gradus {
namespace {

using distributed::Launch;
using Variables = std::map<std::string, std::string>;

Launch read(const Variables& variables) {
  return distributed::read_environment([&](const char* name) -> const char* {
    const auto at = variables.find(name);
    return at == variables.end() ? nullptr : at->second.c_str();
  });
}

const Variables torchrun = {{"RANK", "3"},           {"WORLD_SIZE", "8"},
                            {"LOCAL_RANK", "1"},     {"MASTER_ADDR", "n01"},
                            {"MASTER_PORT", "1234"}, {"GRADUS_JOB_TOKEN", "t"}};

TEST(Environment, OfEachLauncher) {
  const Launch a = read(torchrun);
  EXPECT_EQ(a.rank, 3);
  EXPECT_EQ(a.world_size, 8);
  EXPECT_EQ(a.local_rank, 1);
  EXPECT_EQ(a.address, "n01");
  EXPECT_EQ(a.port, 1234);
  EXPECT_EQ(a.token, "t");
  const Launch b = read({{"OMPI_COMM_WORLD_RANK", "1"},
                         {"OMPI_COMM_WORLD_SIZE", "2"},
                         {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                         {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}});
  EXPECT_EQ(b.rank, 1);
  EXPECT_EQ(b.local_rank, 1);
  EXPECT_EQ(b.address, "127.0.0.1");
  EXPECT_EQ(b.port, 29500);
  const Launch c = read({{"SLURM_PROCID", "5"},
                         {"SLURM_NTASKS", "8"},
                         {"SLURM_LOCALID", "1"},
                         {"SLURM_NNODES", "4"},
                         {"MASTER_ADDR", "n02"},
                         {"MASTER_PORT", "80"}});
  EXPECT_EQ(c.rank, 5);
  EXPECT_EQ(c.world_size, 8);
  EXPECT_EQ(c.address, "n02");
}

TEST(Environment, EveryGarbledValueIsNamedWithItsText) {
  const std::map<std::string, std::vector<std::string>> garbled = {
      {"RANK", {"", "x", "1x", " 1", "-1", "8", "1.0", "99999999999999999999"}},
      {"WORLD_SIZE", {"", "0", "-8", "eight"}},
      {"LOCAL_RANK", {"", "-1", "8", "?"}},
      {"MASTER_PORT", {"", "0", "65536", "http"}},
  };
  for (const auto& [name, texts] : garbled)
    for (const std::string& text : texts) {
      Variables variables = torchrun;
      variables[name] = text;
      expect_error<ValueError>([&] { read(variables); },
                               "the environment variable " + name + " is '" + text + "'; expected");
    }
}

TEST(Environment, WhatIsMissingIsNamed) {
  for (const char* name : {"WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}) {
    Variables variables = torchrun;
    variables.erase(name);
    expect_error<ValueError>([&] { read(variables); },
                             std::string("the environment variable ") + name + " is missing");
  }
  expect_error<ValueError>([] { read({}); }, "neither RANK (torchrun), OMPI_COMM_WORLD_RANK");
  Variables empty = torchrun;
  empty["MASTER_ADDR"] = "";
  expect_error<ValueError>([&] { read(empty); }, "MASTER_ADDR is empty");
}

TEST(Environment, Urls) {
  const Launch launch = distributed::read_url("tcp://[::1]:99", 1, 2);
  EXPECT_EQ(launch.port, 99);
  EXPECT_EQ(launch.rank, 1);
  for (const char* url : {"", "n:1", "tcp://", "tcp://n", "tcp://:1"})
    expect_error<ValueError>([&] { distributed::read_url(url, 0, 1); }, "expected env:// or tcp");
  expect_error<ValueError>([] { distributed::read_url("tcp://n:x", 0, 1); },
                           "the port of init_method 'tcp://n:x' is 'x'");
}

}  // namespace
}  // namespace gradus
