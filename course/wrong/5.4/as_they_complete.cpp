// LOSES: order, ranks, unused
// A bucket is sent when it is complete, so ranks whose gradients come in other orders do not agree.
#include "core/parallel.h"

namespace course {

void begin_step(Buckets& buckets) {
  buckets.missing.assign(buckets.count, 0);
  for (const int bucket : buckets.bucket_of) ++buckets.missing[bucket];
  buckets.next = 0;
}

void on_ready(Buckets& buckets, int parameter, Sender& sender) {
  const int bucket = buckets.bucket_of[parameter];
  if (--buckets.missing[bucket] == 0) sender.send(bucket);
}

void end_step(Buckets& buckets, Sender& sender) {
  for (int bucket = 0; bucket < buckets.count; ++bucket)
    if (buckets.missing[bucket] > 0) sender.send(bucket);
  for (int bucket = 0; bucket < buckets.count; ++bucket) sender.wait(bucket);
}

}  // namespace course
