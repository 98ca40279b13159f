// Starts the attention of one query for each head: lanes that share a key, and parts of the keys.
#include "gradus/cuda/kernels/decoding/attention_one_query.cuh"
#include "gradus/cuda/kernels/decoding/attention_shared_keys.cuh"

#include <algorithm>

#include "gradus/cuda/ops/attention/attention.cuh"
#include "gradus/cuda/ops/attention/attention_wgmma.h"
#include "gradus/cuda/ops/matmul/wgmma.h"
#include "gradus/cuda/runtime/block_counters.h"

namespace gradus::cuda {

namespace {

// Rows begin where loads of 16 bytes may, and are as wide as some of these.
bool has_wide_rows(const Tensor& x) {
  const int64_t unit = 16 / static_cast<int64_t>(x.element_size());
  bool wide = x.stride(3) == 1 && x.size(3) % unit == 0 && x.size(3) <= kOneQueryWidth &&
              reinterpret_cast<uintptr_t>(x.data_ptr()) % 16 == 0;
  for (int64_t d = 0; d < 3; ++d) wide = wide && (x.size(d) == 1 || x.stride(d) % unit == 0);
  return wide;
}

// Into how many parts the keys of each group of heads are cut, so that there is one round of
// blocks.
struct Cut {
  int64_t groups, parts, size;
  Scratch partial;

  // blocks: of a multiprocessor. queries: of a group.
  template <class T>
  Cut(const Context& context, AttentionArgs<T, float>& args, int64_t of, int64_t queries,
      int64_t blocks)
      : groups(of),
        parts(parts_of(context, args, blocks)),
        size(ceil_div(args.keys, parts)),
        partial(parts > 1
                    ? sizeof(float) * kPartFloats * static_cast<size_t>(queries * groups * parts)
                    : 0) {}
  LaunchConfig config(const Context& context) const {
    return {dim3(static_cast<unsigned>(groups * parts)), kOneQueryThreads, 0, context.stream};
  }
  unsigned* counters() const { return parts > 1 ? block_counters() : nullptr; }

 private:
  template <class T>
  int64_t parts_of(const Context& context, AttentionArgs<T, float>& args, int64_t blocks) const {
    // A query that is before all others sees one key of a causal mask.
    if (args.causal) args.keys = std::min<int64_t>(args.keys, 1);
    constexpr int64_t kLeast = 128;  // keys of a part
    const int64_t fit = groups > kBlockCounters
                            ? 1
                            : std::clamp<int64_t>(blocks * context.multiprocessors / groups, 1, 64);
    const int64_t most = std::min(fit, std::max<int64_t>(args.keys / kLeast, 1));
    return ceil_div(args.keys, ceil_div(args.keys, most));
  }
};

// groups: of kQueries heads each.
template <class T, int kSharing, int kQueries>
void run(const Context& context, AttentionArgs<T, float> args, int64_t groups, const Tensor& out,
         const Tensor& log_sums) {
  const Cut cut(context, args, groups, kQueries, kOneQueryBlocks<kQueries>);
  launch_pdl(attention_one_query<T, kSharing, kQueries>, cut.config(context), args,
             static_cast<int>(cut.parts), static_cast<int>(cut.size),
             static_cast<T*>(out.data_ptr()), log_sums.data_ptr<float>(), cut.partial.as<float>(),
             cut.counters());
}

// By tensor cores, for heads that share keys.
template <class T, int kWidth>
void run_shared(const Context& context, AttentionArgs<T, float> args, int64_t heads,
                const Tensor& out, const Tensor& log_sums) {
  int64_t queries = kMostSharing;
  while (args.sharing % queries != 0) --queries;
  const Cut cut(context, args, heads / queries, queries, kSharedKeysBlocks<kWidth>);
  launch_pdl(attention_shared_keys<T, kWidth>, cut.config(context), args, static_cast<int>(queries),
             static_cast<int>(cut.parts), static_cast<int>(cut.size),
             static_cast<T*>(out.data_ptr()), log_sums.data_ptr<float>(), cut.partial.as<float>(),
             cut.counters());
}

}  // namespace

bool one_query_attention(const Attention& how, const Tensor& q, const Tensor& k, const Tensor& v,
                         const Tensor& mask, const Tensor& out, const Tensor& log_sums) {
  constexpr int64_t kMost = 1 << 24;  // heads, and keys, are counted in int
  const int64_t heads = q.size(0) * q.size(1);
  if (q.size(2) != 1 || how.dropout > 0 || heads > kMost || k.size(2) > kMost ||
      !has_wide_rows(q) || !has_wide_rows(k) || !has_wide_rows(v))
    return false;
  const Context context(out);
  // Where heads are many and long, wgmma's copies are further ahead of its products. wgmma reads
  // shared keys several times.
  constexpr int64_t kLong = 1024;
  const int64_t sharing = q.size(1) / k.size(1);
  if (sharing == 1 && q.dtype() != kFloat && !mask.defined() && heads >= context.multiprocessors &&
      k.size(2) >= kLong && has_wgmma())
    return false;
  const bool narrow = std::max(q.size(3), v.size(3)) <= 64;
  const auto start = [&]<class T>(TypeTag<T>) {
    auto args = attention_args<T, float>(how, q, k, v, mask);
    read_steps(args.out_step, out);
    constexpr int kUnit = 16 / sizeof(T);
    const auto with = [&]<int kQueries>(Constant<kQueries>) {
      narrow ? run<T, 64 / kUnit, kQueries>(context, args, heads / kQueries, out, log_sums)
             : run<T, 128 / kUnit, kQueries>(context, args, heads / kQueries, out, log_sums);
    };
    if constexpr (is_half<T>) {
      if (sharing > 1 && q.size(3) == v.size(3) && (q.size(3) == 64 || q.size(3) == 128))
        return narrow ? run_shared<T, 64>(context, args, heads, out, log_sums)
                      : run_shared<T, 128>(context, args, heads, out, log_sums);
    }
    if (sharing % 4 == 0) return with(Constant<4>{});
    sharing % 2 == 0 ? with(Constant<2>{}) : with(Constant<1>{});
  };
  if (q.dtype() == kFloat)
    start(TypeTag<float>{});
  else
    q.dtype() == kHalf ? start(TypeTag<Half>{}) : start(TypeTag<BFloat16>{});
  return true;
}

bool by_special_kernels(const Attention& how, const Tensor& q, const Tensor& k, const Tensor& v,
                        const Tensor& mask, const Tensor& out, const Tensor& log_sums) {
  return !gradus::detail::batch_invariant() &&
         (one_query_attention(how, q, k, v, mask, out, log_sums) ||
          wgmma_attention(how, q, k, v, mask, out, log_sums));
}

}  // namespace gradus::cuda
