// The collectives of the backend mpi.
#include "gradus/distributed/mpi/mpi_group.h"

#include "gradus/tensor/raw/raw.h"

namespace gradus::distributed {

namespace {

bool is_half(const Tensor& x) { return x.scalar_type() == kHalf || x.scalar_type() == kBFloat16; }

class Message final : public AskedWork {
 public:
  Message(const ProcessGroup& group, Tensor x, std::string what)
      : watch_(group.shared_watch()),
        ranks_(group.ranks()),
        x_(std::move(x)),
        what_(std::move(what)) {}
  ~Message() override {
    if (request != MPI_REQUEST_NULL) abandon({x_});
  }

  MPI_Request request = MPI_REQUEST_NULL;

 private:
  bool ask() override {
    MPI_Status status;
    int done = 0;
    {
      const auto lock = lock_mpi(watch_->failure());
      check_mpi(MPI_Test(&request, &done, &status), "MPI_Test");
    }
    if (!done) return watch_->failure().check(), false;
    const auto place = static_cast<size_t>(status.MPI_SOURCE);
    if (place < ranks_.size()) source_ = ranks_[place];
    return true;
  }
  void stay(Clock::time_point began, int round) override {
    if (Clock::now() >= began + watch_->timeout())
      watch_->give_up("waited " + in_seconds(watch_->timeout()) + " in " + what_ +
                      ", which nobody answered");
    Patience(round).pause();
  }

  std::shared_ptr<Watch> watch_;
  std::vector<int> ranks_;
  Tensor x_;
  std::string what_;
};

std::string described(const char* op, const Tensor& x, int tag, const ProcessGroup& group) {
  std::string text = std::string(op) + " of ";
  append(text, x.dtype());
  text += ' ';
  append(text, x.sizes());
  return text + " with tag " + std::to_string(tag) + " in group '" + group.name() + "'";
}

}  // namespace

void abandon(const Tensors& buffers) {
  static std::mutex& mutex = *new std::mutex;
  static Tensors& kept = *new Tensors;
  const std::lock_guard lock(mutex);
  kept.insert(kept.end(), buffers.begin(), buffers.end());
}

MpiGroup::MpiGroup(Members members, MPI_Comm comm)
    : ProcessGroup(std::move(members)), comm_(comm) {}

MpiGroup::~MpiGroup() {
  join();
  free_comm(comm_, watch().failure());
}

void MpiGroup::check_device(const char* op, Device device) const {
  check<TypeError>(device.is_cpu(), op, ": a tensor is on ", device,
                   ", and the backend mpi communicates tensors of the CPU; use nccl, or .cpu()");
}

// Where ranks called different things MPI may find that out first; the watch says it better.
void MpiGroup::await_failure() const {
  const Clock::time_point deadline = Clock::now() + std::chrono::seconds(2);
  while (Clock::now() < deadline) {
    check_failure();
    std::this_thread::sleep_for(Milliseconds(1));
  }
}

template <class Start>
void MpiGroup::call(const Tensors& buffers, Start start) {
  MPI_Request request = MPI_REQUEST_NULL;
  try {
    int done = 0;
    {
      const auto lock = lock_mpi(watch().failure());
      check_mpi(start(&request), "a collective");
    }
    for (Patience patience; !done; patience.pause()) {
      const auto lock = lock_mpi(watch().failure());
      check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
      if (!done) check_failure();
    }
  } catch (const DistributedError&) {
    abandon(buffers);
    throw;
  } catch (const Error&) {
    abandon(buffers);
    await_failure();
    throw;
  }
}

void MpiGroup::compare(const std::string& what) {
  const auto hash = static_cast<int64_t>(std::hash<std::string>()(what) >> 1);
  const Tensor most = raw::empty({2}, kLong, kCPU);
  int64_t* const bounds = most.data_ptr<int64_t>();
  bounds[0] = hash, bounds[1] = -hash;
  call({most}, [&](MPI_Request* request) {
    return MPI_Iallreduce(MPI_IN_PLACE, bounds, 2, MPI_INT64_T, MPI_MAX, comm_, request);
  });
  if (bounds[0] == hash && bounds[1] == -hash) return;
  await_failure();
  fail<Error>("the ranks of group '", name(), "' called different collectives; this one called ",
              what);
}

void MpiGroup::broadcast(const Tensor& x, int root) {
  const int count = counted(x.numel());
  call({x}, [&](MPI_Request* request) {
    return MPI_Ibcast(x.data_ptr(), count, moved_type(x), root, comm_, request);
  });
}

void MpiGroup::all_reduce(const Tensor& x, ReduceOp op) {
  const Tensor sum = is_half(x) ? raw::to(x, kFloat) : x;
  const int count = counted(x.numel());
  call({sum}, [&](MPI_Request* request) {
    return MPI_Iallreduce(MPI_IN_PLACE, sum.data_ptr(), count, combined_type(sum),
                          combination(op, sum), comm_, request);
  });
  if (op == ReduceOp::AVG) raw::zip_(BinaryOp::div, sum, Scalar(size()));
  if (is_half(x)) raw::copy_(x, sum);
}

void MpiGroup::all_gather(const Tensor& out, const Tensor& in) {
  const int count = counted(in.numel());
  call({out, in}, [&](MPI_Request* request) {
    return MPI_Iallgather(in.data_ptr(), count, moved_type(in), out.data_ptr(), count,
                          moved_type(in), comm_, request);
  });
}

void MpiGroup::reduce_scatter(const Tensor& out, const Tensor& in, ReduceOp op) {
  const Tensor parts = is_half(in) ? raw::to(in, kFloat) : in;
  const Tensor sum = is_half(out) ? raw::to(out, kFloat) : out;
  const int count = counted(out.numel());
  call({sum, parts}, [&](MPI_Request* request) {
    return MPI_Ireduce_scatter_block(parts.data_ptr(), sum.data_ptr(), count, combined_type(sum),
                                     combination(op, sum), comm_, request);
  });
  if (op == ReduceOp::AVG) raw::zip_(BinaryOp::div, sum, Scalar(size()));
  if (is_half(out)) raw::copy_(out, sum);
}

void MpiGroup::all_to_all(const Tensor& out, const Counts& out_counts, const Tensor& in,
                          const Counts& in_counts) {
  struct Layout {
    explicit Layout(const Counts& elements) {
      int64_t begin = 0;
      for (const int64_t count : elements) {
        counts.push_back(counted(count));
        begins.push_back(counted(begin));
        begin += count;
      }
    }
    std::vector<int> counts, begins;
  };
  const Layout to(out_counts), from(in_counts);
  call({out, in}, [&](MPI_Request* request) {
    return MPI_Ialltoallv(in.data_ptr(), from.counts.data(), from.begins.data(), moved_type(in),
                          out.data_ptr(), to.counts.data(), to.begins.data(), moved_type(out),
                          comm_, request);
  });
}

void MpiGroup::barrier() {
  call({}, [&](MPI_Request* request) { return MPI_Ibarrier(comm_, request); });
}

WorkPtr MpiGroup::send(const Tensor& x, int dst, int tag) {
  check_failure();
  auto message = std::make_shared<Message>(*this, x, described("send", x, tag, *this));
  const int count = counted(x.numel());
  const auto lock = lock_mpi(watch().failure());
  check_mpi(MPI_Isend(x.data_ptr(), count, moved_type(x), dst, tag, comm_, &message->request),
            "MPI_Isend");
  return message;
}

WorkPtr MpiGroup::recv(const Tensor& x, int src, int tag) {
  check_failure();
  auto message = std::make_shared<Message>(*this, x, described("recv", x, tag, *this));
  const int count = counted(x.numel());
  const auto lock = lock_mpi(watch().failure());
  check_mpi(MPI_Irecv(x.data_ptr(), count, moved_type(x), src < 0 ? MPI_ANY_SOURCE : src, tag,
                      comm_, &message->request),
            "MPI_Irecv");
  return message;
}

}  // namespace gradus::distributed
