// The start of a job of GPUs.
#include <cuda_runtime_api.h>
#include <unistd.h>

#include <cstdlib>

#include "gradus/cuda/runtime/device.h"
#include "gradus/distributed/init.h"
#include "gradus/distributed/nccl/nccl_group.h"
#include "gradus/distributed/world.h"

namespace gradus::distributed {

namespace {

// NCCL cannot work where two ranks have one GPU.
void claim_device(int device, const Setup& setup) {
  char bus[64] = {}, host[256] = {};
  const cudaError_t status = cudaDeviceGetPCIBusId(bus, sizeof bus, device);
  check<Error>(status == cudaSuccess, "init_process_group: cudaDeviceGetPCIBusId of cuda:", device,
               ": ", cudaGetErrorString(status), "; choose a GPU of this machine by LOCAL_RANK");
  gethostname(host, sizeof host - 1);
  const std::string gpu = std::string(host) + " " + bus, me = std::to_string(setup.rank);
  const std::string owner = setup.store->compare_set("nccl/gpu " + gpu, "", me);
  if (owner != me)
    refuse(*setup.store,
           "init_process_group: ranks " + owner + " and " + me + " have the same GPU, " + gpu +
               "; start the ranks with LOCAL_RANK = 0, 1, ..., or call cuda::set_device first");
}

}  // namespace

bool is_nccl_available() { return true; }

void set_up_nccl(Setup& setup, World& world) {
  setenv("NCCL_NVLS_ENABLE", "0", 0);  // no multicast between GPUs, unless somebody asks for it
  const auto store = open_tcp_store(setup);
  setup.store = store;
  const bool is_chosen = cuda::current_device() != 0 || setup.local_rank >= cuda::device_count();
  const int device = is_chosen ? cuda::current_device() : setup.local_rank;
  claim_device(device, setup);
  watch_processes(setup, *store, world);
  world.make_group = [device, store](ProcessGroup::Members members) -> Group {
    return share_group<NcclGroup>(std::move(members), device, store);
  };
}

}  // namespace gradus::distributed
