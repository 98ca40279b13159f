// Every reader with files that are cut off at every byte or changed: it refuses them with a
// message, or reads them whole.
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "gradus/gradus.h"
#include "tests/data/broken_files.h"
#include "tests/project/fuzz/readers.h"

namespace gradus::data {
namespace {

using readers::Reader;

std::vector<std::string> files_of(const Reader& reader) {
  std::vector<std::string> out;
  const std::string folder = std::string(GRADUS_SOURCE_DIR) + "/tests/data/files";
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == reader.suffix) out.push_back(entry.path().filename());
  EXPECT_FALSE(out.empty()) << reader.name;
  return out;
}

// False where the build lacks the library of a picture.
bool is_built(const Reader& reader, const Bytes& file) {
  try {
    reader.read(file);
  } catch (const NotImplementedError& error) {
    EXPECT_TRUE(contains(error.what(), "this build has no lib"));
    return false;
  }
  return true;
}

// What the user called, then the file.
TEST(Readers, NameThemselvesWhereThereIsNoFile) {
  const TemporaryFolder folder;
  const std::string missing = folder / "none", place = folder.path();
  struct Call {
    const char* name;
    std::function<void(const std::string& path)> read;
    bool takes_folders = false;
  };
  Tensor x;
  Tensors several;
  nn::Linear model(1, 1);
  optim::SGD optimizer(model->parameters(), 0.1);
  const std::vector<Call> calls = {
      {"load", [&](const std::string& path) { load(x, path); }},
      {"load", [&](const std::string& path) { load(several, path); }},
      {"load", [&](const std::string& path) { load(model, path); }},
      {"load", [&](const std::string& path) { load(optimizer, path); }},
      {"InputArchive::load_from",
       [](const std::string& path) { serialize::InputArchive().load_from(path); }},
      {"load_file", [](const std::string& path) { serialize::load_file(path); }},
      {"load_file", [](const std::string& path) { serialize::load_file(path, kCPU, true); }},
      {"load_pt", [](const std::string& path) { serialize::load_pt(path); }},
      {"load_checkpoint",
       [&](const std::string& path) { serialize::load_checkpoint(path, *model, optimizer); }},
      {"read_idx", [](const std::string& path) { read_idx(path); }},
      {"read_csv", [](const std::string& path) { read_csv(path); }},
      {"load_npy", [](const std::string& path) { load_npy(path); }},
      {"load_npz", [](const std::string& path) { load_npz(path); }},
      {"read_image", [](const std::string& path) { read_image(path); }},
      {"read_text", [](const std::string& path) { read_text(path); }, true},
      {"load_idx_folder", [](const std::string& path) { load_idx_folder(path); }, true},
      {"MNIST", [](const std::string& path) { datasets::MNIST{path}; }, true},
      {"load_cifar10", [](const std::string& path) { load_cifar10(path); }, true},
      {"load_cifar100", [](const std::string& path) { load_cifar100(path); }, true},
      {"ImageFolder", [](const std::string& path) { ImageFolder{path}; }, true},
  };
  for (const Call& call : calls)
    for (const std::string& path : {missing, place}) {
      SCOPED_TRACE(path);
      const std::string said = message_of<Error>([&] { call.read(path); });
      const std::string begin = std::string(call.name) + ": " + path;
      EXPECT_EQ(said.substr(0, begin.size()), begin) << said;
      const bool is_refused = path == place && !call.takes_folders;
      EXPECT_TRUE(!is_refused || contains(said, "not a regular file; give the path of one"));
    }
}

TEST(Readers, RefuseOrReadWholeWhatIsCutOffOrChanged) {
  for (const Reader& reader : readers::kReaders)
    for (const std::string& name : files_of(reader)) {
      SCOPED_TRACE(name);
      const Bytes file = file_bytes(name);
      if (!is_built(reader, file)) continue;
      if (reader.reads_beginnings)
        expect_beginnings_survived(file, reader.read);
      else
        expect_truncations_refused(file, reader.read);
      expect_changes_survived(file, reader.read);
    }
}

}  // namespace
}  // namespace gradus::data
