// Rank, size and address from the variables of torchrun, Slurm and MPI launchers.
#include "gradus/distributed/environment.h"

#include <cstdlib>

#include "gradus/distributed/net/frame.h"
#include "gradus/tensor/base/error.h"

namespace gradus::distributed {

namespace {

constexpr int kDefaultPort = 29500;

struct Launcher {
  const char *name, *rank, *world_size, *local_rank, *local_size;
  // The evidence that there is one machine only: local_size is the world size, or 1 machine is
  // counted.
  const char* machines;
};
constexpr Launcher kLaunchers[] = {
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", nullptr},
    {"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE", nullptr},
    {"srun", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", nullptr, "SLURM_NNODES"},
};

int number_in(const std::string& what, const std::string& text, int64_t low, int64_t high) {
  int64_t number = 0;
  check(read_number(text, number) && number >= low && number <= high, "init_process_group: ", what,
        " is '", text, "'; expected a whole number from ", low, " to ", high);
  return static_cast<int>(number);
}

class Reader {
 public:
  Reader(const Variables& variables, const Launcher& launcher)
      : variables_(variables), launcher_(launcher) {}

  const char* find(const char* name) const { return name ? variables_(name) : nullptr; }
  int number(const char* name, int64_t low, int64_t high) const {
    const char* text = find(name);
    check(text != nullptr, "init_process_group: the environment variable ", name,
          " is missing, which ", launcher_.name, " sets; start the ranks with it, or set ", name);
    return number_in(std::string("the environment variable ") + name, text, low, high);
  }
  bool on_one_machine(int world_size) const {
    if (find(launcher_.machines)) return number(launcher_.machines, 1, INT32_MAX) == 1;
    return find(launcher_.local_size) && number(launcher_.local_size, 1, INT32_MAX) == world_size;
  }

 private:
  const Variables& variables_;
  const Launcher& launcher_;
};

}  // namespace

Launch read_environment(const Variables& variable) {
  for (const Launcher& launcher : kLaunchers) {
    const Reader reader(variable, launcher);
    if (!reader.find(launcher.rank)) continue;
    Launch launch;
    launch.world_size = reader.number(launcher.world_size, 1, INT32_MAX);
    launch.rank = reader.number(launcher.rank, 0, launch.world_size - 1);
    if (reader.find(launcher.local_rank))
      launch.local_rank = reader.number(launcher.local_rank, 0, launch.world_size - 1);
    const bool local = reader.on_one_machine(launch.world_size);
    const char* address = reader.find("MASTER_ADDR");
    check((address && *address) || local,
          "init_process_group: the environment variable MASTER_ADDR is ",
          address ? "empty" : "missing", "; set it to the address of rank 0's machine");
    launch.address = address && *address ? address : "127.0.0.1";
    launch.port = reader.find("MASTER_PORT") || !local ? reader.number("MASTER_PORT", 1, 65535)
                                                       : kDefaultPort;
    if (const char* token = reader.find("GRADUS_JOB_TOKEN")) launch.token = token;
    return launch;
  }
  fail<ValueError>(
      "init_process_group: the environment names no rank: neither RANK (torchrun), "
      "OMPI_COMM_WORLD_RANK (mpirun) nor SLURM_PROCID (srun) is set; start the program "
      "with one of these, or give init_method, world_size and rank");
}

Launch read_environment() {
  return read_environment([](const char* name) { return std::getenv(name); });
}

Launch read_url(const std::string& url, int rank, int world_size) {
  const std::string scheme = "tcp://";
  const size_t colon = url.rfind(':');
  check(url.starts_with(scheme) && colon != std::string::npos && colon > scheme.size(),
        "init_process_group: init_method is '", url, "'; expected env:// or tcp://HOST:PORT");
  Launch launch;
  launch.rank = rank;
  launch.world_size = world_size;
  launch.address = url.substr(scheme.size(), colon - scheme.size());
  launch.port = number_in("the port of init_method '" + url + "'", url.substr(colon + 1), 1, 65535);
  if (const char* token = std::getenv("GRADUS_JOB_TOKEN")) launch.token = token;
  return launch;
}

}  // namespace gradus::distributed
