// The rules of layering.h hold for the tree, and a breach of each is found where it is planted.
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
    plant_whole("build/x.h", "#include \"anything.h\"\n");
    plant_whole("bench/run.py", "#!/usr/bin/env python3\n\"\"\"Runs.\"\"\"\n");
    plant_whole("scripts/test", "#!/bin/sh\n# Tests.\n");
    plant_whole("scripts/notes", "no script\n");
  }
  ~Planted() override { fs::remove_all(root_); }

  // Below a first line that says what the file holds.
  void plant(const std::string& path, const std::string& text) {
    plant_whole(path, "// A planted file.\n" + text);
  }
  void plant_whole(const std::string& path, const std::string& text) {
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
            "tensor/raw.cpp:3: tensor/ includes autograd/engine/node.h, which is not below it\n");
}

TEST_F(Planted, ASibling) {
  plant("optim/adam.cpp", "#  include   \"gradus/nn/module.h\"\n");
  EXPECT_EQ(found(), "optim/adam.cpp:2: optim/ includes nn/module.h, which is not below it\n");
}

TEST_F(Planted, SerializeStandsAboveWhatItSavesAndBelowTheRest) {
  plant("nn/modules/linear.h", "#include \"gradus/serialize/archive.h\"\n");
  plant("data/samplers/base.h", "#include \"gradus/serialize/archive.h\"\n");
  plant("serialize/samplers.cpp", "#include \"gradus/data/samplers/samplers.h\"\n");
  plant("serialize/archive.cpp", "#include \"gradus/nn/parallel/replicas.h\"\n");
  EXPECT_EQ(
      found(),
      "data/samplers/base.h:2: data/ includes serialize/archive.h, which is not below it\n"
      "nn/modules/linear.h:2: nn/ includes serialize/archive.h, which is not below it\n"
      "serialize/archive.cpp:2: serialize/ includes nn/parallel/replicas.h, which is not below "
      "it\n");
}

TEST_F(Planted, ABackendIncludesTheOther) {
  plant("cuda/ops/copy.cu", "#include \"gradus/cpu/copy.h\"\n");
  EXPECT_EQ(found(), "cuda/ops/copy.cu:2: cuda/ includes cpu/copy.h, which is not below it\n");
}

TEST_F(Planted, AnInternalHeaderOfABackend) {
  plant("autograd/engine/engine.cpp",
        "#include \"gradus/cpu/map.h\"\n#include \"gradus/cuda/runtime/launch.h\"\n");
  EXPECT_EQ(found(),
            "autograd/engine/engine.cpp:2: autograd/ includes cpu/map.h, which is not below it\n"
            "autograd/engine/engine.cpp:3: autograd/ includes cuda/runtime/launch.h, which is not "
            "below it\n");
}

TEST_F(Planted, TensorMayNotEvenIncludeThePublicHeadersOfCuda) {
  plant("tensor/to.cpp", "#include \"gradus/cuda/runtime/stream.h\"\n");
  EXPECT_EQ(found(),
            "tensor/to.cpp:2: tensor/ includes cuda/runtime/stream.h, which is not below it\n");
}

TEST_F(Planted, NnMayNotIncludeItsParallelRoom) {
  plant("nn/module.cpp", "#include \"gradus/nn/parallel/replicas.h\"\n");
  EXPECT_EQ(found(),
            "nn/module.cpp:2: nn/ includes nn/parallel/replicas.h, which is not below it\n");
}

TEST_F(Planted, TheUmbrellaIsNotBelowTheLibrary) {
  plant("data/loader.cpp", "#include \"gradus/gradus.h\"\n");
  EXPECT_EQ(found(), "data/loader.cpp:2: data/ includes gradus.h, which is not below it\n");
}

TEST_F(Planted, ARelativeInclude) {
  plant("nn/init.cpp", "#include \"../cpu/map.h\"\n");
  EXPECT_EQ(found(),
            "nn/init.cpp:2: includes \"../cpu/map.h\"; write it as \"gradus/FOLDER/...\"\n");
}

TEST_F(Planted, ACudaHeaderInAPublicHeader) {
  plant("cuda/runtime/event.h", "#include <cuda_runtime_api.h>\n");
  plant("nn/modules/loss.h", "#include <cublas_v2.h>\n");
  plant("data/loader.h", "#include <cuda/std/atomic>\n");
  plant("nn/internal.h", "#include <cublas_v2.h>\n");
  plant("nn/nn.h", "#include \"gradus/nn/modules/loss.h\"\n");
  plant("gradus.h", "#include \"gradus/data/loader.h\"\n#include \"gradus/nn/nn.h\"\n");
  EXPECT_EQ(found(),
            "cuda/runtime/event.h:2: is a public header and includes <cuda_runtime_api.h>\n"
            "data/loader.h:2: is a public header and includes <cuda/std/atomic>\n"
            "nn/modules/loss.h:2: is a public header and includes <cublas_v2.h>\n");
}

TEST_F(Planted, APublicHeaderIncludesAnInternalOneOfCuda) {
  plant("gradus.h", "#include \"gradus/cuda/runtime/launch.h\"\n");
  plant("cuda/runtime/event.h", "#include \"gradus/cuda/runtime/launch.h\"\n");
  EXPECT_EQ(found(),
            "cuda/runtime/event.h:2: is a public header and includes cuda/runtime/launch.h, which "
            "is not\n"
            "gradus.h:2: is a public header and includes cuda/runtime/launch.h, which is not\n");
}

TEST_F(Planted, APublicHeaderIncludesAnInternalOne) {
  plant("distributed/nccl/group.h", "#include <nccl.h>\n");
  plant("distributed/nccl/group.cpp", "#include \"gradus/distributed/nccl/group.h\"\n");
  EXPECT_EQ(found(), "");
  plant("distributed/init.h", "#include \"gradus/distributed/nccl/group.h\"\n");
  plant("gradus.h", "#include \"gradus/distributed/init.h\"\n");
  EXPECT_EQ(found(),
            "distributed/init.h:2: distributed/ includes distributed/nccl/group.h, which is not "
            "below it\n"
            "distributed/init.h:2: is a public header and includes distributed/nccl/group.h, which "
            "is internal\n");
}

TEST_F(Planted, ALongFile) {
  std::string line = "// one\n", text;
  for (int i = 0; i < 499; ++i) text += line;
  plant("tests/cpu/long_test.cpp", text);
  EXPECT_EQ(found(), "");
  plant("tests/cpu/long_test.cpp", text + line);
  EXPECT_EQ(found(),
            "tests/cpu/long_test.cpp:501: has 501 lines, more than 500; give a part of it a file "
            "of its own\n");
}

TEST_F(Planted, AnArrowThatPointsUpWithinAFolder) {
  plant("tensor/base/dtype.h", "#include \"gradus/tensor/table/ops.h\"\n");
  plant("tensor/table/ops.h", "#include \"gradus/tensor/math/exp.h\"\n");
  plant("tensor/math/exp.h", "#include \"gradus/tensor/tensor.h\"\n");
  plant("tensor/shape.h", "#include \"gradus/tensor/raw/raw.h\"\n");
  plant("tensor/shape.cpp", "#include \"gradus/tensor/raw/raw.h\"\n");  // sources may
  EXPECT_EQ(found(),
            "tensor/base/dtype.h:2: tensor/base/ includes tensor/table/ops.h, which is not below "
            "it\n"
            "tensor/math/exp.h:2: tensor/math/ includes tensor/tensor.h, which is not below it\n"
            "tensor/shape.h:2: tensor/ includes tensor/raw/raw.h, which is not below it\n"
            "tensor/table/ops.h:2: tensor/table/ includes tensor/math/exp.h, which is not below "
            "it\n");
}

TEST_F(Planted, ACircleOfRooms) {
  plant("tensor/level.h", "");
  plant("tensor/raw/view.cpp",
        "#include \"gradus/tensor/level.h\"\n#include \"gradus/tensor/batching/storage.h\"\n");
  plant("tensor/batching/storage.h", "#include \"gradus/tensor/raw/raw.h\"\n");
  plant("data/readers/csv.cpp", "#include \"gradus/data/datasets/tensor.h\"\n");
  plant("data/datasets/image_folder.h", "#include \"gradus/data/readers/image.h\"\n");
  plant("data/data.h", "#include \"gradus/data/datasets/image_folder.h\"\n");  // may
  plant("nn/utils/rnn.cpp", "#include \"gradus/nn/modules/rnn.h\"\n");
  plant("nn/modules/rnn.h", "#include \"gradus/nn/utils/rnn.h\"\n");
  plant("nn/update_bn.h", "#include \"gradus/nn/modules/batchnorm.h\"\n");
  plant("nn/update_bn.cpp", "#include \"gradus/nn/modules/batchnorm.h\"\n");  // sources may
  plant("optim/grad_scaler.cpp", "#include \"gradus/optim/schedulers/step_lr.h\"\n");
  EXPECT_EQ(
      found(),
      "data/readers/csv.cpp:2: data/readers/ includes data/datasets/tensor.h, which is not "
      "below it\n"
      "nn/update_bn.h:2: nn/ includes nn/modules/batchnorm.h, which is not below it\n"
      "nn/utils/rnn.cpp:2: nn/utils/ includes nn/modules/rnn.h, which is not below it\n"
      "optim/grad_scaler.cpp:2: optim/ includes optim/schedulers/step_lr.h, which is not below "
      "it\n"
      "tensor/raw/view.cpp:3: tensor/raw/ includes tensor/batching/storage.h, which is not "
      "below it\n");
}

TEST_F(Planted, TheEngineIncludesWhatStandsOnIt) {
  plant("autograd/engine/engine.cpp",
        "#include \"gradus/autograd/functions.h\"\n"
        "#include \"gradus/autograd/ops/reduce.h\"\n"
        "#include \"gradus/autograd/tools/checkpoint.h\"\n");
  EXPECT_EQ(found(),
            "autograd/engine/engine.cpp:3: autograd/engine/ includes autograd/ops/reduce.h, which "
            "is not below it\n"
            "autograd/engine/engine.cpp:4: autograd/engine/ includes autograd/tools/checkpoint.h, "
            "which is not below it\n");
}

TEST_F(Planted, ARoomOfOperationsIncludesAnother) {
  plant("autograd/ops/index/sort.cpp",
        "#include \"gradus/autograd/ops/reduce.h\"\n"
        "#include \"gradus/autograd/ops/shape/slice.h\"\n");
  EXPECT_EQ(found(),
            "autograd/ops/index/sort.cpp:3: autograd/ops/index/ includes "
            "autograd/ops/shape/slice.h, which is not below it\n");
}

TEST_F(Planted, RoomsOfTheCpu) {
  plant("cpu/parallel.h", "#include \"gradus/cpu/simd/loops.h\"\n");
  plant("cpu/simd/loops.inc", "#include \"gradus/cpu/walk/walk.h\"\n");
  plant("cpu/walk/walk.h", "#include \"gradus/cpu/ops/map.h\"\n");
  plant("cpu/ops/reduce.cpp",
        "#include \"gradus/cpu/walk/walk.h\"\n#include \"gradus/cpu/matmul/pack.h\"\n");
  EXPECT_EQ(found(),
            "cpu/ops/reduce.cpp:3: cpu/ops/ includes cpu/matmul/pack.h, which is not below it\n"
            "cpu/parallel.h:2: cpu/ includes cpu/simd/loops.h, which is not below it\n"
            "cpu/simd/loops.inc:2: cpu/simd/ includes cpu/walk/walk.h, which is not below it\n"
            "cpu/walk/walk.h:2: cpu/walk/ includes cpu/ops/map.h, which is not below it\n");
}

TEST_F(Planted, RoomsOfCuda) {
  plant("cuda/kernels/index.cuh",
        "#include \"gradus/cuda/runtime/fault.h\"\n#include \"gradus/tensor/raw/strided.h\"\n"
        "#include \"gradus/cuda/runtime/launch.h\"\n");
  plant("cuda/runtime/allocator.cpp", "#include \"gradus/cuda/ops/fill.h\"\n");
  plant("cuda/backend.h", "#include \"gradus/cuda/ops/fill.h\"\n");
  plant("cuda/stub.cpp", "#include \"gradus/cuda/ops/fill.h\"\n");  // stands for all of cuda/
  EXPECT_EQ(found(),
            "cuda/backend.h:2: cuda/ includes cuda/ops/fill.h, which is not below it\n"
            "cuda/kernels/index.cuh:4: cuda/kernels/ includes cuda/runtime/launch.h, which is not "
            "below it\n"
            "cuda/runtime/allocator.cpp:2: cuda/runtime/ includes cuda/ops/fill.h, which is not "
            "below it\n");
}

TEST_F(Planted, TheSimulatorIncludesItselfAlone) {
  plant("cuda/sim/exec/worker.cpp",
        "#include <vector>\n#include \"gradus/cuda/sim/check/shadow.h\"\n"
        "#include \"gradus/cuda/runtime/stream.h\"\n#include \"gradus/tensor/tensor.h\"\n");
  plant("cuda/runtime/launch.cpp", "#include \"gradus/cuda/sim/simulator.h\"\n");
  EXPECT_EQ(
      found(),
      "cuda/runtime/launch.cpp:2: cuda/ includes cuda/sim/simulator.h, which is not below it\n"
      "cuda/sim/exec/worker.cpp:4: cuda/sim/ includes cuda/runtime/stream.h, which is not below "
      "it\n"
      "cuda/sim/exec/worker.cpp:5: cuda/sim/ includes tensor/tensor.h, which is not below it\n");
}

TEST_F(Planted, RoomsOfDistributed) {
  plant("distributed/job/watch.cpp", "#include \"gradus/distributed/net/socket.h\"\n");
  plant("distributed/net/server.h", "#include \"gradus/distributed/world.h\"\n");
  plant("distributed/init.cpp", "#include \"gradus/distributed/ddp/reducer.h\"\n");
  plant("distributed/ddp/reducer.cpp", "#include \"gradus/distributed/threads/room.h\"\n");
  plant("distributed/distributed.h", "#include \"gradus/distributed/ddp/reducer.h\"\n");  // may
  EXPECT_EQ(found(),
            "distributed/ddp/reducer.cpp:2: distributed/ddp/ includes distributed/threads/room.h, "
            "which is not below it\n"
            "distributed/init.cpp:2: distributed/ includes distributed/ddp/reducer.h, which is not "
            "below it\n"
            "distributed/job/watch.cpp:2: distributed/job/ includes distributed/net/socket.h, "
            "which is not below it\n"
            "distributed/net/server.h:2: distributed/net/ includes distributed/world.h, which is "
            "not below it\n");
}

TEST_F(Planted, AFullFolder) {
  for (int i = 0; i < 45; ++i) plant("data/many/" + std::to_string(i) + ".h", "");
  EXPECT_EQ(found(), "");
  plant("data/many/45.h", "");
  EXPECT_NE(found().find("its folder holds more than 45 files; give some of them a folder of "
                         "their own\n"),
            std::string::npos);
}

TEST_F(Planted, AFolderOfTheCourseWithAFileForEachTask) {
  for (int i = 0; i < 45; ++i) plant("course/runner/" + std::to_string(i) + ".h", "");
  for (int i = 1; i < 9; ++i) plant("course/runner/3." + std::to_string(i) + "_map.cpp", "");
  EXPECT_EQ(found(), "");
  plant("course/runner/45.h", "");
  EXPECT_NE(found().find("its folder holds more than 45 files"), std::string::npos);
}

TEST_F(Planted, TheCourseIncludesTheLibraryInItsPlugAlone) {
  plant("course/plug/backend.h", "#include \"gradus/tensor/backend.h\"\n#include \"core/cpu.h\"\n");
  plant("course/runner/observe_simulator.cpp", "#include \"gradus/cuda/sim/simulator.h\"\n");
  plant("course/runner/main.cpp", "#include \"gradus/cuda/sim/check/shadow.h\"\n");
  plant("course/core/types.h",
        "#include <cuda_runtime.h>\n#include \"gradus/tensor/base/error.h\"\n");
  plant("course/core/3_cuda/3.1_map.cu",
        "#include \"core/types.h\"\n#include \"runner/observe.h\"\n");
  plant("course/wrong/3.1/no_guard.cu",
        "#include \"core/types.h\"\n#include <gradus/cuda/sim/simulator.h>\n");
  EXPECT_EQ(found(),
            "course/core/3_cuda/3.1_map.cu:3: includes \"runner/observe.h\"; a solution includes "
            "headers of course/core alone\n"
            "course/core/types.h:3: course/core/ includes tensor/base/error.h of the library, and "
            "may not\n"
            "course/runner/main.cpp:2: course/runner/ includes cuda/sim/check/shadow.h of the "
            "library, and may not\n"
            "course/wrong/3.1/no_guard.cu:3: course/wrong/ includes cuda/sim/simulator.h of the "
            "library, and may not\n");
}

TEST_F(Planted, ALongFileOfTheCoursesFramework) {
  std::string text;
  for (int i = 0; i < 149; ++i) text += "// one\n";
  plant("course/core/1_cpu/1.1_map.cpp", text);
  plant("course/runner/1.1_map.cpp", text + text);
  EXPECT_EQ(found(), "");
  plant("course/core/1_cpu/1.1_map.cpp", text + "// one\n");
  EXPECT_EQ(found(),
            "course/core/1_cpu/1.1_map.cpp:151: has 151 lines, more than 150; give a part of it a "
            "file of its own\n");
}

TEST_F(Planted, AFirstLineThatDoesNotSayWhatTheFileHolds) {
  plant_whole("nn/init.h", "#pragma once\n");
  plant_whole("cpu/simd/loops.inc", "//\n// Loops.\n");
  plant_whole("bench/table.py", "#!/usr/bin/env python3\nimport re\n");
  plant_whole("tests/run.sh", "set -e\n");
  plant_whole("scripts/lint", "#!/bin/sh\nset -e\n");
  EXPECT_EQ(found(),
            "bench/table.py:2: opens without a comment; say in one line what the file holds\n"
            "cpu/simd/loops.inc:1: opens without a comment; say in one line what the file holds\n"
            "nn/init.h:1: opens without a comment; say in one line what the file holds\n"
            "scripts/lint:2: opens without a comment; say in one line what the file holds\n"
            "tests/run.sh:1: opens without a comment; say in one line what the file holds\n");
}

TEST_F(Planted, ALineThatNvccTakesForADirectiveOfModules) {
  plant("nn/module.h", "void apply(Module& module) {\n  module.eval();  // module\n}\n");
  plant("nn/module.cpp", "  module.eval();\n  modules.clear();\n");
  EXPECT_EQ(found(),
            "nn/module.h:3: begins with 'module', which nvcc takes for a directive of C++20's "
            "modules; break the line elsewhere\n");
}

TEST_F(Planted, AQuestionForTheDevice) {
  plant("tensor/raw/copy.cpp", "bool f(Tensor x) { return x.is_cuda(); }\n");
  EXPECT_EQ(found(), "");
  plant("tensor/raw/matmul.cpp", "bool f(Tensor x) { return x.is_cuda(); }\n");
  EXPECT_EQ(found(),
            "tensor/raw/matmul.cpp:2: asks which device a tensor is on; give the row of "
            "tensor/table/backend.def a column\n");
}

TEST_F(Planted, AFolderWithoutAPlace) {
  plant("misc/helpers.h", "#pragma once\n");
  EXPECT_EQ(
      found(),
      "misc/helpers.h:1: folder misc has no place in tests/project/layering/layering.cpp; give it "
      "one\n");
}

}  // namespace
