// Batches that several ranks share: inference with the bits of one rank, gradients that do not
// depend on the devices. docs/reproducibility.md names these tests.
#include <cstring>

#include "gradus/distributed/distributed.h"
#include "gradus/distributed/world.h"
#include "tests/invariantly.h"
#include "tests/support.h"

namespace gradus {
namespace {

namespace dist = distributed;
using nn::parallel::DistributedDataParallel;

bool have_same_bits(const Tensor& a, const Tensor& b) {
  const Tensor x = a.detach().cpu().contiguous(), y = b.detach().cpu().contiguous();
  return x.sizes() == y.sizes() && std::memcmp(x.data_ptr(), y.data_ptr(), x.nbytes()) == 0;
}

// The device of a rank where `used` devices are shared; the CPU where there are none.
Device shared_device(int rank, int used) {
  return used == 0 ? Device(kCPU) : Device(kCUDA, static_cast<DeviceIndex>(rank % used));
}
std::vector<int> numbers_of_devices() {
  std::vector<int> out{0};
  for (const int used : {1, 2, 4})
    if (used <= cuda::device_count()) out.push_back(used);
  return out;
}

nn::Sequential rank_net() {
  return nn::Sequential(nn::Linear(20, 40), nn::LayerNorm(nn::LayerNormOptions({40})), nn::ReLU(),
                        nn::Linear(40, 40), nn::GELU(), nn::Linear(40, 3));
}
// The same weights at every call.
nn::Sequential rank_net(const nn::Sequential& like, Device device) {
  nn::Sequential out = rank_net();
  out->load_state_dict(like->state_dict());
  out->to(device), out->eval();
  return out;
}

TEST(BatchInvariantRanks, InferenceHasTheSameBitsOn1And2And4Ranks) {
  const Invariantly on;
  manual_seed(1);
  const nn::Sequential net = rank_net();
  const Tensor x = randn({12, 20});
  for (const int used : numbers_of_devices()) {
    Tensors wholes;
    for (const int ranks : {1, 2, 4}) {
      Tensors parts(static_cast<size_t>(ranks));
      dist::spawn_threads(ranks, [&](int rank) {
        const NoGradGuard guard;
        const Device device = shared_device(rank, used);
        nn::Sequential own = rank_net(net, device);
        parts[static_cast<size_t>(rank)] = own->forward(x.chunk(ranks)[rank].to(device)).cpu();
      });
      wholes.push_back(cat(parts));
      EXPECT_TRUE(have_same_bits(wholes.back(), wholes[0])) << ranks << " ranks, " << used;
    }
  }
}

// The gradients of a step of so many ranks, which each have some rows of x: one tensor for a rank.
Tensors gradients(int ranks, int used, const nn::Sequential& net, const Tensor& x) {
  Tensors out(static_cast<size_t>(ranks));
  dist::spawn_threads(ranks, [&](int rank) {
    const Device device = shared_device(rank, used);
    nn::Sequential own = rank_net(net, device);
    DistributedDataParallel model(own);
    model(x.chunk(ranks)[rank].to(device)).square().mean().backward();
    Tensors flat;
    for (const Tensor& w : own->parameters()) flat.push_back(w.grad().cpu().flatten());
    out[static_cast<size_t>(rank)] = cat(flat);
  });
  return out;
}

TEST(BatchInvariantRanks, GradientsOf4RanksHaveTheSameBitsOn1And2And4Devices) {
  manual_seed(2);
  const nn::Sequential net = rank_net();
  const Tensor x = randn({12, 20});
  Tensor on_devices;
  for (const int used : numbers_of_devices()) {
    const Tensors grads = gradients(4, used, net, x), again = gradients(4, used, net, x);
    for (const Tensors& of : {grads, again})
      for (const Tensor& grad : of) EXPECT_TRUE(have_same_bits(grad, grads[0])) << used;
    if (used == 1) on_devices = grads[0];
    if (used > 1) {
      EXPECT_TRUE(have_same_bits(grads[0], on_devices)) << used;
    }
  }
}

TEST(BatchInvariantRanks, GradientsOf2RanksAreTheMeanOfTwoShards) {
  manual_seed(3);
  const nn::Sequential net = rank_net();
  const Tensor x = randn({12, 20});
  Tensors shards;
  for (const Tensor& shard : x.chunk(2)) {
    nn::Sequential own = rank_net(net, kCPU);
    own->forward(shard).square().mean().backward();
    Tensors flat;
    for (const Tensor& w : own->parameters()) flat.push_back(w.grad().flatten());
    shards.push_back(cat(flat));
  }
  EXPECT_TRUE(have_same_bits(gradients(2, 0, net, x)[0], (shards[0] + shards[1]) / 2));
}

}  // namespace
}  // namespace gradus
