// The start of a job by MPI: the ranks know each other, and agree on where the server is.
#include <netdb.h>
#include <unistd.h>

#include <cstdlib>
#include <future>
#include <random>

#include "gradus/distributed/init.h"
#include "gradus/distributed/mpi/mpi_group.h"
#include "gradus/distributed/net/server.h"
#include "gradus/distributed/world.h"
#include "gradus/tensor/base/thread.h"

namespace gradus::distributed {

namespace {

// MPI starts once in a process. MPI ends with the process. A job that failed does not end it: MPI
// would wait for ranks that are gone.
std::shared_ptr<Failure>& latest_failure() {
  static auto& failure = *new std::shared_ptr<Failure>;
  return failure;
}

void start_mpi() {
  int started = 0, level = 0;
  MPI_Initialized(&started);
  if (!started) {
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level);
    std::atexit([] {
      if (!latest_failure() || !latest_failure()->happened()) MPI_Finalize();
    });
  }
  MPI_Query_thread(&level);
  check<Error>(level >= MPI_THREAD_SERIALIZED,
               "init_process_group: MPI was started without MPI_THREAD_SERIALIZED, which the "
               "groups' threads need; start it with MPI_Init_thread, or leave that to this call");
}

bool on_one_machine(int size) {
  MPI_Comm local;
  check_mpi(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &local),
            "MPI_Comm_split_type");
  int local_size = 0;
  MPI_Comm_size(local, &local_size);
  MPI_Comm_free(&local);
  int everywhere = local_size == size;
  MPI_Bcast(&everywhere, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return everywhere;
}

std::string own_address() {
  if (const char* address = std::getenv("MASTER_ADDR")) return address;
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

// Rank 0's text at all ranks.
std::string agree(std::string text) {
  int length = static_cast<int>(text.size());
  MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
  text.resize(static_cast<size_t>(length));
  MPI_Bcast(text.data(), length, MPI_CHAR, 0, MPI_COMM_WORLD);
  return text;
}

std::shared_ptr<TCPStore> open_store(int rank, int size, Milliseconds timeout) {
  const std::string address = on_one_machine(size) ? "127.0.0.1" : agree(own_address());
  std::random_device random;
  std::string token;
  for (int i = 0; i < 4; ++i) token += std::to_string(random());
  token = agree(token);
  std::shared_ptr<TCPStore> store;
  std::string error;
  try {
    if (rank == 0) store = std::make_shared<TCPStore>(address, 0, true, timeout, token, 0);
  } catch (const Error& e) {
    error = e.what();
  }
  error = agree(error);
  check<Error>(error.empty(), error);
  const int port = std::stoi(agree(store ? std::to_string(store->port()) : ""));
  return store ? store : std::make_shared<TCPStore>(address, port, false, timeout, token, rank);
}

// A communicator of some of the ranks of the job, in their order.
MPI_Comm comm_of(MPI_Comm job, const std::vector<int>& ranks) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Group everyone, chosen;
  check_mpi(MPI_Comm_group(job, &everyone), "MPI_Comm_group");
  check_mpi(MPI_Group_incl(everyone, static_cast<int>(ranks.size()), ranks.data(), &chosen),
            "MPI_Group_incl");
  check_mpi(MPI_Comm_create_group(job, chosen, 0, &comm), "MPI_Comm_create_group");
  MPI_Group_free(&chosen);
  MPI_Group_free(&everyone);
  return comm;
}

// Runs make on a thread, where it waits for other ranks in MPI. If the job fails meanwhile, this
// returns, and the thread stays behind with the lock. `what` is for the message.
// Errors: DistributedError, also where the others do not come in time.
MPI_Comm made(Watch& watch, const std::string& what, std::function<MPI_Comm()> make) {
  std::packaged_task<MPI_Comm()> task([failure = latest_failure(), make = std::move(make)] {
    const auto lock = lock_mpi(*failure);
    const MPI_Comm comm = make();
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return comm;
  });
  std::future<MPI_Comm> comm = task.get_future();
  detail::start_detached(
      "init_process_group: MPI",
      [shared = std::make_shared<decltype(task)>(std::move(task))] { (*shared)(); });
  const Clock::time_point deadline = Clock::now() + watch.timeout();
  while (comm.wait_for(Milliseconds(1)) != std::future_status::ready) {
    if (Clock::now() > deadline)
      watch.give_up("waited " + in_seconds(watch.timeout()) + " for the other ranks to " + what);
    watch.failure().check();
  }
  return comm.get();
}

}  // namespace

std::unique_lock<std::mutex> lock_mpi(const Failure& failure) {
  static auto& mutex = *new std::mutex;
  std::unique_lock lock(mutex, std::defer_lock);
  for (Patience patience; !lock.try_lock(); patience.pause()) failure.check();
  return lock;
}

void free_comm(MPI_Comm& comm, const Failure& failure) noexcept {
  try {
    if (comm == MPI_COMM_NULL || failure.happened()) return;
    const auto lock = lock_mpi(failure);
    MPI_Comm_free(&comm);
  } catch (const DistributedError&) {
  }
}

void check_mpi(int status, const char* what) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(status, text, &length);
  fail<Error>("mpi: ", what, ": ", std::string(text));
}

bool is_mpi_available() { return true; }

void set_up_mpi(Setup& setup, World& world) {
  start_mpi();
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  check((setup.rank < 0 || setup.rank == rank) && (setup.size < 0 || setup.size == size),
        "init_process_group: rank ", setup.rank, " of ", setup.size,
        " was asked for, and MPI has "
        "started this process as rank ",
        rank, " of ", size, "; start the ranks with mpirun or srun");
  setup.rank = rank;
  setup.size = size;
  const auto store = open_store(rank, size, setup.timeout);
  setup.store = store;
  watch_processes(setup, *store, world);
  latest_failure() = std::shared_ptr<Failure>(world.watch, &world.watch->failure());

  const auto end = [failure = latest_failure()](MPI_Comm* comm) {
    free_comm(*comm, *failure);
    delete comm;
  };
  const std::shared_ptr<MPI_Comm> all(new MPI_Comm(MPI_COMM_NULL), end);
  *all = made(*world.watch, "make the job's communicator", [] {
    MPI_Comm comm = MPI_COMM_NULL;
    check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &comm), "MPI_Comm_dup");
    return comm;
  });
  world.make_group = [all](ProcessGroup::Members members) -> Group {
    MPI_Comm comm = MPI_COMM_NULL;
    if (members.rank >= 0)
      comm = made(*members.watch, "make group '" + members.name + "'",
                  [job = *all, ranks = members.ranks] { return comm_of(job, ranks); });
    return share_group<MpiGroup>(std::move(members), comm);
  };
}

}  // namespace gradus::distributed
