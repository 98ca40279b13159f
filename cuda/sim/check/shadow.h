// Who touched a word of memory last, in 64 bits, and when that makes a race.
//
// Time is counted in intervals: each block takes a fresh number at its start and at each barrier,
// and a thread takes one for itself at each fence. Two accesses are ordered where one thread made
// both, where a barrier of their block lies between them (the interval is older than its last), or
// a
// __syncwarp of their warp (its epoch differs), or the end of a launch, or what order.h says. All
// others are concurrent.
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
  unsigned place() const { return bits_ >> 4 & 16383; }  // a number of places.h
  unsigned bytes() const { return bits_ & 15; }          // of the word, a bit for each
  uint64_t bits() const { return bits_; }
  // One thread, between two points that could order its accesses against those of another.
  bool same_moment(Record other) const { return bits_ >> 18 == other.bits_ >> 18; }
  bool covers(Record other) const { return (other.bytes() & ~bytes()) == 0; }
  Record at(unsigned place) const { return Record(bits_ | uint64_t{place} << 4); }
  Record with_bytes_of(Record other) const { return Record(bits_ | other.bytes()); }

 private:
  uint64_t bits_ = 0;
};

// Of each kind of access the last; of plain reads two, by different threads where there were any,
// so that whoever writes next finds one that is not its own. Of neighbouring bytes of one word,
// written by different threads, the last alone is remembered.
struct Cell {
  std::atomic<uint64_t> write, atomic, read, other_read;
};

// Program counters by small numbers. 0 stands for all those that found no room.
unsigned place_of(uintptr_t pc);
uintptr_t pc_of(unsigned place);

}  // namespace gradus::cuda::sim
