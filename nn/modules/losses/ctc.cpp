// ctc_loss: the forward recursion over the labels with blanks between them, in logarithms
// (Graves et al., Connectionist Temporal Classification, 2006).
#include <numeric>

#include "gradus/autograd/engine/cast_operands.h"
#include "gradus/autograd/engine/one_node.h"
#include "gradus/nn/modules/losses/parts.h"

namespace gradus::nn::functional {

using namespace detail;

namespace {

// The logarithm of a probability of 0: finite, so that derivatives are.
constexpr double kNever = -1e30;

std::vector<int64_t> lengths_of(const char* name, const Tensor& lengths, int64_t batch,
                                int64_t most, const char* of_what) {
  check<TypeError>(isIntegralType(lengths.scalar_type(), false), "ctc_loss: ", name,
                   " must be integral, and has dtype ", lengths.dtype(),
                   "; convert with .to(kLong)");
  check(lengths.dim() <= 1 && lengths.numel() == batch, "ctc_loss: ", name, " has shape ",
        lengths.sizes(), ", expected a length for each of ", batch, " sequences");
  const Tensor here = lengths.to(Device(kCPU), kLong).contiguous();
  std::vector<int64_t> out(here.data_ptr<int64_t>(), here.data_ptr<int64_t>() + batch);
  for (const int64_t length : out)
    check(length >= 0 && length <= most, "ctc_loss: ", name, " holds ", length,
          ", expected a length of 0 to ", most, ", ", of_what);
  return out;
}

// The labels as the recursion reads them. State 2 i + 1 is label i, even states are blanks.
struct States {
  Tensor labels;     // (N, S): the class of each state
  Tensor skips;      // (N, S): 0 where the blank before a state may be left out, else kNever
  Tensor last;       // (N, 2): the states in which a sequence may end
  Tensor last_adds;  // (N, 2): kNever where there is only one
};

States states_of(const Tensor& targets, const std::vector<int64_t>& lengths, int64_t blank,
                 int64_t classes) {
  const auto batch = static_cast<int64_t>(lengths.size());
  const int64_t most = batch == 0 ? 0 : *std::max_element(lengths.begin(), lengths.end());
  const Tensor here = targets.to(Device(kCPU), kLong).contiguous();
  const int64_t* label = here.data_ptr<int64_t>();
  States out = {full({batch, 2 * most + 1}, blank, kLong),
                full({batch, 2 * most + 1}, kNever, kFloat), zeros({batch, 2}, kLong),
                zeros({batch, 2}, kFloat)};
  auto labels = out.labels.accessor<int64_t, 2>(), last = out.last.accessor<int64_t, 2>();
  auto skips = out.skips.accessor<float, 2>(), last_adds = out.last_adds.accessor<float, 2>();
  for (int64_t n = 0; n < batch; ++n) {
    const int64_t length = lengths[static_cast<size_t>(n)];
    for (int64_t i = 0; i < length; ++i) {
      check<IndexError>(label[i] >= 0 && label[i] < classes, "ctc_loss: target ", label[i],
                        " is no class, expected 0 <= target < ", classes);
      labels[n][2 * i + 1] = label[i];
      if (i > 0 && label[i] != label[i - 1]) skips[n][2 * i + 1] = 0;
    }
    last[n][0] = 2 * length;
    last[n][1] = std::max<int64_t>(2 * length - 1, 0);
    if (length == 0) last_adds[n][1] = static_cast<float>(kNever);
    label += targets.dim() == 2 ? targets.size(1) : length;
  }
  return out;
}

// The number of the state `by` states before, for each state.
Tensor moved(const Tensor& x, int64_t by) {
  const int64_t some = std::min(by, x.size(1));
  return cat({full({x.size(0), some}, kNever, x.options()), x.narrow(1, 0, x.size(1) - some)}, 1);
}

}  // namespace

Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, const CTCLossOptions& options) {
  GRADUS_AUTOCAST(ctc_loss, log_probs, targets, input_lengths, target_lengths, options);
  const char* op = "ctc_loss";
  check_defined(op, {{"log_probs", log_probs},
                     {"targets", targets},
                     {"input_lengths", input_lengths},
                     {"target_lengths", target_lengths}});
  check(log_probs.dim() == 2 || log_probs.dim() == 3, op, ": log_probs has shape ",
        log_probs.sizes(), ", expected (T, N, C) or (T, C); reshape it");
  const bool one = log_probs.dim() == 2;
  const Tensor logs = as_computed(one ? log_probs.unsqueeze(1) : log_probs).clamp_min(kNever);
  const int64_t steps = logs.size(0), batch = logs.size(1), classes = logs.size(2);
  check<TypeError>(isIntegralType(targets.scalar_type(), false), op, ": targets has dtype ",
                   targets.dtype(), ", expected class numbers; convert with .to(kLong)");
  check(targets.dim() == 1 || (targets.dim() == 2 && targets.size(0) == batch), op,
        ": targets has shape ", targets.sizes(), ", expected (", batch,
        ", S), or one dimension with all labels; reshape it");
  check(options.blank() >= 0 && options.blank() < classes, op, ": blank is ", options.blank(),
        ", expected a class, 0 <= blank < ", classes);
  const auto times =
      lengths_of("input_lengths", input_lengths, batch, steps, "the size of log_probs");
  const auto lengths = lengths_of("target_lengths", target_lengths, batch, targets.size(-1),
                                  "the labels of targets");
  const int64_t sum = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
  check(targets.dim() == 2 || sum == targets.size(0), op, ": target_lengths sum to ", sum,
        ", targets has ", targets.size(0), " labels; they must agree");

  const States states = states_of(targets, lengths, options.blank(), classes);
  const Tensor labels = states.labels.to(logs.device()), skips = states.skips.to(logs.options());
  const Tensor lasting = tensor(times).to(logs.device()).unsqueeze(1);
  // The probability of all ways to a state. No way has left the first blank before the first step.
  Tensor ways = full(labels.sizes(), kNever, logs.options());
  ways.select(1, 0).fill_(0);
  const Tensors rows = logs.unbind(0);
  for (int64_t t = 0; t < steps; ++t) {
    const Tensor from = logaddexp(logaddexp(ways, moved(ways, 1)), moved(ways, 2) + skips);
    ways = where(lasting > t, from + rows[static_cast<size_t>(t)].gather(1, labels), ways);
  }
  const Tensor ends =
      ways.gather(1, states.last.to(logs.device())) + states.last_adds.to(logs.options());
  const Tensor sure = -logaddexp(ends.select(1, 0), ends.select(1, 1));
  Tensor losses = where(sure > -kNever / 2, options.zero_infinity() ? 0 : INFINITY, sure);
  if (options.reduction() == kMean)
    losses = losses / tensor(lengths).clamp_min(1).to(logs.options());
  if (one) losses = losses.squeeze(0);
  return reduced(op, losses, options.reduction()).to(log_probs.scalar_type());
}

}  // namespace gradus::nn::functional
