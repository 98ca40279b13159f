// PeerMemory: memory of the GPUs of one machine that every process of a group maps (CUDA IPC), so
// that one rank's copy engines write into another rank's tensors. Private to the library.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gradus/distributed/job/store.h"
#include "gradus/tensor/storage.h"

namespace gradus::distributed {

// A block of such memory. The storage itself is this rank's part.
class PeerBlock final : public StorageImpl {
 public:
  // bases: the address of each rank's part in this process.
  PeerBlock(std::vector<char*> bases, int rank, size_t nbytes, Device device)
      : StorageImpl(bases[static_cast<size_t>(rank)], nbytes, device), bases_(std::move(bases)) {}
  char* at(int rank) const { return bases_[static_cast<size_t>(rank)]; }

 private:
  std::vector<char*> bases_;
};

// The value of GRADUS_PEER_COPIES: unset, 0 or 1. Errors: ValueError for any other.
enum class PeerCopies { where_possible, off, required };
PeerCopies peer_copies();

class PeerMemory {
 public:
  // Collective. Null at all ranks where one of them has switched it off, two of the GPUs are in
  // different machines, or one of them cannot reach another's memory.
  static std::unique_ptr<PeerMemory> connect(const std::string& group, int rank, int size,
                                             int device, std::shared_ptr<Store> store);
  ~PeerMemory();
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;

  // Collective: the same number of zeroed bytes at every rank. Each rank may free them at any time;
  // memory of tensors that outlive this object is freed with the process. Errors: OutOfMemoryError;
  // Error where a rank does not take part in time.
  std::shared_ptr<PeerBlock> allocate(size_t nbytes);
  // The job has failed: from now on it waits for no rank and frees nothing; the end of the process
  // does that.
  void abandon() { abandoned_ = true; }
  // The block that x lies in; null where there is none.
  const PeerBlock* find(const void* x) const;

 private:
  struct Part {
    uint64_t number;
    void* own;
    std::vector<char*> bases;
    size_t nbytes;
    std::weak_ptr<PeerBlock> block;
  };

  PeerMemory(const std::string& group, int rank, int size, int device, std::shared_ptr<Store> store)
      : name_("peer/" + group),
        rank_(rank),
        size_(size),
        device_(device),
        store_(std::move(store)) {}
  std::vector<std::string> exchange(const std::string& what, const std::string& mine);
  bool all_say_yes(const std::string& what, bool mine);
  bool reaches_all();
  bool open(Part& part, const std::vector<std::string>& handles);
  void close(Part& part);
  void collect();
  bool is_closed_by_all(const Part& part);

  std::string name_;
  int rank_, size_, device_;
  std::shared_ptr<Store> store_;
  uint64_t numbers_ = 0;
  std::atomic<bool> abandoned_{false};
  mutable std::mutex mutex_;  // guards parts_, which the group's thread reads
  std::list<Part> parts_;     // in use, at least at the last look
  std::list<Part> retired_;   // closed here; other ranks may still have them open
};

}  // namespace gradus::distributed
