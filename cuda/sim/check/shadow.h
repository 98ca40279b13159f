// The last access to a word of memory, in 64 bits: which thread made it, and whether another one is
// concurrent.
//
// Time is counted in intervals. A block takes a new number at its start and at each barrier; a
// thread takes one for itself at each fence. Two accesses are ordered if one thread made both, or
// if one of these lies between them:
//   - a barrier of their block: the interval of the first is older than the block's last barrier
//   - a __syncwarp of their warp: their epochs differ
//   - the end of a launch
//   - what order.h describes
// All others are concurrent.
#pragma once

#include <atomic>
#include <cstdint>

namespace gradus::cuda::sim {

class Record {
 public:
  static constexpr int kIntervalBits = 28;

  Record() = default;
  explicit Record(uint64_t bits) : bits_(bits) {}
  Record(uint32_t interval, unsigned thread, uint8_t epoch, unsigned place, unsigned bytes)
      : bits_(uint64_t{interval} << 36 | uint64_t{thread} << 26 | uint64_t{epoch} << 18 |
              uint64_t{place} << 4 | bytes) {}

  uint32_t interval() const { return static_cast<uint32_t>(bits_ >> 36); }
  unsigned thread() const { return bits_ >> 26 & 1023; }
  uint8_t epoch() const { return static_cast<uint8_t>(bits_ >> 18); }
  unsigned place() const { return bits_ >> 4 & 16383; }  // a number that place_of() gave
  unsigned bytes() const { return bits_ & 15; }          // a bit for each byte of the word
  uint64_t bits() const { return bits_; }
  // Whether both are of one thread, and nothing in between orders its accesses against others.
  bool same_moment(Record other) const { return bits_ >> 18 == other.bits_ >> 18; }
  bool covers(Record other) const { return (other.bytes() & ~bytes()) == 0; }
  Record at(unsigned place) const { return Record(bits_ | uint64_t{place} << 4); }
  Record with_bytes_of(Record other) const { return Record(bits_ | other.bytes()); }

 private:
  uint64_t bits_ = 0;
};

// The last access of each kind to a word. There are two plain reads, by different threads if there
// were any, so that the next writer finds a read that is not its own. Where different threads write
// different bytes of one word, only the last write is kept.
struct Cell {
  std::atomic<uint64_t> write, atomic, read, other_read;
};

// Gives program counters small numbers, and returns them. 0 stands for all beyond the largest
// number.
unsigned place_of(uintptr_t pc);
uintptr_t pc_of(unsigned place);

}  // namespace gradus::cuda::sim
