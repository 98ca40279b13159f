// init_process_group, new_group, destroy_process_group: the world of a process or thread.
#include "gradus/distributed/init.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "gradus/distributed/collectives.h"
#include "gradus/distributed/environment.h"
#include "gradus/distributed/net/server.h"
#include "gradus/distributed/net/watch_client.h"
#include "gradus/distributed/world.h"

namespace gradus::distributed {

namespace {

// A forked child cannot leave the job of its parent, nor wait for it.
struct Leave {
  void operator()(World* world) const {
    if (world->home.is_here()) delete world;
  }
};

// Each thread of the backend threads has a world of its own; otherwise the process has one.
thread_local std::unique_ptr<World, Leave> thread_world;
std::unique_ptr<World, Leave> process_world;

World* find_world() { return thread_world ? thread_world.get() : process_world.get(); }

ProcessGroup::Members members_of(World& w, std::string name, std::vector<int> ranks) {
  const auto at = std::find(ranks.begin(), ranks.end(), w.rank);
  const int place = at == ranks.end() ? -1 : static_cast<int>(at - ranks.begin());
  return {std::move(name), std::move(ranks), place, w.watch};
}

std::vector<int> all_ranks(int size) {
  std::vector<int> ranks(static_cast<size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

}  // namespace

World& world(std::string_view op) {
  World* found = find_world();
  check<Error>(found != nullptr, op,
               ": there is no process group; call init_process_group first (or run in "
               "spawn_threads)");
  check_here(found->home.is_here(), op);
  return *found;
}

const Group& world_group(std::string_view op) { return world(op).group; }

World::~World() {
  groups.clear();
  group.reset();
  if (!watch) return;
  const bool failed = watch->failure().happened();
  const Milliseconds patience = failed ? Milliseconds(2000) : watch->timeout();
  watch->leave();
  watch.reset();
  const auto* served = dynamic_cast<const TCPStore*>(store.get());
  if (served && served->server()) served->server()->await_departures(patience);
}

void check_ranks(const Setup& setup) {
  check(setup.size > 0 && setup.rank >= 0 && setup.rank < setup.size,
        "init_process_group: rank = ", setup.rank, " and world_size = ", setup.size,
        "; expected 0 <= rank < world_size");
}

void watch_processes(const Setup& setup, TCPStore& store, World& world) {
  if (store.server()) store.server()->watch(setup.timeout);
  check_in(store, setup.rank, setup.size, setup.timeout);
  std::string received;
  Socket server = connect_as("watch", setup.rank, store, received);
  world.watch = std::make_shared<WatchClient>(std::move(server), std::move(received), setup.rank,
                                              setup.timeout);
}

std::shared_ptr<TCPStore> open_tcp_store(Setup& setup) {
  if (setup.store) {
    const auto given = std::dynamic_pointer_cast<TCPStore>(setup.store);
    check<TypeError>(given != nullptr,
                     "init_process_group: store is not a TCPStore, which ranks "
                     "that are processes need");
    check_ranks(setup);
    return given;
  }
  const bool from_environment = setup.init_method.empty() || setup.init_method == "env://";
  const Launch launch =
      from_environment ? read_environment() : read_url(setup.init_method, setup.rank, setup.size);
  setup.rank = launch.rank;
  setup.size = launch.world_size;
  setup.local_rank = launch.local_rank;
  check_ranks(setup);
  return std::make_shared<TCPStore>(launch.address, launch.port, launch.rank == 0, setup.timeout,
                                    launch.token, launch.rank);
}

void init_process_group(const std::string& backend, const std::string& init_method,
                        Milliseconds timeout, int world_size, int rank,
                        std::shared_ptr<Store> store) {
  const char* op = "init_process_group";
  check<Error>(!find_world(), op, ": it has been called already; call destroy_process_group first");
  check(timeout.count() > 0, op, ": timeout = ", in_seconds(timeout), "; it must be positive");
  check(backend == "threads" || backend == "mpi" || backend == "nccl", op, ": backend = '", backend,
        "'; expected threads, mpi or nccl");
  std::unique_ptr<World, Leave> fresh(new World);
  Setup setup{timeout, rank, world_size, std::move(store), init_method};
  if (backend == "threads")
    set_up_threads(setup, *fresh);
  else if (backend == "mpi")
    set_up_mpi(setup, *fresh);
  else
    set_up_nccl(setup, *fresh);
  fresh->backend = backend;
  fresh->rank = setup.rank;
  fresh->size = setup.size;
  fresh->store = setup.store;
  fresh->group = fresh->make_group(members_of(*fresh, "world", all_ranks(setup.size)));
  if (backend == "threads") {
    thread_world = std::move(fresh);
  } else {
    process_world = std::move(fresh);
    static const int registered = std::atexit([] { process_world.reset(); });
    (void)registered;
  }
}

bool is_initialized() { return find_world() != nullptr; }

void destroy_process_group(const Group& group) {
  World& w = world("destroy_process_group");
  if (group && group != w.group) {
    check(std::erase(w.groups, group) == 1, "destroy_process_group: group '", group->name(),
          "' has been destroyed already");
    return;
  }
  (thread_world ? thread_world : process_world).reset();
}

int get_rank(const Group& group) { return group ? group->rank() : world("get_rank").rank; }
int get_world_size(const Group& group) {
  return group ? group->size() : world("get_world_size").size;
}
std::string get_backend(const Group& group) {
  return group ? group->backend() : world("get_backend").backend;
}

Group new_group(const std::vector<int>& ranks) {
  World& w = world("new_group");
  std::vector<int64_t> listed(ranks.begin(), ranks.end());
  for (const int rank : ranks) {
    check(rank >= 0 && rank < w.size, "new_group: ranks ", IntArrayRef(listed), " has ", rank,
          ", and the job has ranks 0 to ", w.size - 1);
    check(std::count(ranks.begin(), ranks.end(), rank) == 1, "new_group: ranks ",
          IntArrayRef(listed), " has ", rank, " twice");
  }
  std::string call = "new_group ";
  append(call, IntArrayRef(listed));
  ProcessGroup& all = *w.group;
  all.submit(call, {}, [&all] { all.barrier(); })->wait();
  const std::string name = "group " + std::to_string(++w.groups_made);
  w.groups.push_back(w.make_group(members_of(w, name, ranks.empty() ? all_ranks(w.size) : ranks)));
  return w.groups.back();
}

}  // namespace gradus::distributed
