// The collectives of the backend threads but all_reduce, which is in ring.cpp.
#include "gradus/distributed/threads/threads_group.h"

#include "gradus/tensor/raw/raw.h"

namespace gradus::distributed {

namespace {

Tensor flat(const Tensor& x, int64_t begin, int64_t count) {
  return raw::as_strided(x, {count}, {1}, x.storage_offset() + begin);
}

std::string described(const Tensor& x) {
  std::string text;
  append(text, x.dtype());
  text += ' ';
  append(text, x.sizes());
  return text;
}

class Receipt final : public AskedWork {
 public:
  Receipt(std::shared_ptr<Rendezvous> room, const ProcessGroup& group, Tensor x, int src, int tag)
      : room_(std::move(room)),
        watch_(group.shared_watch()),
        name_(group.name()),
        rank_(group.rank()),
        ranks_(group.ranks()),
        x_(std::move(x)),
        src_(src),
        tag_(tag) {}

 private:
  bool ask() override {
    const auto mail = room_->collect(src_, rank_, tag_);
    if (!mail) return watch_->failure().check(), false;
    source_ = ranks_[static_cast<size_t>(mail->from)];
    const Tensor& sent = mail->content;
    if (sent.dtype() != x_.dtype() || sent.numel() != x_.numel())
      give_up("expected " + described(x_) + " in recv with tag " + std::to_string(tag_) +
              " of group '" + name_ + "', and rank " + std::to_string(source_) + " sent " +
              described(sent));
    raw::copy_(flat(x_, 0, x_.numel()), flat(sent, 0, sent.numel()));
    return true;
  }
  void stay(Clock::time_point, int) override {
    if (room_->await_mail(src_, rank_, tag_, *watch_)) return;
    give_up("waited " + in_seconds(watch_->timeout()) + " in recv of " + described(x_) + " from " +
            (src_ < 0 ? "any rank" : "rank " + std::to_string(ranks_[static_cast<size_t>(src_)])) +
            " with tag " + std::to_string(tag_) + " in group '" + name_ + "', and nobody sent it");
  }
  // A rank that has left the job no longer ends it for the others.
  [[noreturn]] void give_up(const std::string& why) {
    watch_->give_up(why);
    watch_->failure().check();
    throw DistributedError("distributed: rank " +
                           std::to_string(ranks_[static_cast<size_t>(rank_)]) + ' ' + why);
  }

  std::shared_ptr<Rendezvous> room_;
  std::shared_ptr<Watch> watch_;
  std::string name_;
  int rank_;
  std::vector<int> ranks_;
  Tensor x_;
  int src_, tag_;
};

}  // namespace

ThreadsGroup::ThreadsGroup(Members members, std::shared_ptr<Rendezvous> room)
    : ProcessGroup(std::move(members)), room_(std::move(room)) {}

ThreadsGroup::~ThreadsGroup() { join(); }

void ThreadsGroup::broadcast(const Tensor& x, int root) {
  settle(x);
  room_->show(rank(), {x, {}});
  meet();
  if (rank() != root) raw::copy_(x, room_->shown(root).tensor);
  settle(x);
  meet();
}

void ThreadsGroup::all_gather(const Tensor& out, const Tensor& in) {
  settle(in);
  room_->show(rank(), {in, {}});
  meet();
  for (int r = 0; r < size(); ++r)
    raw::copy_(flat(out, r * in.numel(), in.numel()), flat(room_->shown(r).tensor, 0, in.numel()));
  settle(out);
  meet();
}

void ThreadsGroup::all_to_all(const Tensor& out, const Counts& out_counts, const Tensor& in,
                              const Counts& in_counts) {
  settle(in);
  room_->show(rank(), {in, in_counts});
  meet();
  int64_t end = 0;
  for (int r = 0; r < size(); ++r) {
    const Counts& theirs = room_->shown(r).counts;
    const int64_t count = out_counts[static_cast<size_t>(r)];
    const int64_t sent = theirs[static_cast<size_t>(rank())];
    check(sent == count, "all_to_all: rank ", ranks()[static_cast<size_t>(r)], " sends ", sent,
          " elements to rank ", ranks()[static_cast<size_t>(rank())], ", which expects ", count);
    int64_t begin = 0;
    for (int before = 0; before < rank(); ++before) begin += theirs[static_cast<size_t>(before)];
    raw::copy_(flat(out, end, count), flat(room_->shown(r).tensor, begin, count));
    end += count;
  }
  settle(out);
  meet();
}

void ThreadsGroup::barrier() { meet(); }

// A copy is sent at once, so that nobody waits for the one who receives it.
WorkPtr ThreadsGroup::send(const Tensor& x, int dst, int tag) {
  check_failure();
  const Tensor copy = raw::clone(x);
  settle(copy);
  room_->post({rank(), dst, tag, copy});
  return std::make_shared<FinishedWork>();
}

WorkPtr ThreadsGroup::recv(const Tensor& x, int src, int tag) {
  check_failure();
  return std::make_shared<Receipt>(room_, *this, x, src, tag);
}

}  // namespace gradus::distributed
