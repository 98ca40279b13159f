// Every collective against its definition, for whatever backend the calling rank is in. All ranks
// call these.
#pragma once

#include "gradus/distributed/distributed.h"
#include "tests/support.h"

namespace gradus::test {

namespace dist = distributed;

// Values that identify their rank, in the range of every dtype.
inline Tensor pattern(int rank, IntArrayRef sizes, ScalarType dtype, Device device) {
  const int64_t count = numel_of(sizes);
  const Tensor values = (arange(count, kLong) * 3 + rank * 5) % 7 + 1;
  return values.to(dtype).reshape(sizes).to(device);
}

inline Tensor combined(dist::ReduceOp op, int size, IntArrayRef sizes, ScalarType dtype,
                       Device device) {
  using enum dist::ReduceOp;
  Tensor out = pattern(0, sizes, dtype, device).to(kDouble);
  for (int r = 1; r < size; ++r) {
    const Tensor next = pattern(r, sizes, dtype, device).to(kDouble);
    out = op == MIN       ? minimum(out, next)
          : op == MAX     ? maximum(out, next)
          : op == PRODUCT ? out * next
                          : out + next;
  }
  if (op == AVG) out = out / size;
  return out.to(dtype);
}

// Small whole numbers have exact sums; an average may be rounded once more than here.
inline void expect_same(const Tensor& got, const Tensor& expected, const std::string& what) {
  const double tolerance = got.dtype() == kBFloat16 ? 1e-2 : got.dtype() == kHalf ? 1e-3 : 1e-6;
  const bool same =
      isFloatingType(got.dtype()) ? allclose(got, expected, tolerance, 0.0) : equal(got, expected);
  EXPECT_TRUE(same) << what << ": " << got << " expected " << expected;
}

inline void check_reductions(int rank, int size, IntArrayRef sizes, ScalarType dtype,
                             Device device) {
  using enum dist::ReduceOp;
  for (const dist::ReduceOp op : {SUM, AVG, MIN, MAX, PRODUCT}) {
    if (op == AVG && !isFloatingType(dtype)) continue;
    if (op == PRODUCT && (size > 4 || dtype == kChar || dtype == kByte)) continue;
    const Tensor expected = combined(op, size, sizes, dtype, device);
    Tensor x = pattern(rank, sizes, dtype, device);
    dist::all_reduce(x, op);
    expect_same(x, expected, dist::name_of(op));
    const int dst = size - 1;
    x = pattern(rank, sizes, dtype, device);
    dist::reduce(x, dst, op);
    expect_same(x, rank == dst ? expected : pattern(rank, sizes, dtype, device), "reduce");
  }
  // reduce_scatter: row r of everyone goes to rank r.
  Dims all(sizes.data(), sizes.size());
  all.insert(0, size);
  const Tensor sums = combined(SUM, size, all, dtype, device);
  Tensor out = empty(sizes, TensorOptions(dtype).device(device));
  const Tensor in = pattern(rank, all, dtype, device);
  dist::reduce_scatter_tensor(out, in);
  expect_same(out, sums[rank], "reduce_scatter_tensor");
  expect_same(in, pattern(rank, all, dtype, device), "the input of reduce_scatter_tensor");
  Tensors parts;
  for (int r = 0; r < size; ++r) parts.push_back(in[r].clone());
  out.zero_();
  dist::reduce_scatter(out, parts, dist::ReduceOp::MAX);
  expect_same(out, combined(MAX, size, all, dtype, device)[rank], "reduce_scatter");
}

inline void check_movements(int rank, int size, IntArrayRef sizes, ScalarType dtype,
                            Device device) {
  const auto of = [&](int r) { return pattern(r, sizes, dtype, device); };
  const auto blank = [&] { return zeros(sizes, TensorOptions(dtype).device(device)); };
  const int last = size - 1;
  Tensor x = of(rank);
  dist::broadcast(x, last);
  expect_same(x, of(last), "broadcast");

  Tensors list;
  for (int r = 0; r < size; ++r) list.push_back(blank());
  dist::all_gather(list, of(rank));
  for (int r = 0; r < size; ++r) expect_same(list[r], of(r), "all_gather");
  Dims all(sizes.data(), sizes.size());
  all.insert(0, size);
  Tensor flat = zeros(all, TensorOptions(dtype).device(device));
  dist::all_gather_into_tensor(flat, of(rank));
  for (int r = 0; r < size; ++r) expect_same(flat[r], of(r), "all_gather_into_tensor");

  Tensors gathered;
  if (rank == last)
    for (int r = 0; r < size; ++r) gathered.push_back(blank());
  dist::gather(of(rank), gathered, last);
  for (size_t r = 0; r < gathered.size(); ++r)
    expect_same(gathered[r], of(static_cast<int>(r)), "gather");

  Tensors scattered;
  if (rank == 0)
    for (int r = 0; r < size; ++r) scattered.push_back(of(r + 3));
  x = blank();
  dist::scatter(x, scattered, 0);
  expect_same(x, of(rank + 3), "scatter");

  // Rank r sends of(10 r + s) to rank s.
  Tensors outputs, inputs;
  for (int r = 0; r < size; ++r) inputs.push_back(of(10 * rank + r)), outputs.push_back(blank());
  dist::all_to_all(outputs, inputs);
  for (int r = 0; r < size; ++r) expect_same(outputs[r], of(10 * r + rank), "all_to_all");
}

// Rank r sends r + s + 1 rows to rank s.
inline void check_uneven_exchange(int rank, int size, Device device) {
  std::vector<int64_t> sent, received;
  Tensors rows, expected;
  for (int s = 0; s < size; ++s) {
    sent.push_back(s == 0 ? 0 : rank + s + 1);
    received.push_back(rank == 0 ? 0 : s + rank + 1);
    rows.push_back(full({sent.back(), 2}, 10.0 * rank + s));
    expected.push_back(full({received.back(), 2}, 10.0 * s + rank));
  }
  const Tensor in = cat(rows).to(device);
  Tensor out = zeros_like(cat(expected)).to(device);
  dist::all_to_all_single(out, in, received, sent);
  expect_same(out, cat(expected).to(device), "all_to_all_single with sizes");
  const Tensor even = pattern(rank, {2 * size, 3}, kFloat, device);
  Tensor swapped = zeros_like(even);
  dist::all_to_all_single(swapped, even);
  for (int r = 0; r < size; ++r)
    expect_same(swapped.narrow(0, 2 * r, 2),
                pattern(r, {2 * size, 3}, kFloat, device).narrow(0, 2 * rank, 2),
                "all_to_all_single");
}

inline void check_messages(int rank, int size, Device device) {
  if (size < 2) return;
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  // Both directions at once, and tags out of order.
  Tensor a = zeros({3}).to(device), b = zeros({2}).to(device);
  const auto first = dist::irecv(a, left, nullptr, 1);
  const auto second = dist::irecv(b, left, nullptr, 2);
  const auto sent2 = dist::isend(full({2}, rank + 0.5).to(device), right, nullptr, 2);
  const auto sent1 = dist::isend(full({3}, 1.0 * rank).to(device), right, nullptr, 1);
  for (const auto& work : {second, first, sent1, sent2}) EXPECT_TRUE(work->wait());
  EXPECT_TRUE(first->is_completed());
  EXPECT_EQ(first->exception(), nullptr);
  EXPECT_EQ(first->source_rank(), left);
  expect_values(a, {1.0 * left, 1.0 * left, 1.0 * left});
  expect_values(b, {left + 0.5, left + 0.5});
  dist::barrier();
  // From anyone.
  if (rank == 0) {
    double sum = 0;
    for (int i = 1; i < size; ++i) {
      Tensor x = zeros({1}, kLong).to(device);
      const int from = dist::recv(x, -1, nullptr, 5);
      EXPECT_EQ(x.item<int64_t>(), 100 + from);
      sum += from;
    }
    EXPECT_EQ(sum, size * (size - 1) / 2);
  } else {
    dist::send(full({1}, 100 + rank, kLong).to(device), 0, nullptr, 5);
  }
}

// Several calls at once end in order, whatever the caller does meanwhile.
inline void check_async(int rank, int size, Device device) {
  Tensors xs;
  std::vector<dist::WorkPtr> works;
  for (int i = 0; i < 6; ++i) {
    xs.push_back(full({5 + i}, 1.0 * rank + i).to(device));
    works.push_back(dist::all_reduce(xs.back(), dist::ReduceOp::SUM, nullptr, true));
  }
  for (int i = 5; i >= 0; --i) {
    works[i]->wait();
    expect_same(xs[i], full({5 + i}, size * i + size * (size - 1) / 2.0).to(device), "async");
  }
  for (const auto& work : works) EXPECT_EQ(work->exception(), nullptr);
}

// The even and the odd ranks, and one in reverse order.
inline void check_groups(int rank, int size, Device device) {
  std::vector<int> even, odd, reversed;
  for (int r = 0; r < size; ++r) {
    (r % 2 ? odd : even).push_back(r);
    reversed.insert(reversed.begin(), r);
  }
  const dist::Group evens = dist::new_group(even);
  const dist::Group odds = odd.empty() ? nullptr : dist::new_group(odd);
  const dist::Group back = dist::new_group(reversed);
  const dist::Group& mine = rank % 2 ? odds : evens;
  EXPECT_EQ(dist::get_rank(mine), rank / 2);
  EXPECT_EQ(dist::get_world_size(mine), static_cast<int>((rank % 2 ? odd : even).size()));
  EXPECT_EQ(dist::get_rank(back), size - 1 - rank);
  if (rank % 2) {
    EXPECT_EQ(dist::get_rank(evens), -1);
    Tensor x = ones({1}).to(device);
    expect_error<ValueError>([&] { dist::all_reduce(x, dist::ReduceOp::SUM, evens); },
                             "is not in group");
  }
  Tensor x = full({3}, 1.0 * rank).to(device);
  dist::all_reduce(x, dist::ReduceOp::SUM, mine);
  double sum = 0;
  for (int r = rank % 2; r < size; r += 2) sum += r;
  expect_values(x, {sum, sum, sum});
  Tensors list;
  for (int r = 0; r < size; ++r) list.push_back(zeros({1}).to(device));
  dist::all_gather(list, full({1}, 1.0 * rank).to(device), back);
  for (int r = 0; r < size; ++r) expect_values(list[r], {size - 1.0 - r});
  Tensor y = full({1}, 1.0 * rank).to(device);
  dist::broadcast(y, 0, back);
  expect_values(y, {0});
  dist::destroy_process_group(back);
}

// All ranks of the backend get the same bits from sums that round.
inline void check_bits(int rank, int size, Device device) {
  manual_seed(100 + rank);
  const Tensor x = randn({1000}).to(device);
  dist::all_reduce(x);
  Tensor all = zeros({size, 1000}).to(device);
  dist::all_gather_into_tensor(all, x);
  for (int r = 0; r < size; ++r) EXPECT_TRUE(equal(all[r], x)) << r;
}

}  // namespace gradus::test
