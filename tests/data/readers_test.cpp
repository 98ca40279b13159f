// Every reader with files that are cut off at every byte or changed: it refuses them with a
// message, or reads them whole.
#include <filesystem>
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
