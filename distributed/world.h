// World: the job that this process or thread is a rank of. Private to the library.
#pragma once

#include <functional>
#include <list>
#include <string_view>

#include "gradus/distributed/job/store.h"
#include "gradus/distributed/process_group.h"
#include "gradus/distributed/tcp_store.h"

namespace gradus::distributed {

struct World {
  World() = default;
  const detail::HomeProcess home;
  // Runs queued calls and leaves the job. A process that runs the server waits for the other ranks
  // to leave, but not for ever.
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  std::string backend;
  int rank = -1;
  int size = 0;
  std::shared_ptr<Store> store;
  std::shared_ptr<Watch> watch;
  // Makes a group of the backend.
  std::function<Group(ProcessGroup::Members)> make_group;

  Group group;  // of all ranks
  std::list<Group> groups;
  int groups_made = 0;
};

// Errors: Error, which names op, where there is no process group.
World& world(std::string_view op);
const Group& world_group(std::string_view op);

// --- The interface of the backends to init_process_group
struct Setup {
  Milliseconds timeout;
  int rank, size;
  std::shared_ptr<Store> store;
  std::string init_method;
  int local_rank = 0;
};
// Each sets watch and make_group, and fills in what setup lacks.
void set_up_threads(Setup& setup, World& world);
void set_up_mpi(Setup& setup, World& world);
void set_up_nccl(Setup& setup, World& world);

// Lets the server of the store watch ranks that are processes.
void watch_processes(const Setup& setup, TCPStore& store, World& world);
// The store of setup; without one, a store made from init_method or the launcher's variables.
std::shared_ptr<TCPStore> open_tcp_store(Setup& setup);

// Errors: ValueError unless 0 <= rank < size.
void check_ranks(const Setup& setup);
// Errors: ValueError with the message, here and at all ranks that check in.
[[noreturn]] void refuse(Store& store, const std::string& message);
// Waits until ranks 0 to size - 1 have checked in. Errors: as init_process_group.
void check_in(Store& store, int rank, int size, Milliseconds timeout);

}  // namespace gradus::distributed
