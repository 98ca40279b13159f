// The collectives of the backend nccl.
#include "gradus/distributed/nccl/nccl_group.h"

#include <cuda_runtime_api.h>

#include <cstring>

#include "gradus/cuda/runtime/stream.h"
#include "gradus/distributed/arguments.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::distributed {

namespace {

// Bools are bytes of 0 and 1.
ncclDataType_t combined_type(const Tensor& x) {
  switch (x.scalar_type()) {
    case kFloat:
      return ncclFloat32;
    case kDouble:
      return ncclFloat64;
    case kHalf:
      return ncclFloat16;
    case kBFloat16:
      return ncclBfloat16;
    case kBool:
    case kByte:
      return ncclUint8;
    case kChar:
      return ncclInt8;
    case kInt:
      return ncclInt32;
    case kLong:
      return ncclInt64;
    default:
      fail<TypeError>("nccl: dtype ", x.dtype(), " cannot be combined; convert to int32");
  }
}

ncclRedOp_t combination(ReduceOp op, const Tensor& x, int ranks) {
  const bool is_bool = x.scalar_type() == kBool;
  if (op == ReduceOp::AVG && ranks == 1)
    return ncclSum;  // which does nothing; ncclAvg divides by 1
  switch (op) {
    case ReduceOp::SUM:
      return is_bool ? ncclMax : ncclSum;
    case ReduceOp::AVG:
      return ncclAvg;
    case ReduceOp::MIN:
      return ncclMin;
    case ReduceOp::MAX:
      return ncclMax;
    default:
      return is_bool ? ncclMin : ncclProd;
  }
}

size_t elements(const Tensor& x) { return static_cast<size_t>(x.numel()); }

}  // namespace

NcclGroup::NcclGroup(Members members, int device, const std::shared_ptr<Store>& store)
    : ProcessGroup(std::move(members)), device_(device) {
  if (rank() < 0) return;
  ncclUniqueId id;
  const std::string key = "nccl/" + name();
  if (rank() == 0) {
    check<Error>(ncclGetUniqueId(&id) == ncclSuccess,
                 "nccl: ncclGetUniqueId: ", static_cast<const char*>(ncclGetLastError(nullptr)));
    store->set(key, std::string(id.internal, sizeof id.internal));
  }
  const std::string text = store->get(key);
  check<Error>(text.size() == sizeof id.internal, "nccl: the id of group '", name(), "' has ",
               text.size(), " bytes");
  std::memcpy(id.internal, text.data(), text.size());
  const cuda::DeviceGuard guard(device_);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  {
    const std::lock_guard lock(mutex_);
    ncclCommInitRankConfig(&comm_, size(), id, rank(), &config);
  }
  try {
    settle("ncclCommInitRankConfig", ncclInProgress);
    peers_ = PeerReduce::connect(name(), rank(), size(), device_, store);
  } catch (...) {
    abort();
    throw;
  }
  for (size_t i = 0; peers_ && i < PeerReduce::kSlots; ++i)
    streams_.push_back(cuda::getStreamFromPool(/*high_priority=*/true, device_));
  listener_ = watch().failure().subscribe([this] { abort(); });
}

NcclGroup::~NcclGroup() {
  join();
  if (rank() < 0) return;
  watch().failure().unsubscribe(listener_);
  const std::lock_guard lock(mutex_);
  if (!comm_) return;
  ncclResult_t status = ncclCommFinalize(comm_);
  const Clock::time_point deadline = Clock::now() + watch().timeout();
  while (status == ncclInProgress && Clock::now() < deadline) ncclCommGetAsyncError(comm_, &status);
  if (status == ncclSuccess)
    ncclCommDestroy(comm_);
  else
    ncclCommAbort(comm_);
}

StoragePtr NcclGroup::allocate_shared(size_t nbytes) {
  return peers_ ? peers_->allocate(nbytes) : nullptr;
}

// Pieces of gradients overlap; what NCCL does stays in one order with all of it.
const cuda::Stream& NcclGroup::stream(int device) {
  return peers_ ? streams_[turn_++ % streams_.size()] : ProcessGroup::stream(device);
}

// Work that the GPU still waits for ends.
void NcclGroup::abort() {
  if (peers_) peers_->abort();
  const std::lock_guard lock(mutex_);
  if (comm_) ncclCommAbort(comm_);
  comm_ = nullptr;
}

template <class F>
void NcclGroup::call(const char* what, F f) {
  ncclResult_t status;
  const cuda::Stream current = cuda::getCurrentCUDAStream(device_);
  if (peers_) {
    peers_->follow(current);
    called_.block(current);
  }
  {
    const std::lock_guard lock(mutex_);
    if (!comm_) check_failure();
    status = f(comm_, static_cast<cudaStream_t>(current.handle()));
  }
  settle(what, status);
  if (peers_) called_.record(current);
}

void NcclGroup::settle(const char* what, ncclResult_t status) {
  while (status == ncclInProgress) {
    look_after();
    check_failure();
    std::this_thread::yield();
    const std::lock_guard lock(mutex_);
    if (comm_) ncclCommGetAsyncError(comm_, &status);
  }
  if (status == ncclSuccess) return;
  // Where another rank is gone NCCL may find that out first; the watch says it better.
  const Clock::time_point deadline = Clock::now() + std::chrono::seconds(2);
  while (Clock::now() < deadline) {
    check_failure();
    std::this_thread::sleep_for(Milliseconds(1));
  }
  fail<Error>("nccl: ", what, ": ", static_cast<const char*>(ncclGetErrorString(status)), ": ",
              static_cast<const char*>(ncclGetLastError(nullptr)));
}

void NcclGroup::check_device(const char* op, Device device) const {
  check<TypeError>(device == Device(kCUDA, static_cast<DeviceIndex>(device_)), op,
                   ": a tensor is on ", device, ", and this rank's GPU is cuda:", device_,
                   ", which it has by LOCAL_RANK, or by cuda::set_device before "
                   "init_process_group; move the tensor");
}

void NcclGroup::broadcast(const Tensor& x, int root) {
  call("ncclBroadcast", [&](ncclComm_t comm, cudaStream_t stream) {
    return ncclBroadcast(x.data_ptr(), x.data_ptr(), x.nbytes(), ncclInt8, root, comm, stream);
  });
}

void NcclGroup::all_reduce(const Tensor& x, ReduceOp op) {
  if (peers_ && peers_->takes(x, op)) {
    const cuda::Stream current = cuda::getCurrentCUDAStream(device_);
    called_.block(current);
    return peers_->all_reduce(x, op, current);
  }
  call("ncclAllReduce", [&](ncclComm_t comm, cudaStream_t stream) {
    return ncclAllReduce(x.data_ptr(), x.data_ptr(), elements(x), combined_type(x),
                         combination(op, x, size()), comm, stream);
  });
}

void NcclGroup::all_gather(const Tensor& out, const Tensor& in) {
  call("ncclAllGather", [&](ncclComm_t comm, cudaStream_t stream) {
    return ncclAllGather(in.data_ptr(), out.data_ptr(), in.nbytes(), ncclInt8, comm, stream);
  });
}

void NcclGroup::reduce_scatter(const Tensor& out, const Tensor& in, ReduceOp op) {
  call("ncclReduceScatter", [&](ncclComm_t comm, cudaStream_t stream) {
    return ncclReduceScatter(in.data_ptr(), out.data_ptr(), elements(out), combined_type(out),
                             combination(op, out, size()), comm, stream);
  });
}

void NcclGroup::all_to_all(const Tensor& out, const Counts& out_counts, const Tensor& in,
                           const Counts& in_counts) {
  call("ncclSend and ncclRecv", [&](ncclComm_t comm, cudaStream_t stream) {
    const char* from = static_cast<const char*>(in.data_ptr());
    char* to = static_cast<char*>(out.data_ptr());
    ncclGroupStart();
    for (int r = 0; r < size(); ++r) {
      const size_t sent = static_cast<size_t>(in_counts[static_cast<size_t>(r)]) * in.itemsize();
      const size_t got = static_cast<size_t>(out_counts[static_cast<size_t>(r)]) * out.itemsize();
      if (sent > 0) ncclSend(from, sent, ncclInt8, r, comm, stream);
      if (got > 0) ncclRecv(to, got, ncclInt8, r, comm, stream);
      from += sent;
      to += got;
    }
    return ncclGroupEnd();
  });
}

void NcclGroup::barrier() {
  const cuda::DeviceGuard guard(device_);
  const Tensor x = raw::empty({1}, kInt, Device(kCUDA, static_cast<DeviceIndex>(device_)));
  raw::fill_(x, 0);
  all_reduce(x, ReduceOp::SUM);
  while (!cuda::getCurrentCUDAStream(device_).query()) {
    check_failure();
    std::this_thread::yield();
  }
}

WorkPtr NcclGroup::send(const Tensor& x, int dst, int) {
  return submit_message("send of " + described(x), {x}, [this, x, dst] {
    call("ncclSend", [&](ncclComm_t comm, cudaStream_t stream) {
      return ncclSend(x.data_ptr(), x.nbytes(), ncclInt8, dst, comm, stream);
    });
  });
}

WorkPtr NcclGroup::recv(const Tensor& x, int src, int) {
  check<NotImplementedError>(src >= 0, "recv: NCCL receives from a rank that is named; give src");
  return submit_message("recv of " + described(x), {x}, [this, x, src] {
    call("ncclRecv", [&](ncclComm_t comm, cudaStream_t stream) {
      return ncclRecv(x.data_ptr(), x.nbytes(), ncclInt8, src, comm, stream);
    });
  });
}

}  // namespace gradus::distributed
