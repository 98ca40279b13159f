// LOSES: at once, ends, next step, one bucket, order, ranks, unused
// Nothing is sent before backward has ended, so the step takes as long as both together.
#include "core/parallel.h"

namespace course {

void begin_step(Buckets& buckets) {
  buckets.missing.assign(buckets.count, 0);
  for (const int bucket : buckets.bucket_of) ++buckets.missing[bucket];
  buckets.next = 0;
}

void on_ready(Buckets& buckets, int parameter, Sender&) {
  --buckets.missing[buckets.bucket_of[parameter]];
}

void end_step(Buckets& buckets, Sender& sender) {
  while (buckets.next < buckets.count) sender.send(buckets.next++);
  for (int bucket = 0; bucket < buckets.count; ++bucket) sender.wait(bucket);
}

}  // namespace course
