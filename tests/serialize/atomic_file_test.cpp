// A file appears whole or not at all, whatever call fails.
#include "gradus/serialize/atomic_file.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <iterator>

#include "gradus/serialize/safetensors.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"

namespace gradus {
namespace {

namespace fs = std::filesystem;
using serialize::AtomicFile, serialize::FileCalls;

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void put(const std::string& path, const std::string& text) { std::ofstream(path) << text; }
void write(const std::string& path, const std::string& text,
           const FileCalls& calls = FileCalls::system) {
  AtomicFile file("test", path, calls);
  file.write(text.data(), text.size());
  file.commit();
}
size_t files_in(const std::string& folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder), {}));
}

TEST(AtomicFile, AppearsWhenItIsComplete) {
  const TemporaryFolder folder;
  const std::string path = folder / "x";
  put(path, "older");
  AtomicFile file("test", path);
  file.write("new", 3);
  EXPECT_EQ(read(path), "older");
  file.write("er", 2);
  file.commit();
  EXPECT_EQ(read(path), "newer");
  EXPECT_EQ(files_in(folder.path()), 1u);
}

TEST(AtomicFile, WithoutCommitNothingHappened) {
  const TemporaryFolder folder;
  { AtomicFile("test", folder / "x").write("new", 3); }
  EXPECT_EQ(files_in(folder.path()), 0u);
}

TEST(AtomicFile, InTheCurrentFolder) {
  const TemporaryFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  write("x", "text");
  fs::current_path(before);
  EXPECT_EQ(read(folder / "x"), "text");
}

TEST(AtomicFile, PermissionsAreThoseOfTheOlderFileOrOfTheProgram) {
  const TemporaryFolder folder;
  struct stat status;
  const mode_t mask = umask(027);
  write(folder / "new", "text");
  umask(mask);
  ASSERT_EQ(stat((folder / "new").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640u);
  ASSERT_EQ(chmod((folder / "new").c_str(), 0606), 0);
  write(folder / "new", "text");
  ASSERT_EQ(stat((folder / "new").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0606u);
}

TEST(AtomicFile, ASymbolicLinkStays) {
  const TemporaryFolder folder;
  put(folder / "real", "older");
  fs::create_symlink("real", folder / "link");
  write(folder / "link", "newer");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(read(folder / "real"), "newer");
  fs::create_symlink("nowhere", folder / "broken");
  expect_error<Error>([&] { write(folder / "broken", "x"); }, "/broken cannot be written: it is a");
}

TEST(AtomicFile, NamesOfAnyLength) {
  const TemporaryFolder folder;
  write(folder / std::string(255, 'n'), "text");
  EXPECT_EQ(read(folder / std::string(255, 'n')), "text");
  expect_error<Error>([&] { write(folder / std::string(256, 'n'), "text"); }, "File name too long");
  EXPECT_EQ(files_in(folder.path()), 1u);
}

TEST(AtomicFile, WhereNoFileCanBe) {
  const TemporaryFolder folder;
  expect_error<Error>(
      [&] { write(folder / "none/x", "text"); },
      "/none/x cannot be written: No such file or directory; make the folder first");
  put(folder / "file", "");
  expect_error<Error>([&] { write(folder / "file/x", "text"); }, "Not a directory");
  expect_error<Error>([&] { write(folder.path(), "text"); }, "not a regular file");
  expect_error<Error>([&] { write("/dev/full", "text"); },
                      "/dev/full cannot be written: it is there already, and not a regular file");
  expect_error<Error>([&] { write("", "text"); }, "No such file or directory");
  EXPECT_EQ(files_in(folder.path()), 1u);
  if (geteuid() != 0) {
    ASSERT_EQ(chmod(folder.path().c_str(), 0500), 0);
    expect_error<Error>([&] { write(folder / "x", "text"); }, "Permission denied");
    ASSERT_EQ(chmod(folder.path().c_str(), 0700), 0);
  }
}

// The system calls for a file. Call number `failing` fails.
int calls_made, failing;
bool fails() {
  errno = EIO;
  return ++calls_made == failing;
}
const FileCalls kFailing = {
    [](const char* path, int flags, mode_t mode) {
      return fails() ? -1 : FileCalls::system.open(path, flags, mode);
    },
    [](int descriptor, const void* bytes, size_t count) {
      return fails() ? -1 : FileCalls::system.write(descriptor, bytes, count);
    },
    [](int descriptor) { return fails() ? -1 : FileCalls::system.fsync(descriptor); },
    [](int descriptor) {
      const int status = FileCalls::system.close(descriptor);
      return fails() ? -1 : status;
    },
    [](const char* from, const char* to) {
      return fails() ? -1 : FileCalls::system.rename(from, to);
    }};

TEST(AtomicFile, AnyCallFails) {
  const TemporaryFolder folder;
  const std::string path = folder / "x";
  // open, write, fsync, close, rename; open, fsync and close of the folder
  for (failing = 1; failing <= 8; ++failing) {
    SCOPED_TRACE(failing);
    put(path, "older");
    calls_made = 0;
    const bool replaced = failing > 5;
    if (failing == 8) {
      write(path, "newer", kFailing);
    } else {
      expect_error<Error>([&] { write(path, "newer", kFailing); }, "Input/output error");
    }
    EXPECT_GE(calls_made, failing);
    EXPECT_EQ(read(path), replaced ? "newer" : "older");
    EXPECT_EQ(files_in(folder.path()), 1u);
  }
  failing = 6;
  calls_made = 0;
  expect_error<Error>([&] { write(path, "newer", kFailing); }, "was replaced, but its folder");
  failing = 0;
  calls_made = 0;
  write(path, "last", kFailing);
  EXPECT_EQ(calls_made, 8);
}

TEST(AtomicFile, WritesThatAreShortOrInterrupted) {
  const TemporaryFolder folder;
  FileCalls calls = FileCalls::system;
  calls.write = [](int descriptor, const void* bytes, size_t count) -> ssize_t {
    static bool interrupted = false;
    interrupted = !interrupted;
    errno = EINTR;
    return interrupted ? -1 : FileCalls::system.write(descriptor, bytes, (count + 1) / 2);
  };
  write(folder / "x", "a long text", calls);
  EXPECT_EQ(read(folder / "x"), "a long text");
  calls.write = [](int, const void*, size_t) -> ssize_t { return 0; };
  expect_error<Error>([&] { write(folder / "y", "text", calls); },
                      "No space left on device; free space there");
  EXPECT_EQ(files_in(folder.path()), 1u);
}

TEST(AtomicFile, AFolderThatCannotBeSyncedAtAllIsTaken) {
  const TemporaryFolder folder;
  FileCalls calls = FileCalls::system;
  calls.fsync = [](int descriptor) {
    struct stat status;
    fstat(descriptor, &status);
    errno = EINVAL;
    return S_ISDIR(status.st_mode) ? -1 : 0;
  };
  write(folder / "x", "text", calls);
  EXPECT_EQ(read(folder / "x"), "text");
}

// A file that cannot grow, as on a full disk.
TEST(AtomicFile, AFileBeyondTheLimit) {
  const TemporaryFolder folder;
  const std::string path = folder / "x.safetensors";
  serialize::NamedTensors tensors;
  tensors.insert("x", ones({10}));
  serialize::save_file(tensors, path);
  const std::string older = read(path);

  tensors.insert("large", ones({1 << 20}));
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small = {1 << 20, before.rlim_max};
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  expect_error<Error>([&] { serialize::save_file(tensors, path); },
                      "x.safetensors cannot be written: File too large; raise the limit");
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, handler);
  EXPECT_EQ(read(path), older);
  EXPECT_EQ(files_in(folder.path()), 1u);
}

}  // namespace
}  // namespace gradus
