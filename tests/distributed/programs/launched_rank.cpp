// launched_rank [--fail RANK] [--hang RANK] [OPTIONS]: a rank that meets the others as a rank of
// `nccl` does, by what the scripts of examples/launch say in the environment, and needs no GPU.
// Prints its rank and its options.
#include <unistd.h>

#include <cstring>
#include <iostream>
#include <sstream>

#include "gradus/distributed/environment.h"
#include "gradus/distributed/tcp_store.h"

namespace dist = gradus::distributed;

int main(int argc, char** argv) {
  try {
    const dist::Launch launch = dist::read_environment();
    std::ostringstream line;  // in one piece, as the ranks share the output
    line << "pid " << getpid() << ", rank " << launch.rank << " of " << launch.world_size
         << ", local " << launch.local_rank << ", token '" << launch.token << "':";
    for (int i = 1; i < argc; ++i) line << " " << argv[i];
    dist::TCPStore store(launch.address, launch.port, launch.rank == 0, std::chrono::seconds(20),
                         launch.token, launch.rank);
    std::cout << line.str() + "\n" << std::flush;
    const auto chosen = [&](const char* option) {
      for (int i = 1; i + 1 < argc; ++i)
        if (std::strcmp(argv[i], option) == 0 && std::atoi(argv[i + 1]) == launch.rank) return true;
      return false;
    };
    if (chosen("--hang")) sleep(1000);
    store.set(std::to_string(launch.rank), "here");
    for (int rank = 0; rank < launch.world_size; ++rank)
      if (!chosen("--fail")) store.wait({std::to_string(rank)});
    if (chosen("--fail")) return 7;
    // Rank 0 serves until every rank has seen all others.
    if (store.add("done", 1) == launch.world_size) store.set("all", "");
    store.wait({"all"});
    if (launch.rank == 0) sleep(1);
  } catch (const std::exception& error) {
    std::cerr << std::string("launched_rank: ") + error.what() + "\n";
    return 1;
  }
}
