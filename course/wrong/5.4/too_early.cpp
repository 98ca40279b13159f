// LOSES: one bucket, at once, order, ranks, ends, unused, next step
// A bucket is sent at its first gradient, while others of it are still missing.
#include "core/parallel.h"

namespace course {

void begin_step(Buckets& buckets) {
  buckets.missing.assign(buckets.count, 0);
  for (const int bucket : buckets.bucket_of) ++buckets.missing[bucket];
  buckets.next = 0;
}

void on_ready(Buckets& buckets, int parameter, Sender& sender) {
  const int bucket = buckets.bucket_of[parameter];
  while (buckets.next < buckets.count && buckets.next <= bucket) sender.send(buckets.next++);
}

void end_step(Buckets& buckets, Sender& sender) {
  while (buckets.next < buckets.count) sender.send(buckets.next++);
  for (int bucket = 0; bucket < buckets.count; ++bucket) sender.wait(bucket);
}

}  // namespace course
