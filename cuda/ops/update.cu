// The step of an optimizer on a GPU: a table of parameters for each launch.
#include "gradus/cuda/kernels/update.cuh"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "gradus/cuda/backend.h"
#include "gradus/cuda/runtime/grid.h"
#include "gradus/cuda/runtime/nonfinite.h"

namespace gradus::cuda {

namespace {

// Bytes of a kernel's arguments: as many as there may be, and few that are quick to pass.
constexpr size_t kAllArguments = 32764, kFewArguments = 4096;

// One launch. REQUIRES: at most `capacity` parameters.
template <UpdateOp op, int states, class T, bool gated, int capacity>
void launch_step(ArrayRef<UpdatedParameter> parameters) {
  UpdateTable<UpdateRow<op, states, T, gated>, capacity> table;
  if constexpr (gated) {
    table.found_inf = parameters[0].found_inf.data_ptr<double>();
    table.skipped = parameters[0].skipped.data_ptr<double>();
  }
  table.nonfinite = nonfinite_update(parameters[0].parameter.device().index());
  unsigned blocks = 0;
  for (const UpdatedParameter& one : parameters) {
    UpdateRow<op, states, T, gated>& row = table.rows[table.count++];
    row.numel = one.parameter.numel();
    row.parameter = static_cast<T*>(one.parameter.data_ptr());
    row.gradient = static_cast<const T*>(one.gradient.data_ptr());
    for (int k = 0; k < states; ++k) row.state[k] = static_cast<T*>(one.states[k].data_ptr());
    row.coefficients =
        coefficients_of<op, std::conditional_t<gated, double, T>>(one.coefficients.data());
    row.fresh = one.fresh;
    blocks += static_cast<unsigned>(ceil_div(row.numel, int64_t{kUpdateChunk}));
    table.first_block[table.count] = blocks;
  }
  const Context context(parameters[0].parameter);
  launch_pdl(update_kernel<op, states, T, gated, capacity>,
             {dim3(blocks), kUpdateThreads, 0, context.stream}, table);
}

template <UpdateOp op, int states, class T, bool gated>
void step(ArrayRef<UpdatedParameter> parameters) {
  using Row = UpdateRow<op, states, T, gated>;
  constexpr size_t few = rows_within<Row>(kFewArguments), most = rows_within<Row>(kAllArguments);
  static_assert(sizeof(UpdateTable<Row, most>) <= kAllArguments);
  for (size_t begin = 0, count; begin < parameters.size(); begin += count) {
    count = std::min(parameters.size() - begin, most);
    const auto batch = parameters.slice(begin, count);
    count <= few ? launch_step<op, states, T, gated, few>(batch)
                 : launch_step<op, states, T, gated, most>(batch);
  }
}

// Calls step(parameters), or step() of some after the others. Gradients that are still on their way
// (tensor/arrival.h) come last, in the order in which a backward pass goes through the layers, and
// the other parameters are stepped meanwhile. A part has at least half of the bytes that are left,
// so that there are few: each costs a launch.
template <class F>
void step_as_gradients_arrive(ArrayRef<UpdatedParameter> parameters, F step) {
  const auto storage = [](const UpdatedParameter& one) {
    return one.gradient.impl().storage.get();
  };
  const auto is_late = [&](const UpdatedParameter& one) { return storage(one)->is_arriving(); };
  if (std::none_of(parameters.begin(), parameters.end(), is_late)) return step(parameters);
  std::vector<UpdatedParameter> order(parameters.rbegin(), parameters.rend());
  std::stable_partition(order.begin(), order.end(), std::not_fn(is_late));
  const ArrayRef<UpdatedParameter> all(order);
  size_t left = 0, bytes = 0, begin = 0;
  for (const UpdatedParameter& one : order) left += one.gradient.nbytes();
  for (size_t i = 0; i < order.size(); ++i) {
    const bool waits = i > 0 && is_late(order[i]) && storage(order[i]) != storage(order[i - 1]);
    if (waits && 2 * bytes >= left) {
      step(all.slice(begin, i - begin));
      left -= std::exchange(bytes, 0);
      begin = i;
    }
    bytes += order[i].gradient.nbytes();
  }
  step(all.slice(begin, order.size() - begin));
}

}  // namespace

void CudaBackend::update(UpdateOp op, int states, ArrayRef<UpdatedParameter> parameters) {
  visit_update(op, states, [&](auto row, auto count) {
    visit_floating("update", parameters[0].parameter.dtype(), [&]<class T>(TypeTag<T>) {
      step_as_gradients_arrive(parameters, [&](ArrayRef<UpdatedParameter> some) {
        some[0].found_inf.defined() ? step<row(), count(), T, true>(some)
                                    : step<row(), count(), T, false>(some);
      });
    });
  });
}

}  // namespace gradus::cuda
