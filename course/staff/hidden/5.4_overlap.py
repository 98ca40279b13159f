"""Hidden tests of task 5.4."""
from judge.testing import hidden


@hidden("5.4", of="ranks", test="random ranks", title="random orders of gradients", hint="Try 6 buckets on 3 ranks.")
def _(t):
    for _ in range(10):
        count, ranks = t.random.randint(1, 6), t.random.randint(1, 4)
        bucket_of = list(range(count)) + [t.random.randrange(count) for _ in range(t.random.randint(0, 8))]
        durations = [t.random.randint(1, 40) for _ in range(count)]
        ready, at, sent = [], [], [0] * count
        for _ in range(ranks):
            order = list(range(len(bucket_of)))
            t.random.shuffle(order)
            times, now = [], 0
            for _ in order:
                now += t.random.randint(1, 20)
                times.append(now)
            ready.append(order), at.append(times)
            complete = 0
            for bucket in range(count):
                complete = max(complete, *(time for p, time in zip(order, times) if bucket_of[p] == bucket))
                sent[bucket] = max(sent[bucket], complete)
        wire = 0
        for bucket in range(count):
            wire = max(wire, sent[bucket]) + durations[bucket]
        end = max(times[-1] for times in at)
        reply = t.run(bucket_of=bucket_of, durations=durations, ranks=ranks, ready=sum(ready, []), at=sum(at, []), end=end, steps=1)
        t.equal(reply["ends"], [max(wire, end)], "virtual time of the step")


@hidden("5.4", of="at once", test="many buckets", title="200 buckets of 3 parameters", hint="Nothing limits the number of buckets.")
def _(t):
    buckets = 200
    ready = list(range(3 * buckets))
    reply = t.run(bucket_of=[p // 3 for p in ready], durations=[1] * buckets, ranks=1, ready=ready, at=[p + 1 for p in ready],
                  end=3 * buckets, steps=1)
    t.equal(reply["sent at"], [3 * b + 3 for b in range(buckets)], "when the buckets were sent")
