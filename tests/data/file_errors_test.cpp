// Every function that reads or writes a file: its errors begin with its own name, and name the
// file.
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <functional>

#include "gradus/data/datasets/idx.h"
#include "gradus/gradus.h"
#include "tests/data/broken_files.h"

namespace gradus::data {
namespace {

namespace fs = std::filesystem;

class FileErrors : public testing::Test {
 protected:
  struct Reader {
    std::string name;
    std::function<void(const std::string& path)> read;
    std::function<void(const std::string& path)> write;  // a file that read() takes
    std::string file = "";  // of the folder that read() takes; empty where it takes a file
  };
  struct Writer {
    std::string name;
    std::function<void(const std::string& path)> write;
  };
  using Path = const std::string&;

  static void put(Path path, const Bytes& bytes) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  // Writes a copy of a file of tests/data/files.
  static std::function<void(Path)> copy_of(const std::string& name, bool zipped = false) {
    return [=](Path path) { put(path, zipped ? gzip(file_bytes(name)) : file_bytes(name)); };
  }
  static void put_idx(Path folder) {
    fs::create_directory(folder);
    put(folder + "/train-images-idx3-ubyte", make_idx({2, 1, 2}, {1, 2, 3, 4}));
    put(folder + "/train-labels-idx1-ubyte", make_idx({2}, {0, 1}));
  }
  static std::function<void(Path)> copy_in(const std::string& file, const std::string& name) {
    return [=](Path folder) {
      fs::create_directories(fs::path(folder + "/" + file).parent_path());
      put(folder + "/" + file, file_bytes(name));
    };
  }

  std::vector<Reader> readers() {
    using serialize::InputArchive;
    const auto save_tensor = [&](Path path) { save(x_, path); };
    const auto save_all = [&](Path path) { serialize::save_checkpoint(path, *model_, optimizer_); };
    return {
        {"load", [&](Path path) { load(x_, path); }, save_tensor},
        {"load", [&](Path path) { load(several_, path); }, save_tensor},
        {"load", [&](Path path) { load(several_, path); }, copy_of("linear.pt")},
        {"load", [&](Path path) { load(model_, path); }, [&](Path path) { save(model_, path); }},
        {"load", [&](Path path) { load(optimizer_, path); },
         [&](Path path) { save(optimizer_, path); }},
        {"InputArchive::load_from", [](Path path) { InputArchive().load_from(path); },
         copy_of("small.safetensors")},
        {"InputArchive::load_from", [](Path path) { InputArchive().load_from(path); },
         copy_of("checkpoint.pt")},
        {"load_file", [](Path path) { serialize::load_file(path); }, copy_of("small.safetensors")},
        {"load_file", [](Path path) { serialize::load_file(path, kCPU, true); },
         copy_of("small.safetensors")},
        {"load_pt", [](Path path) { serialize::load_pt(path); }, copy_of("checkpoint.pt")},
        {"load_checkpoint",
         [&](Path path) { serialize::load_checkpoint(path, *model_, optimizer_); }, save_all},
        {"load_checkpoint", [&](Path path) { serialize::load_checkpoint(path, *model_); },
         save_all},
        {"read_idx", [](Path path) { read_idx(path); }, copy_of("images.idx")},
        {"read_idx", [](Path path) { read_idx(path); }, copy_of("images.idx", true)},
        {"read_csv", [](Path path) { read_csv(path); }, copy_of("houses.csv", true)},
        {"load_npy", [](Path path) { load_npy(path); }, copy_of("big_endian.npy")},
        {"load_npz", [](Path path) { load_npz(path); }, copy_of("deflated.npz")},
        {"read_image", [](Path path) { read_image(path); }, copy_of("rgb.png")},
        {"read_image", [](Path path) { read_image(path); }, copy_of("rgb.jpg")},
        {"read_text", [](Path path) { read_text(path); }, copy_of("houses.csv", true)},
        {"read_text", [](Path path) { read_text(path); }, copy_in("a.gz", "plain.gz"), "a.gz"},
        {"load_idx_folder", [](Path path) { load_idx_folder(path); }, put_idx,
         "train-images-idx3-ubyte"},
        {"MNIST", [](Path path) { datasets::MNIST{path}; }, put_idx, "train-labels-idx1-ubyte"},
        {"load_cifar10", [](Path path) { load_cifar10(path, false); },
         copy_in("test_batch.bin", "one.cifar10"), "test_batch.bin"},
        {"load_cifar100", [](Path path) { load_cifar100(path, false); },
         copy_in("test.bin", "one.cifar100"), "test.bin"},
        {"ImageFolder", [](Path path) { ImageFolder{path}.get(0); },
         copy_in("cats/a.png", "rgb.png"), "cats/a.png"},
    };
  }

  std::vector<Writer> writers() {
    using serialize::NamedTensors, serialize::OutputArchive;
    NamedTensors named;
    named.insert("x", x_);
    return {
        {"save", [&](Path path) { save(x_, path); }},
        {"save", [&](Path path) { save(several_, path); }},
        {"save", [&](Path path) { save(model_, path); }},
        {"save", [&](Path path) { save(optimizer_, path); }},
        {"OutputArchive::save_to",
         [&](Path path) {
           OutputArchive archive;
           archive.write("x", x_);
           archive.save_to(path);
         }},
        {"save_file", [=](Path path) { serialize::save_file(named, path); }},
        {"save_checkpoint",
         [&](Path path) { serialize::save_checkpoint(path, *model_, optimizer_); }},
        {"save_checkpoint", [&](Path path) { serialize::save_checkpoint(path, *model_); }},
        {"save_image",
         [](Path path) {
           watch::save_image(rand({3, 4, 4}), path);
         }},
        {"save_svg", [](Path path) { watch::save_svg("<svg/>", path); }},
        {"CSVLogger",
         [](Path path) {
           watch::CSVLogger(path).log({{"epoch", 1}});
         }},
        {"SummaryWriter", [](Path path) { watch::SummaryWriter(path).add_scalar("x", 1.0, 1); }},
        {"export_chrome_trace", [&](Path path) { profile_.export_chrome_trace(path); }},
        {"export_memory_timeline",
         [&](Path path) { profile_.export_memory_timeline(path + ".svg"); }},
        {"export_memory_timeline",
         [&](Path path) { profile_.export_memory_timeline(path + ".json"); }},
    };
  }

  FileErrors() : profile_({.profile_memory = true}) {
    x_.exp();
    profile_.stop();
  }

  // The message of a call begins with the function's name, and names the file.
  template <class F>
  static std::string refused(const std::string& name, Path path, const F& call) {
    std::string said = message_of<Error>(call);
    EXPECT_TRUE(said.starts_with(name + ": ")) << said;
    EXPECT_TRUE(contains(said, path));
    return said;
  }

  const TemporaryFolder folder_;
  Tensor x_ = rand({3});
  Tensors several_ = {x_, x_};
  nn::Linear model_{2, 1};
  optim::SGD optimizer_{model_->parameters(), optim::SGDOptions(0.1).momentum(0.9)};
  profiler::profile profile_;
};

TEST_F(FileErrors, OfReadersWhereThereIsNoFile) {
  const std::string missing = folder_ / "none", place = folder_.path();
  for (const Reader& reader : readers()) {
    const bool takes_folders = !reader.file.empty() || reader.name == "read_text";
    for (const std::string& path : {missing, place}) {
      const std::string said = refused(reader.name, path, [&] { reader.read(path); });
      EXPECT_TRUE(said.starts_with(reader.name + ": " + path)) << said;
      EXPECT_TRUE(path == missing || takes_folders ||
                  contains(said, "not a regular file; give the path of one"));
    }
  }
}

TEST_F(FileErrors, OfReadersWhereTheFileIsCutOff) {
  int number = 0;
  for (const Reader& reader : readers()) {
    const std::string path = folder_ / std::to_string(++number);
    const std::string file = reader.file.empty() ? path : path + "/" + reader.file;
    reader.write(path);
    try {
      reader.read(path);
    } catch (const NotImplementedError& error) {
      EXPECT_TRUE(contains(error.what(), "this build has no lib"));
      continue;
    }
    for (const uintmax_t part : {2, 1}) {
      fs::resize_file(file, fs::file_size(file) * part / 3);
      const std::string said = refused(reader.name, file, [&] { reader.read(path); });
      EXPECT_TRUE(said.starts_with(reader.name + ": " + file)) << said;
    }
  }
}

TEST_F(FileErrors, OfWritersWhereNoFileCanBe) {
  put(folder_ / "file", {1});
  const std::string folders[] = {folder_ / "none", folder_ / "file"};
  int number = 0;
  for (const Writer& writer : writers()) {
    for (const std::string& folder : folders) {
      SCOPED_TRACE(writer.name + " in " + folder);
      const std::string path = folder + "/" + std::to_string(++number);
      try {
        writer.write(path);
        EXPECT_NE(folder, folders[1]);
        EXPECT_TRUE(fs::is_directory(folder));
        fs::remove_all(folder);
      } catch (const Error&) {
        refused(writer.name, folder, [&] { writer.write(path); });
      }
    }
    if (writer.name == "SummaryWriter") continue;  // takes a folder
    const std::string place = folder_ / std::to_string(++number);
    for (const char* ending : {"", ".svg", ".json"}) fs::create_directory(place + ending);
    refused(writer.name, place, [&] { writer.write(place); });
  }
}

// As on a full disk.
TEST_F(FileErrors, OfWritersWhereThereIsNoRoom) {
  serialize::Checkpoints checkpoints(folder_ / "checkpoints", *model_, optimizer_);
  const std::vector<Writer> all = writers();
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit none = {0, before.rlim_max};
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &none), 0);
  std::vector<std::string> said;
  const auto refusal = [&](const auto& call) {
    try {
      call();
      said.emplace_back("nothing was thrown");
    } catch (const Error& error) {
      said.emplace_back(error.what());
    }
  };
  const auto path = [&](size_t i) { return folder_ / std::to_string(i); };
  for (size_t i = 0; i < all.size(); ++i) refusal([&] { all[i].write(path(i)); });
  refusal([&] { checkpoints.save(1); });
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, handler);

  for (size_t i = 0; i < all.size(); ++i)
    EXPECT_TRUE(said[i].starts_with(all[i].name + ": " + path(i))) << said[i];
  EXPECT_TRUE(said.back().starts_with("Checkpoints::save: " + checkpoints.latest())) << said.back();
}

TEST_F(FileErrors, OfCheckpoints) {
  serialize::Checkpoints checkpoints(folder_ / "checkpoints", *model_, optimizer_);
  checkpoints.save(1);
  fs::resize_file(checkpoints.latest(), 100);
  const std::string said =
      refused("Checkpoints::load", checkpoints.latest(), [&] { checkpoints.load(); });
  EXPECT_TRUE(contains(said, "truncated"));
  fs::remove_all(folder_ / "checkpoints");
  refused("Checkpoints::save", folder_ / "checkpoints", [&] { checkpoints.save(2); });
}

// A state within a checkpoint does not fit: its object refuses it, and the error names the function
// that reads the file.
TEST_F(FileErrors, OfStatesInCheckpoints) {
  // Changes the file's tensors one after another.
  const auto spoil = [&](const std::string& name, Path path, Path prefix, const auto& load) {
    const auto [tensors, metadata] = serialize::load_file(path);
    size_t spoiled = 0;
    for (const auto& item : tensors) {
      if (!item.key().starts_with(prefix)) continue;
      SCOPED_TRACE(item.key());
      serialize::NamedTensors wrong = tensors;
      wrong[item.key()] = rand({2, 3});
      serialize::save_file(wrong, path, metadata);
      const std::string said = refused(name, path, load);
      EXPECT_TRUE(said.starts_with(name + ": " + path)) << said;
      ++spoiled;
    }
    EXPECT_GT(spoiled, 0U);
    serialize::save_file(tensors, path, metadata);
    load();
  };
  const auto spoil_part = [&](const std::string& name, auto& object) {
    SCOPED_TRACE(name);
    serialize::Checkpoints checkpoints(folder_ / ("of" + name), *model_, optimizer_);
    checkpoints.add(name, object).save(1);
    spoil("Checkpoints::load", checkpoints.latest(), "state." + name + ".",
          [&] { checkpoints.load(); });
  };
  const auto spoil_loader = [&](const std::string& name, auto& loader) {
    SCOPED_TRACE(name);
    const std::string path = folder_ / name;
    serialize::save_checkpoint(path, *model_, optimizer_, loader);
    spoil("load_checkpoint", path, "loader.",
          [&] { serialize::load_checkpoint(path, *model_, optimizer_, loader); });
    spoil_part(name, loader);
    const std::string alone = folder_ / (name + "_alone");
    save(loader, alone);
    spoil("load", alone, "", [&] { load(loader, alone); });
  };

  samplers::SequentialSampler sequential(5);
  samplers::StreamSampler stream(5);
  samplers::RandomSampler random(5);
  samplers::WeightedRandomSampler weighted(rand({3}), 4);
  samplers::DistributedSequentialSampler distributed(6, 2, 1);
  samplers::DistributedRandomSampler shuffled(6, 2, 1);
  spoil_loader("sequential", sequential), spoil_loader("stream", stream);
  spoil_loader("random", random), spoil_loader("weighted", weighted);
  spoil_loader("distributed", distributed), spoil_loader("shuffled", shuffled);
  DataLoader loader(TensorPairDataset(rand({4, 2}), rand({4, 1})), DataLoaderOptions(2));
  spoil_loader("loader", loader);

  model_->forward(rand({1, 2})).sum().backward();
  optimizer_.step();
  optim::StepLR steps(optimizer_, 3, 0.5);
  optim::ReduceLROnPlateauScheduler plateau(optimizer_);
  optim::AveragedModel averages(model_);
  amp::GradScaler scaler;
  watch::EarlyStopping stopping;
  watch::History history;
  history.log({{"loss", 1}});
  spoil_part("optimizer", optimizer_), spoil_part("steps", steps), spoil_part("plateau", plateau);
  spoil_part("averages", averages), spoil_part("scaler", scaler), spoil_part("stopping", stopping);
  spoil_part("history", history);
  const std::string whole = folder_ / "whole";
  serialize::save_checkpoint(whole, *model_, optimizer_);
  for (const std::string part : {"model.", "optimizer.", "rng."})
    spoil("load_checkpoint", whole, part,
          [&] { serialize::load_checkpoint(whole, *model_, optimizer_); });
}

// What is read or written does not fit.
TEST_F(FileErrors, OfContents) {
  const std::string path = folder_ / "x", other = folder_ / "other";
  serialize::NamedTensors named;
  named.insert("\xff", x_);
  refused("save_file", path, [&] { serialize::save_file(named, path); });
  EXPECT_TRUE(message_of<Error>([&] { save(Tensor(), path); }).starts_with("save: tensor \"0\""));
  refused("save_image", "5 channels", [&] { watch::save_image(rand({5, 2, 2}), path); });
  refused("save_image", "nrow", [&] { watch::save_image(x_, path, {.nrow = 0}); });

  serialize::save_file({}, path);
  refused("load", path, [&] { load(x_, path); });
  refused("load", path, [&] { load(model_, path); });
  refused("load", path, [&] { load(optimizer_, path); });
  save(optim::SGD({rand({2})}, optim::SGDOptions(0.1)), other);
  refused("load", other, [&] { load(optimizer_, other); });
  refused("load_checkpoint", other, [&] { serialize::load_checkpoint(other, *model_); });
  optim::SGD stranger({rand({2})}, optim::SGDOptions(0.1));
  refused("save_checkpoint", "parameter 0",
          [&] { serialize::save_checkpoint(path, *model_, stranger); });
}

}  // namespace
}  // namespace gradus::data
