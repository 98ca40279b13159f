"""Tests of task 5.4."""
from judge.testing import task

T = task("5.4", "Sums that overlap with backward", 20, "5_parallel/5.4_overlap.cpp",
         exports=["course::begin_step", "course::on_ready", "course::end_step"])


def steps(t, bucket_of, durations, ready, at=None, end=None, steps=1, **stale):
    """ready: for each rank the parameters, in the order in which their gradients come; at: when, 10 apart if not given."""
    at = at or [[10 * (i + 1) for i in range(len(each))] for each in ready]
    end = end or max(time for each in at for time in each)
    return t.run(bucket_of=bucket_of, durations=durations, ranks=len(ready), ready=sum(ready, []), at=sum(at, []), end=end, steps=steps, **stale)


@T.test(3, "one bucket", "a bucket is sent when its last gradient comes", hint="Count the gradients that a bucket still waits for.")
def _(t):
    for parameters in (1, 2, 5):
        reply = steps(t, [0] * parameters, [30], [list(range(parameters))], end=100)
        t.equal(reply["order"], [0], "buckets that were sent")
        t.equal(reply["sent at"], [10 * parameters], "when it was sent")


@T.test(3, "at once", "buckets are sent while backward goes on", hint="Send in on_ready: end_step is too late to hide anything behind backward.")
def _(t):
    reply = steps(t, [0, 0, 1, 1, 2], [15, 15, 15], [[0, 1, 2, 3, 4]])
    t.equal(reply["sent at"], [20, 40, 50], "when the buckets were sent")
    t.at_most(reply["ends"][0], 70, "virtual time of the step")  # 55 wait for the wire, then 15


@T.test(4, "order", "the order is that of the buckets' numbers",
        hint="A bucket that is complete before an earlier one must wait for it; when that one goes, both go. A bucket without parameters is always complete.")
def _(t):
    for bucket_of, ready, sent_at in [([0, 1], [1, 0], [20, 20]), ([1, 1], [0, 1], [10, 20]), ([0, 0], [0, 1], [20, 20]),
                                      ([0, 0, 2], [1, 0, 2], [20, 20, 30]), ([0, 1, 2], [2, 0, 1], [20, 30, 30]), ([0, 2, 2, 3], [1, 0, 2, 3], [20, 20, 30, 40]),
                                      ([2, 2, 1, 0, 0], [0, 1, 2, 3, 4], [50, 50, 50]), ([0, 1, 0, 1], [1, 2, 0, 3], [30, 40])]:
        count = len(sent_at)
        reply = steps(t, bucket_of, [5] * count, [ready], end=100)
        t.equal(reply["order"], list(range(count)), "buckets in the order in which they were sent")
        t.equal(reply["sent at"], sent_at, "when the buckets were sent")
        t.equal(reply["not waited for"], [], "buckets for which end_step did not wait")


@T.test(3, "ranks", "ranks whose gradients come in different orders", hint="All ranks agree on the order only if it does not depend on what came first. What a step knows stands in its Buckets: they may take turns.")
def _(t):
    for ready, at, end, limit in [([[0, 1, 2, 3], [3, 2, 1, 0]], None, 40, 40 + 25 + 25),
                                  ([[0, 1, 2, 3], [1, 0, 3, 2]], None, 40, 20 + 25 + 25),
                                  ([[0, 1, 2, 3], [1, 0, 3, 2]], [[10, 20, 30, 40], [15, 30, 60, 90]], 90, 90 + 25)]:
        reply = steps(t, [0, 0, 1, 1], [25, 25], ready, at, end)
        t.equal(reply["order"], [0, 1] * 2, "buckets in the order in which each rank sent them")
        t.at_most(reply["ends"][0], limit, "virtual time of the step")


@T.test(2, "ends", "the step ends when all sums are there", hint="end_step waits for every bucket, sent early or late.")
def _(t):
    for bucket_of, durations, end in [([0, 0, 0], [100], 130), ([0, 0, 1], [100, 10], 130), ([0, 0, 1], [10, 100], 130),
                                      ([0, 0, 1], [1, 1], 31)]:
        reply = steps(t, bucket_of, durations, [[0, 1, 2]])
        t.equal(reply["ends"], [end], "virtual time of the step")
        t.equal(reply["not waited for"], [], "buckets for which end_step did not wait")


@T.test(3, "unused", "parameters that get no gradient", hint="When backward has ended nothing more will come: send what has not been sent, or other ranks wait forever. Wait for sums when all are sent.")
def _(t):
    for bucket_of, ready, sent_at in [([0, 0], [1], [60]), ([0, 1, 1, 2], [0, 2, 3], [10, 60, 60]), ([0, 1], [], [60, 60])]:
        count = max(bucket_of) + 1
        reply = steps(t, bucket_of, [5] * count, [ready], end=60)
        t.equal(reply["order"], list(range(count)), "buckets that were sent")
        t.equal(reply["sent at"], sent_at, "when the buckets were sent")


@T.test(2, "next step", "several steps, one after the other", hint="begin_step sets everything back, whatever the last step left behind.")
def _(t):
    reply = steps(t, [0, 1, 1], [5, 5], [[2, 0, 1]], steps=3)
    t.equal(reply["order"], [0, 1] * 3, "buckets that were sent")
    t.equal(reply["sent at"], [20, 30] * 3, "when the buckets were sent")
    reply = steps(t, [0, 1, 1], [5, 5], [[0, 1]], end=50, steps=3)  # parameter 2 gets no gradient
    t.equal(reply["sent at"], [10, 50] * 3, "when the buckets were sent, with an unused parameter")
    reply = steps(t, [0, 1, 1], [5, 5], [[2, 0, 1]], steps=2, stale=1)
    t.equal(reply["sent at"], [20, 30] * 2, "when the buckets were sent, where missing and next held other numbers at first")
