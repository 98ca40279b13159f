#include "layering.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace fs = std::filesystem;

namespace {

std::vector<std::string> public_cuda() {
  std::istringstream names(GRADUS_PUBLIC_CUDA);
  return {std::istream_iterator<std::string>(names), {}};
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += line + '\n';
  return text;
}

// A small tree on disk that keeps every rule, until a test plants a breach.
class Planted : public testing::Test {
 protected:
  Planted() : root_(fs::temp_directory_path() / ("gradus-layering-" + std::to_string(getpid()))) {
    fs::remove_all(root_);
    plant("gradus.h",
          "#include \"gradus/nn/modules/linear.h\"\n#include \"gradus/cuda/runtime/stream.h\"\n");
    plant("tensor/tensor.h", "#include <vector>\n#include \"gradus/tensor/ops.def\"\n");
    plant("cpu/ops/map.cpp", "#include <omp.h>\n#include \"gradus/tensor/tensor.h\"\n");
    plant("cuda/runtime/stream.h", "#include \"gradus/tensor/tensor.h\"\n");
    plant("cuda/runtime/launch.h", "#include <cuda_runtime.h>\n");
    plant("cuda/ops/map.cu", "#include \"gradus/cuda/runtime/launch.h\"\n");
    plant("autograd/engine/node.cpp", "#include \"gradus/cuda/runtime/stream.h\"\n");
    plant("nn/modules/linear.h",
          "#include \"gradus/nn/module.h\"\n#include \"gradus/autograd/engine/node.h\"\n");
    plant("nn/parallel/replicas.h", "#include \"gradus/optim/sgd.h\"\n");
    plant("optim/sgd.h", "#include \"gradus/tensor/tensor.h\"\n");
    plant("serialize/save.h",
          "#include \"gradus/nn/modules/linear.h\"\n#include \"gradus/optim/sgd.h\"\n");
    plant("tests/cpu/map_test.cpp", "#include \"helper.h\"\n#include \"gradus/cpu/map.h\"\n");
    plant("build/x.h", "#include \"anything.h\"\n");
  }
  ~Planted() override { fs::remove_all(root_); }

  void plant(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  std::string found() { return joined(breaches(root_, public_cuda())); }

 private:
  fs::path root_;
};

TEST(Layering, TheTreeKeepsTheRules) {
  EXPECT_EQ(joined(breaches(GRADUS_SOURCE_DIR, public_cuda())), "");
}

TEST_F(Planted, ACleanTreeHasNoBreach) { EXPECT_EQ(found(), ""); }

TEST_F(Planted, AnArrowThatPointsUp) {
  plant("tensor/raw.cpp", "#include <vector>\n#include \"gradus/autograd/engine/node.h\"\n");
  EXPECT_EQ(found(),
            "tensor/raw.cpp:2: tensor/ includes autograd/engine/node.h, which is not below it\n");
}

TEST_F(Planted, ASibling) {
  plant("optim/adam.cpp", "#  include   \"gradus/nn/module.h\"\n");
  EXPECT_EQ(found(), "optim/adam.cpp:1: optim/ includes nn/module.h, which is not below it\n");
}

TEST_F(Planted, SerializeStandsAboveWhatItSavesAndBelowTheRest) {
  plant("nn/modules/linear.h", "#include \"gradus/serialize/archive.h\"\n");
  plant("data/samplers/base.h", "#include \"gradus/serialize/archive.h\"\n");
  plant("serialize/samplers.cpp", "#include \"gradus/data/samplers/samplers.h\"\n");
  plant("serialize/archive.cpp", "#include \"gradus/nn/parallel/replicas.h\"\n");
  EXPECT_EQ(
      found(),
      "data/samplers/base.h:1: data/ includes serialize/archive.h, which is not below it\n"
      "nn/modules/linear.h:1: nn/ includes serialize/archive.h, which is not below it\n"
      "serialize/archive.cpp:1: serialize/ includes nn/parallel/replicas.h, which is not below "
      "it\n");
}

TEST_F(Planted, ABackendIncludesTheOther) {
  plant("cuda/ops/copy.cu", "#include \"gradus/cpu/copy.h\"\n");
  EXPECT_EQ(found(), "cuda/ops/copy.cu:1: cuda/ includes cpu/copy.h, which is not below it\n");
}

TEST_F(Planted, AnInternalHeaderOfABackend) {
  plant("autograd/engine/engine.cpp",
        "#include \"gradus/cpu/map.h\"\n#include \"gradus/cuda/runtime/launch.h\"\n");
  EXPECT_EQ(found(),
            "autograd/engine/engine.cpp:1: autograd/ includes cpu/map.h, which is not below it\n"
            "autograd/engine/engine.cpp:2: autograd/ includes cuda/runtime/launch.h, which is not "
            "below it\n");
}

TEST_F(Planted, TensorMayNotEvenIncludeThePublicHeadersOfCuda) {
  plant("tensor/to.cpp", "#include \"gradus/cuda/runtime/stream.h\"\n");
  EXPECT_EQ(found(),
            "tensor/to.cpp:1: tensor/ includes cuda/runtime/stream.h, which is not below it\n");
}

TEST_F(Planted, NnMayNotIncludeItsParallelRoom) {
  plant("nn/module.cpp", "#include \"gradus/nn/parallel/replicas.h\"\n");
  EXPECT_EQ(found(),
            "nn/module.cpp:1: nn/ includes nn/parallel/replicas.h, which is not below it\n");
}

TEST_F(Planted, TheUmbrellaIsNotBelowTheLibrary) {
  plant("data/loader.cpp", "#include \"gradus/gradus.h\"\n");
  EXPECT_EQ(found(), "data/loader.cpp:1: data/ includes gradus.h, which is not below it\n");
}

TEST_F(Planted, ARelativeInclude) {
  plant("nn/init.cpp", "#include \"../cpu/map.h\"\n");
  EXPECT_EQ(found(),
            "nn/init.cpp:1: includes \"../cpu/map.h\"; write it as \"gradus/FOLDER/...\"\n");
}

TEST_F(Planted, ACudaHeaderInAPublicHeader) {
  plant("cuda/runtime/event.h", "#include <cuda_runtime_api.h>\n");
  plant("nn/modules/loss.h", "#include <cublas_v2.h>\n");
  plant("data/loader.h", "#include <cuda/std/atomic>\n");
  EXPECT_EQ(found(),
            "cuda/runtime/event.h:1: is a public header and includes <cuda_runtime_api.h>\n"
            "data/loader.h:1: is a public header and includes <cuda/std/atomic>\n"
            "nn/modules/loss.h:1: is a public header and includes <cublas_v2.h>\n");
}

TEST_F(Planted, APublicHeaderIncludesAnInternalOneOfCuda) {
  plant("gradus.h", "#include \"gradus/cuda/runtime/launch.h\"\n");
  plant("cuda/runtime/event.h", "#include \"gradus/cuda/runtime/launch.h\"\n");
  EXPECT_EQ(found(),
            "cuda/runtime/event.h:1: is a public header and includes cuda/runtime/launch.h, which "
            "is not\n"
            "gradus.h:1: is a public header and includes cuda/runtime/launch.h, which is not\n");
}

TEST_F(Planted, APublicHeaderIncludesAPrivateOneOfDistributed) {
  plant("distributed/nccl/group.h", "#include <nccl.h>\n");
  plant("distributed/nccl/group.cpp", "#include \"gradus/distributed/nccl/group.h\"\n");
  EXPECT_EQ(found(), "");
  plant("distributed/init.h", "#include \"gradus/distributed/nccl/group.h\"\n");
  EXPECT_EQ(found(),
            "distributed/init.h:1: is a public header and includes distributed/nccl/group.h, which "
            "is not\n");
}

TEST_F(Planted, ALongFile) {
  std::string line = "// one\n", text;
  for (int i = 0; i < 500; ++i) text += line;
  plant("tests/cpu/long_test.cpp", text);
  EXPECT_EQ(found(), "");
  plant("tests/cpu/long_test.cpp", text + line);
  EXPECT_EQ(found(),
            "tests/cpu/long_test.cpp:501: has 501 lines, more than 500; give a part of it a file "
            "of its own\n");
}

TEST_F(Planted, AFolderWithoutAPlace) {
  plant("misc/helpers.h", "#pragma once\n");
  EXPECT_EQ(
      found(),
      "misc/helpers.h:1: folder misc has no place in tests/project/layering/layering.cpp; give it "
      "one\n");
}

}  // namespace
