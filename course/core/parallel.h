// Module 5: several devices and ranks. This code runs on the host; what moves data is an argument.
//
// Where n things are split into `parts` parts of about the same size, part i has n / parts of them, and
// one more where i < n % parts. The parts follow one another; some may be empty.
#pragma once

#include <functional>
#include <vector>

#include "core/types.h"

namespace course {

// Devices that can copy to one another directly.
struct Devices {
  virtual int count() const = 0;
  virtual float* allocate(int device, long n) = 0;
  // Copies n numbers from memory of device `from` to memory of device `to`.
  virtual void copy(int to, float* to_data, int from, const float* from_data, long n) = 0;

 protected:
  ~Devices() = default;
};

// Task 5.1. scatter splits the rows of x, (rows, width) in memory of device `home`, over all devices:
// device i gets part i of the rows in new memory, result[i]. gather puts such parts together again in
// out, in memory of device `home`. Each number is copied once, from where it is to where it belongs,
// and all numbers that go from one device to another go in one copy. Empty parts are not copied.
std::vector<float*> scatter(Devices& devices, int home, const float* x, long rows, long width);
void gather(Devices& devices, int home, float* out, const std::vector<float*>& parts, long rows, long width);

// What a rank knows: its number, and its neighbours in a circle of ranks.
struct Link {
  virtual int rank() const = 0;  // 0 <= rank < size
  virtual int size() const = 0;
  // Hands n numbers to rank + 1 (the last rank: to rank 0). Does not wait, and data may change at once.
  virtual void send(const float* data, long n) = 0;
  // Waits for the next message of rank - 1, which must have n numbers, and stores them.
  virtual void receive(float* data, long n) = 0;

 protected:
  ~Link() = default;
};

// Task 5.2. Replaces data by the sum of all ranks' data; all ranks call this at the same time. The data
// are split into size() parts, which go around the circle twice in messages of one part each:
//   1. In step s = 0 ... size - 2, rank r sends part r - s, and adds what it receives, part r - s - 1,
//      to its own. So the sum of part p begins at rank p and follows the circle.
//   2. Then rank r has the whole sum of part r + 1. In size - 1 more steps the sums are handed on.
// All parts are counted modulo size. Empty parts are sent like others.
void all_reduce(Link& link, float* data, long n);

// A model on a device of its own, with a copy of the weights.
struct Replica {
  virtual float* weights() = 0;
  // Stores in `out` the gradient of the sum of the losses of these rows. REQUIRES: rows > 0.
  virtual void gradient(float* out, const float* x, const float* y, long rows) = 0;

 protected:
  ~Replica() = default;
};

// Calls body(0) ... body(n - 1) at the same time, in any order; returns when all have ended.
using ForEach = std::function<void(int n, const std::function<void(int i)>& body)>;

// A batch: `rows` rows of x, which are x_width numbers each, and of y.
struct Batch {
  const float *x = nullptr, *y = nullptr;
  long rows = 0, x_width = 0, y_width = 0;
};

// Task 5.3. A step of gradient descent with replicas that have the same `parameters` weights. Replica i
// computes the gradient of part i of the rows, all at the same time by for_each; a replica without rows
// computes nothing. The gradients are added up in the order of the replicas: ((g0 + g1) + g2) + ...; the
// mean over all rows of the batch is this sum divided once by rows. Then weight = weight - lr * mean, in
// every replica. The bits of the weights do not depend on what ends first.
void data_parallel_step(const std::vector<Replica*>& replicas, const ForEach& for_each, const Batch& batch,
                        long parameters, float lr);

// What sends buckets of gradients: each is summed over all ranks, while backward goes on.
struct Sender {
  virtual void send(int bucket) = 0;  // begins the sum of a bucket, and returns at once
  virtual void wait(int bucket) = 0;  // until the sum of a bucket that was sent is there

 protected:
  ~Sender() = default;
};

// Parameters in buckets, and how far the step is.
struct Buckets {
  std::vector<int> bucket_of;  // of each parameter; buckets have the numbers 0 ... count - 1
  int count = 0;
  std::vector<int> missing;    // for your use: of each bucket, the gradients that have not come
  int next = 0;                // for your use: the first bucket that has not been sent
};

// Task 5.4. Every rank calls begin_step, then on_ready for each parameter whose gradient is computed, in
// any order, then end_step, which returns when all sums are there. All ranks must send all buckets in
// the order 0, 1, 2, ...: a bucket is sent at once when its own gradients and those of all buckets before
// it have come. end_step sends what is left: a parameter that a step did not use never becomes ready.
void begin_step(Buckets& buckets);
void on_ready(Buckets& buckets, int parameter, Sender& sender);
void end_step(Buckets& buckets, Sender& sender);

// Task 5.5. The seconds that all_reduce (task 5.2) takes for so many bytes in each of the ranks. A step
// takes the latency, in seconds, and the time of one part at `rate` bytes in a second; parts are taken
// to be equal, and all ranks do their steps at the same time.
double ring_time(long bytes, int ranks, double latency, double rate);

// Task 5.6, in two parts, which all ranks call at the same time. n numbers are split into size() parts; each
// message has one part, and empty parts are sent like others.
// out gets part rank() of the sum of all ranks' data, which stay as they are. In step s = 0 ... size - 2
// rank r sends what it has of the sum of part r - 1 - s, and adds its own numbers to what it receives, which
// is of part r - 2 - s. So the sum of part p begins at rank p + 1, and ends at rank p.
void reduce_scatter(Link& link, float* out, const float* data, long n);
// out gets n numbers, of which rank r has part r, in `part`. In step s = 0 ... size - 2 rank r sends part
// r - s and receives part r - s - 1.
void all_gather(Link& link, float* out, const float* part, long n);

}  // namespace course
