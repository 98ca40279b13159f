// Memory that a thread freed and takes again.
#include "gradus/tensor/base/recycled.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

namespace gradus::test {
namespace {

struct Object {
  void* members[5];
};
using Allocator = Recycled<Object>;

TEST(Recycled, GivesWhatThisThreadFreedLast) {
  if (kSanitized) GTEST_SKIP() << "sanitizers see all memory freed";
  Object* const one = Allocator().allocate(1);
  Object* const other = Allocator().allocate(1);
  EXPECT_NE(one, other);
  Allocator().deallocate(other, 1), Allocator().deallocate(one, 1);
  EXPECT_EQ(Allocator().allocate(1), one);
  EXPECT_EQ(Allocator().allocate(1), other);
  std::thread([&] {
    Allocator().deallocate(one, 1);
    EXPECT_EQ(Allocator().allocate(1), one);
    Allocator().deallocate(one, 1), Allocator().deallocate(other, 1);
  }).join();
}

TEST(Recycled, MoreThanAreKeptAreDistinctAndFreed) {
  for (int round = 0; round < 3; ++round) {
    std::vector<Object*> all;
    for (int i = 0; i < 200; ++i) all.push_back(Allocator().allocate(1));
    EXPECT_EQ(std::set<Object*>(all.begin(), all.end()).size(), all.size());
    for (Object* object : all) *object = {}, Allocator().deallocate(object, 1);
  }
  Object* const several = Allocator().allocate(3);
  several[2] = {};
  Allocator().deallocate(several, 3);
}

// An object of a thread that frees memory when the list of the thread is gone.
struct Late {
  Object* memory = nullptr;
  ~Late() {
    Allocator().deallocate(memory, 1);
    Allocator().deallocate(Allocator().allocate(1), 1);
  }
};
TEST(Recycled, MemoryMayBeFreedAfterTheListOfItsThread) {
  std::thread([] {
    static thread_local Late late;  // made before the list, and so destroyed after it
    late.memory = Allocator().allocate(1);
    Allocator().deallocate(Allocator().allocate(1), 1);
  }).join();
}

TEST(Recycled, SharedObjectsAreDestroyed) {
  struct Counted {
    explicit Counted(int* all) : count(all) { *count += 1; }
    ~Counted() { *count -= 1; }
    int* count;
  };
  int count = 0;
  std::vector<std::shared_ptr<Counted>> all;
  for (int i = 0; i < 100; ++i) all.push_back(make_recycled<Counted>(&count));
  EXPECT_EQ(count, 100);
  all.clear();
  EXPECT_EQ(count, 0);
}

}  // namespace
}  // namespace gradus::test
