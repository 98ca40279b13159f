// The CPU as a device: everything is done at once, by the functions of module 1.
#include <algorithm>

#include "core/cpu.h"
#include "core/devices.h"

namespace course {

namespace {

Layout line(long n) { return {1, {n}, {1}}; }
constexpr Layout kOne{1, {1}, {0}};  // a number for all elements

class HostDevice final : public Device {
 public:
  float* allocate(long count) override { return new float[static_cast<size_t>(count)]; }
  void release(float* memory) override { delete[] memory; }
  void upload(float* to, const float* from, long count) override { std::copy_n(from, count, to); }
  void download(float* to, const float* from, long count) override { std::copy_n(from, count, to); }

  void zero(float* out, long n) override { std::fill_n(out, n, 0.0f); }
  void map(Op1 op, float* out, const float* x, long n) override { cpu::map(op, out, line(n), x, line(n)); }
  void zip(Op2 op, float* out, Layout out_at, const float* x, Layout x_at, const float* y, Layout y_at) override {
    cpu::zip(op, out, out_at, x, x_at, y, y_at);
  }
  void copy(float* out, Mat x, long m, long n) override {
    cpu::map(Op1::identity, out, {2, {m, n}, {n, 1}}, x.data, {2, {m, n}, {x.row, x.column}});
  }
  void matmul(float* out, Mat a, Mat b, long m, long n, long k) override {
    cpu::matmul(out, a, b, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k));
  }
  void sum_rows(float* out, Mat x, long m, long n) override {
    cpu::reduce(Op2::add, 0, out, {2, {1, n}, {n, 1}}, x.data, {2, {m, n}, {x.row, x.column}}, 0);
  }

  void mse(float* loss, float* gradient, const float* y, const float* target, long n) override {
    std::vector<float> off(static_cast<size_t>(n));
    const float share = 1.0f / static_cast<float>(n), twice = 2 * share;
    cpu::zip(Op2::sub, off.data(), line(n), y, line(n), target, line(n));
    if (gradient != nullptr) cpu::zip(Op2::mul, gradient, line(n), off.data(), line(n), &twice, kOne);
    cpu::map(Op1::square, off.data(), line(n), off.data(), line(n));
    cpu::reduce(Op2::add, 0, loss, line(1), off.data(), line(n), 0);
    *loss *= share;
  }

  void sgd(const Params& params, const Sgd& sgd, bool first_step) override {
    for (int i = 0; i < params.count; ++i) {
      const Param& p = params.list[i];
      const Layout all = line(p.size);
      std::vector<float> memory(static_cast<size_t>(p.size));
      float* const d = memory.data();
      cpu::zip(Op2::mul, d, all, p.weight, all, &sgd.weight_decay, kOne);
      cpu::zip(Op2::add, d, all, p.gradient, all, d, all);
      if (sgd.momentum != 0 && !first_step) {
        cpu::zip(Op2::mul, p.velocity, all, p.velocity, all, &sgd.momentum, kOne);
        cpu::zip(Op2::add, d, all, p.velocity, all, d, all);
      }
      if (sgd.momentum != 0) cpu::map(Op1::identity, p.velocity, all, d, all);
      cpu::zip(Op2::mul, d, all, d, all, &sgd.lr, kOne);
      cpu::zip(Op2::sub, p.weight, all, p.weight, all, d, all);
    }
  }
};

}  // namespace

Device& host_device() {
  static HostDevice device;
  return device;
}

}  // namespace course
