// Sharing memory of GPUs among the processes of one machine.
#include "gradus/distributed/nccl/peer_memory.h"

#include <cuda_runtime_api.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>

#include "gradus/cuda/runtime/device.h"
#include "gradus/cuda/runtime/peer.h"

namespace gradus::distributed {

namespace {

// A machine, or what passes for one to the processes that it holds.
std::string machine() {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  return std::string(host) + " " + boot;
}

std::string bus_of(int device) {
  char bus[64] = {};
  check<Error>(cudaDeviceGetPCIBusId(bus, sizeof bus, device) == cudaSuccess,
               "distributed: cudaDeviceGetPCIBusId of cuda:", device);
  return bus;
}

// The ranks' exchange tells of failures; they are no errors of the ranks.
bool succeeded(cudaError_t status) {
  if (status != cudaSuccess) cudaGetLastError();
  return status == cudaSuccess;
}

}  // namespace

PeerCopies peer_copies() {
  const char* const text = std::getenv("GRADUS_PEER_COPIES");
  const std::string said = text ? text : "";
  if (said.empty()) return PeerCopies::where_possible;
  check(said == "0" || said == "1", "init_process_group: GRADUS_PEER_COPIES is '", said,
        "'; set it to 0 or 1, or leave it unset");
  return said == "0" ? PeerCopies::off : PeerCopies::required;
}

std::unique_ptr<PeerMemory> PeerMemory::connect(const std::string& group, int rank, int size,
                                                int device, std::shared_ptr<Store> store) {
  std::unique_ptr<PeerMemory> memory(new PeerMemory(group, rank, size, device, std::move(store)));
  if (!memory->reaches_all()) return nullptr;
  return memory;
}

PeerMemory::~PeerMemory() {
  if (abandoned_) return;
  try {
    collect();
  } catch (const std::exception&) {
    // The memory is freed with the process.
  }
}

std::vector<std::string> PeerMemory::exchange(const std::string& what, const std::string& mine) {
  const auto key = [&](int rank) { return name_ + "/" + what + "/" + std::to_string(rank); };
  store_->set(key(rank_), mine);
  std::vector<std::string> all;
  for (int r = 0; r < size_; ++r) all.push_back(store_->get(key(r)));
  return all;
}

bool PeerMemory::all_say_yes(const std::string& what, bool mine) {
  for (const std::string& said : exchange(what, mine ? "yes" : "no"))
    if (said != "yes") return false;
  return true;
}

// Tries it, too: a process in a container of its own may have no access to the others.
bool PeerMemory::reaches_all() {
  const std::string here = machine();
  bool able = peer_copies() != PeerCopies::off;
  for (const std::string& there : exchange("gpu", here + " " + bus_of(device_))) {
    int peer = -1;
    able = able && there.compare(0, here.size(), here) == 0 &&
           succeeded(cudaDeviceGetByPCIBusId(&peer, there.c_str() + here.size() + 1)) &&
           (peer == device_ || cuda::enable_peer_access(device_, peer));
  }
  return all_say_yes("reach", able) && allocate(1) != nullptr;
}

std::shared_ptr<PeerBlock> PeerMemory::allocate(size_t nbytes) {
  collect();
  const cuda::DeviceGuard guard(device_);
  constexpr size_t kGranularity = size_t{2} << 20;  // what is mapped as a whole
  Part part{++numbers_, nullptr, {}, (nbytes + kGranularity - 1) / kGranularity * kGranularity, {}};
  cudaIpcMemHandle_t handle{};
  const bool allocated = succeeded(cudaMalloc(&part.own, part.nbytes));
  const bool exported = allocated && succeeded(cudaMemset(part.own, 0, part.nbytes)) &&
                        succeeded(cudaDeviceSynchronize()) &&
                        succeeded(cudaIpcGetMemHandle(&handle, part.own));
  const std::string number = std::to_string(part.number);
  const auto handles = exchange(
      number, exported ? std::string(reinterpret_cast<char*>(&handle), sizeof handle) : "");
  const bool opened = open(part, handles);
  if (!all_say_yes(number + "/open", opened)) {
    close(part);
    check<OutOfMemoryError>(allocated, "distributed: cuda:", device_, " has no room for ",
                            part.nbytes,
                            " bytes of gradients; use a smaller model, or free tensors");
    check<Error>(part.number == 1, "distributed: rank ", rank_,
                 " of the group, or another, cannot map ", part.nbytes,
                 " bytes of the others' GPUs; set GRADUS_PEER_COPIES=0 to let NCCL move them");
    return nullptr;
  }
  const auto block = std::make_shared<PeerBlock>(part.bases, rank_, nbytes,
                                                 Device(kCUDA, static_cast<DeviceIndex>(device_)));
  part.block = block;
  const std::lock_guard lock(mutex_);
  parts_.push_back(std::move(part));
  return block;
}

bool PeerMemory::open(Part& part, const std::vector<std::string>& handles) {
  part.bases.assign(handles.size(), nullptr);
  for (size_t r = 0; r < handles.size(); ++r) {
    cudaIpcMemHandle_t handle;
    if (handles[r].size() != sizeof handle) return false;
    std::memcpy(&handle, handles[r].data(), sizeof handle);
    void* base = part.own;
    if (static_cast<int>(r) != rank_ &&
        !succeeded(cudaIpcOpenMemHandle(&base, handle, cudaIpcMemLazyEnablePeerAccess)))
      return false;
    part.bases[r] = static_cast<char*>(base);
  }
  return true;
}

// This rank stops using it.
void PeerMemory::close(Part& part) {
  const cuda::DeviceGuard guard(device_);
  for (size_t r = 0; r < part.bases.size(); ++r)
    if (part.bases[r] && static_cast<int>(r) != rank_)
      succeeded(cudaIpcCloseMemHandle(part.bases[r]));
  store_->add(name_ + "/" + std::to_string(part.number) + "/closed", 1);
  retired_.push_back(std::move(part));
}

// Closes what nobody here uses any more, and frees what nobody anywhere does: memory that another
// process has mapped must not be freed.
void PeerMemory::collect() {
  const std::lock_guard lock(mutex_);
  for (auto at = parts_.begin(); at != parts_.end();) {
    if (at->block.expired()) {
      close(*at);
      at = parts_.erase(at);
    } else {
      ++at;
    }
  }
  for (auto at = retired_.begin(); at != retired_.end();) {
    if (is_closed_by_all(*at)) {
      succeeded(cudaFree(at->own));
      at = retired_.erase(at);
    } else {
      ++at;
    }
  }
}

bool PeerMemory::is_closed_by_all(const Part& part) {
  return store_->add(name_ + "/" + std::to_string(part.number) + "/closed", 0) == size_;
}

const PeerBlock* PeerMemory::find(const void* x) const {
  const std::lock_guard lock(mutex_);
  for (const Part& part : parts_) {
    const auto* begin = static_cast<const char*>(part.own);
    if (x >= begin && x < begin + part.nbytes)
      if (const auto block = part.block.lock()) return block.get();
  }
  return nullptr;
}

}  // namespace gradus::distributed
