"""Hidden tests of task 5.4."""
from judge.testing import hidden, public


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


@hidden("5.4", of="at once", test="many buckets", title="1,500 buckets of 3 parameters", hint="Nothing limits the number of buckets.")
def _(t):
    buckets = 1500
    ready = list(range(3 * buckets))
    reply = t.run(bucket_of=[p // 3 for p in ready], durations=[1] * buckets, ranks=1, ready=ready, at=[p + 1 for p in ready],
                  end=3 * buckets, steps=1)
    t.equal(reply["sent at"], [3 * b + 3 for b in range(buckets)], "when the buckets were sent")


def sent_at(bucket_of, count, ready, at, end):
    """When each bucket is sent: when it and all before it are complete, or at the end. Nothing is sent before a gradient comes."""
    out, complete = [], min(at, default=end)
    for bucket in range(count):
        wanted = [p for p, each in enumerate(bucket_of) if each == bucket]
        times = dict(zip(ready, at))
        complete = max([complete, *(times.get(p, end) for p in wanted)])
        out.append(complete)
    return out


def compare(t, bucket_of, ready, end, count=None):
    count = count or max(bucket_of) + 1
    at = [10 * (i + 1) for i in range(len(ready))]
    reply = public("5.4").steps(t, bucket_of, [5] * count, [ready], [at], end)
    t.equal(reply["order"], list(range(count)), "buckets in the order in which they were sent")
    t.equal(reply["sent at"], sent_at(bucket_of, count, ready, at, end), "when the buckets were sent")
    t.equal(reply["not waited for"], [], "buckets for which end_step did not wait")


@hidden("5.4", of="one bucket", test="one bucket of others", title="one bucket of 3 to 70,000 parameters, in random order", hint="Count the gradients that a bucket still waits for.")
def _(t):
    for parameters in (3, 7, 30, 1203):
        compare(t, [0] * parameters, t.random.sample(range(parameters), parameters), 10 * parameters + 50)
    # Few gradients come, so that even who walks over all parameters each time is done soon. After the third one 2^16 are missing.
    compare(t, [0] * (2 ** 16 + 3), t.random.sample(range(2 ** 16), 6), 100)
    mine = sorted(t.random.sample(range(70000), 4)) + [70000]
    bucket_of = [1] * 70001
    for parameter in mine:
        bucket_of[parameter] = 0
    compare(t, bucket_of, mine, 100)


@hidden("5.4", of="order", test="order of others", title="random buckets in random order", hint="A bucket that is complete before an earlier one must wait for it.")
def _(t):
    for _ in range(6):
        count = t.random.randint(2, 6)
        bucket_of = list(range(count)) + [t.random.randrange(count) for _ in range(6)]
        compare(t, bucket_of, t.random.sample(range(count + 6), count + 6), 10 * (count + 6) + 20)
    # Buckets without parameters: among others, in front, at the end, and all of them.
    for bucket_of, count in (([0, 3, 3, 0], 4), ([0, 2, 0, 4, 2], 5), ([2, 2, 2], 3), ([0, 1, 0], 5), ([3, 1, 3, 1], 6), ([], 3)):
        parameters = len(bucket_of)
        compare(t, bucket_of, t.random.sample(range(parameters), parameters), 10 * parameters + 20, count)


@hidden("5.4", of="ends", test="ends of others", title="the step ends when all sums are there, of random durations", hint="end_step waits for every bucket.")
def _(t):
    for _ in range(5):
        durations = [t.random.randint(1, 200) for _ in range(3)]
        wire = 0
        for bucket, duration in enumerate(durations):
            wire = max(wire, 10 * (bucket + 1)) + duration
        reply = public("5.4").steps(t, [0, 1, 2], durations, [[0, 1, 2]], end=31)
        t.equal(reply["ends"], [max(31, wire)], "virtual time of the step")
        t.equal(reply["not waited for"], [], "buckets for which end_step did not wait")


@hidden("5.4", of="unused", test="unused anywhere", title="random parameters get no gradient", hint="When backward has ended nothing more will come: send what has not been sent.")
def _(t):
    for _ in range(6):
        count = t.random.randint(1, 5)
        bucket_of = list(range(count)) + [t.random.randrange(count) for _ in range(5)]
        compare(t, bucket_of, t.random.sample(range(count + 5), t.random.randint(0, count + 4)), 200)


@hidden("5.4", of="next step", test="next steps of others", title="four steps of six buckets", hint="begin_step sets everything back.")
def _(t):
    ready = t.random.sample(range(9), 9)
    one, many = (public("5.4").steps(t, [0, 1, 2, 3, 4, 5, 0, 1, 2], [5] * 6, [ready], steps=count) for count in (1, 4))
    t.equal(many["order"], one["order"] * 4, "buckets that were sent in four steps")
    stale = public("5.4").steps(t, [0, 1, 2, 3, 4, 5, 0, 1, 2], [5] * 6, [ready], steps=2, stale=1)
    t.equal(stale["sent at"], one["sent at"] * 2, "when the buckets were sent, where missing and next held other numbers at first")
