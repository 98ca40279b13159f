// Running a function as several ranks, one thread each.
#include "gradus/distributed/threads/spawn.h"

#include <exception>
#include <future>
#include <map>
#include <mutex>
#include <vector>

#include "gradus/distributed/init.h"
#include "gradus/distributed/job/shared_monitor.h"
#include "gradus/distributed/threads/threads_group.h"
#include "gradus/distributed/world.h"
#include "gradus/tensor/base/modes.h"
#include "gradus/tensor/base/rethrow.h"
#include "gradus/tensor/base/thread.h"

namespace gradus::distributed {

namespace {

// The data that all ranks of a job share; found by the store that they share.
struct ThreadsJob {
  explicit ThreadsJob(std::shared_ptr<Store> store_, Milliseconds timeout)
      : store(std::move(store_)), monitor(std::make_shared<SharedMonitor>(timeout)) {}

  std::shared_ptr<Store> store;
  std::shared_ptr<SharedMonitor> monitor;
  std::map<std::string, std::shared_ptr<Rendezvous>>
      rooms;  // a rank may come after another has left
};

std::mutex jobs_mutex;  // guards the jobs and their rooms
std::map<const Store*, std::weak_ptr<ThreadsJob>> jobs;

std::shared_ptr<ThreadsJob> job_of(const Setup& setup) {
  const std::lock_guard lock(jobs_mutex);
  std::weak_ptr<ThreadsJob>& known = jobs[setup.store.get()];
  std::shared_ptr<ThreadsJob> job = known.lock();
  if (!job) known = job = std::make_shared<ThreadsJob>(setup.store, setup.timeout);
  std::erase_if(jobs, [](const auto& item) { return item.second.expired(); });
  return job;
}

std::shared_ptr<Rendezvous> room_of(ThreadsJob& job, const std::string& name, int size) {
  const std::lock_guard lock(jobs_mutex);
  std::shared_ptr<Rendezvous>& room = job.rooms[name];
  if (!room) room = std::make_shared<Rendezvous>(size, job.monitor->failure);
  return room;
}

}  // namespace

void set_up_threads(Setup& setup, World& world) {
  check(setup.store != nullptr,
        "init_process_group: 'threads' needs a HashStore that all threads share; spawn_threads "
        "makes one");
  check_ranks(setup);
  // The job lives before the first rank can leave it.
  const std::shared_ptr<ThreadsJob> job = job_of(setup);
  check_in(*setup.store, setup.rank, setup.size, setup.timeout);
  world.watch = std::make_shared<SharedWatch>(job->monitor, setup.rank);
  world.make_group = [job](ProcessGroup::Members members) -> Group {
    auto room = room_of(*job, members.name, static_cast<int>(members.ranks.size()));
    return share_group<ThreadsGroup>(std::move(members), std::move(room));
  };
}

void spawn_threads(int world_size, const std::function<void(int rank)>& f, Milliseconds timeout) {
  check(world_size > 0, "spawn_threads: world_size = ", world_size, "; expected 1 or more");
  const auto store = std::make_shared<HashStore>(timeout);
  std::mutex mutex;
  std::exception_ptr first;
  int first_rank = -1;
  std::promise<bool> all_started;
  const std::shared_future<bool> starts = all_started.get_future().share();
  const auto run = [&, modes = thread_modes](int rank) {
    if (!starts.get()) return;
    thread_modes = modes;
    try {
      init_process_group("threads", "", timeout, world_size, rank, store);
      f(rank);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!first) first = std::current_exception(), first_rank = rank;
      if (is_initialized())
        world("spawn_threads")
            .watch->give_up("threw: " + gradus::detail::text_of(std::current_exception()));
    }
    if (is_initialized()) destroy_process_group();
  };
  std::vector<detail::Thread> threads;
  try {
    for (int rank = 0; rank < world_size; ++rank)
      threads.emplace_back("spawn_threads: rank " + std::to_string(rank),
                           [&run, rank] { run(rank); });
  } catch (...) {
    all_started.set_value(false);  // the ranks that have started would wait for the others
    throw;
  }
  all_started.set_value(true);
  threads.clear();
  if (first) rethrow_with(first, " (rank " + std::to_string(first_rank) + ")");
}

}  // namespace gradus::distributed
