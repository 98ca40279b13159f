// LOSES: order
// When a bucket goes, complete ones behind it stay until the next gradient.
#include "core/parallel.h"

namespace course {

void begin_step(Buckets& buckets) {
  buckets.missing.assign(buckets.count, 0);
  for (const int bucket : buckets.bucket_of) ++buckets.missing[bucket];
  buckets.next = 0;
}

void on_ready(Buckets& buckets, int parameter, Sender& sender) {
  --buckets.missing[buckets.bucket_of[parameter]];
  if (buckets.next < buckets.count && buckets.missing[buckets.next] == 0) sender.send(buckets.next++);
}

void end_step(Buckets& buckets, Sender& sender) {
  while (buckets.next < buckets.count) sender.send(buckets.next++);
  for (int bucket = 0; bucket < buckets.count; ++bucket) sender.wait(bucket);
}

}  // namespace course
