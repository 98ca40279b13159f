// VirtualDevice: a course::Device on the host that checks every access, counts what it is asked to do, and,
// like a GPU, does nothing before somebody waits. Its memory has addresses that the host cannot read.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/training.h"

class VirtualDevice final : public course::Device {
 public:
  enum class Kind { gpu, cpu };  // a CPU works at once, and in memory that the host can read
  explicit VirtualDevice(Kind kind = Kind::gpu);
  ~VirtualDevice();
  VirtualDevice(const VirtualDevice&) = delete;
  VirtualDevice& operator=(const VirtualDevice&) = delete;

  float* allocate(long count) override;
  void release(float* memory) override;
  void upload(float* to, const float* from, long count) override;
  void download(float* to, const float* from, long count) override;
  void zero(float* out, long n) override;
  void map(course::Op1 op, float* out, const float* x, long n) override;
  void zip(course::Op2 op, float* out, course::Layout out_at, const float* x, course::Layout x_at, const float* y,
           course::Layout y_at) override;
  void copy(float* out, course::Mat x, long m, long n) override;
  void matmul(float* out, course::Mat a, course::Mat b, long m, long n, long k) override;
  void sum_rows(float* out, course::Mat x, long m, long n) override;
  void mse(float* loss, float* gradient, const float* y, const float* target, long n) override;
  void sgd(const course::Params& params, const course::Sgd& sgd, bool first_step) override;

  // --- For runners; nothing of this is counted
  float* hold(const std::vector<float>& values);   // memory with values
  std::vector<float> take(const float* from, long count);
  void queue(std::function<void()> work);          // to be done in turn
  float read(const float* at, const char* what);   // of one number, within queued work
  void write(float* at, float value, const char* what);
  void finish();                                   // does all that is queued

  // A letter for each event, in order: a allocate, r release, u upload, w wait, k kernel; runners add their own.
  std::string events;
  long launches = 0, copies = 0, waits = 0, uploaded = 0, products = 0, held = 0;

 private:
  struct Block {
    long size;
    std::vector<bool> written;
  };
  float& number(const float* at, const char* what, bool writes);
  void kernel(std::function<void()> work);
  float* take_space(long count);

  Kind kind_;
  float *space_, *store_;  // addresses that are given out, and where the numbers are
  long next_ = 0;
  std::map<long, Block> blocks_;  // by where they begin
  std::vector<std::function<void()>> work_;
};
