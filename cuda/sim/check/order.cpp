// Keeps what fences and atomic operations have ordered.
#include "gradus/cuda/sim/check/order.h"

#include <algorithm>
#include <unordered_set>

namespace gradus::cuda::sim {

void Order::publish(MeetingPoint at, uint32_t block, unsigned thread, const Fence& fence,
                    const std::unordered_map<unsigned, uint32_t>& others,
                    const MeetingPoints& before) {
  const std::lock_guard lock(mutex_);
  Publication& it = by_point_[at][block];
  it.block_before = std::max(it.block_before, fence.block_before);
  for (const auto& [other, through] : others)
    if (through >= fence.block_before) it.through[other] = through;
  it.through[thread] = fence.thread_through;
  for (const MeetingPoint each : before)
    if (std::find(it.before.begin(), it.before.end(), each) == it.before.end())
      it.before.push_back(each);
  any_.store(true, std::memory_order_release);
}

bool Order::reaches(const MeetingPoints& met, Record access, uint32_t block) const {
  const std::lock_guard lock(mutex_);
  MeetingPoints next = met;
  std::unordered_set<MeetingPoint> seen(met.begin(), met.end());
  while (!next.empty()) {
    const auto found = by_point_.find(next.back());
    next.pop_back();
    if (found == by_point_.end()) continue;
    const auto& publications = found->second;
    if (const auto own = publications.find(block); own != publications.end()) {
      const Publication& it = own->second;
      if (access.interval() < it.block_before) return true;
      const auto through = it.through.find(access.thread());
      if (through != it.through.end() && access.interval() <= through->second) return true;
    }
    for (const auto& [by, it] : publications)
      for (const MeetingPoint each : it.before)
        if (seen.insert(each).second) next.push_back(each);
  }
  return false;
}

void Met::share(const std::bitset<1024>& threads) {
  for (auto& [point, those] : threads_)
    if ((those & threads).any()) those |= threads;
}

MeetingPoints Met::of_block() const {
  MeetingPoints out;
  for (const auto& [point, threads] : threads_) out.push_back(point);
  return out;
}

MeetingPoints Met::of_thread(unsigned thread) const {
  MeetingPoints out;
  for (const auto& [point, threads] : threads_)
    if (threads[thread]) out.push_back(point);
  return out;
}

}  // namespace gradus::cuda::sim
