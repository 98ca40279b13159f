"""Tests of task 7.3."""
import math

from judge.testing import task

T = task("7.3", "Attention and its gradient", 20, "7_transformer/7.3_attention_gradient.cu",
         exports=["course::gpu::causal_attention", "course::gpu::causal_attention_backward"], extra=True)


def forward(t, q, k, v, n, d, heads=1):
    return t.run(q=q, k=k, v=v, n=n, d=d, heads=heads)


def backward(t, dout, weights, q, k, v, n, d, heads=1):
    return t.run(dout=dout, weights=weights, q=q, k=k, v=v, n=n, d=d, heads=heads)


@T.test(3, "weights", "weights of a row are exp(q k / sqrt(d)), divided by their sum", hint="Divide the product of two rows by sqrt(d).")
def _(t):
    for n, d in [(1, 1), (2, 1), (4, 4), (7, 9), (3, 80)]:
        q, k = t.floats(n * d, -2, 2), t.floats(n * d, -2, 2)
        weights = forward(t, q, k, [1.0] * (n * d), n, d)["weights"]
        for i in range(n):
            row = weights[i * n:i * n + i + 1]
            t.close(math.fsum(row), 1.0, f"the sum of row {i}")
            scores = [sum(q[i * d + e] * k[j * d + e] for e in range(d)) / math.sqrt(d) for j in (0, i)]
            t.close(row[i], row[0] * math.exp(scores[1] - scores[0]), f"weight ({i}, {i})", 1e-4)


@T.test(3, "mask", "row i sees the rows up to i alone", hint="The weights of later rows are 0, and are stored as 0; row i sees itself.")
def _(t):
    for n, d in [(2, 1), (5, 3), (66, 2)]:
        v = [float(j) for j in range(n) for _ in range(d)]
        found = forward(t, t.floats(n * d), [0.5] * (n * d), v, n, d)
        for i in range(n):
            t.close(found["weights"][i * n:i * n + n], [1 / (i + 1)] * (i + 1) + [0.0] * (n - i - 1), f"row {i} of the weights")
        t.close(found["out"], [i / 2 for i in range(n) for _ in range(d)], "out, where all keys are equal", 1e-4)
    n = 1030  # more rows than a block has threads
    found = forward(t, [0.5] * n, [0.5] * n, [float(j) for j in range(n)], n, 1)["out"]
    t.close(found, [i / 2 for i in range(n)], "out of 1030 rows, where all keys are equal", 1e-4)


@T.test(2, "heads", "heads know nothing of each other", hint="Head h begins h * n * d numbers later in q, k, v and out, and h * n * n in the weights.")
def _(t):
    n, d = 5, 3
    q, k, v, dout = (t.floats(3 * n * d) for _ in range(4))
    together = forward(t, q, k, v, n, d, 3)
    back = backward(t, dout, together["weights"], q, k, v, n, d, 3)
    for h in range(3):
        part, square = slice(h * n * d, (h + 1) * n * d), slice(h * n * n, (h + 1) * n * n)
        alone = forward(t, q[part], k[part], v[part], n, d)
        t.close(together["out"][part], alone["out"], f"out of head {h}")
        t.close(together["weights"][square], alone["weights"], f"weights of head {h}")
        slopes = backward(t, dout[part], alone["weights"], q[part], k[part], v[part], n, d)
        for name in ("dq", "dk", "dv"):
            t.close(back[name][part], slopes[name], f"{name} of head {h}")


@T.test(2, "large", "scores of 300, -300 and -20,000", hint="Subtract the maximum of the scores that the row sees.")
def _(t):
    found = forward(t, [300.0, 300.0, -300.0], [1.0, 2.0, 3.0], [4.0, 8.0, 16.0], 3, 1)["out"]
    t.close(found, [4.0, 8.0, 4.0], "out")
    t.close(forward(t, [1.0, 1.0], [-300.0, -301.0], [1.0, 1.0], 2, 1)["out"], [1.0, 1.0], "out")
    found = forward(t, [-200.0] * 2, [100.0] * 2, [4.0, 8.0], 2, 1)["out"]
    t.close(found, [4.0, 6.0], "out, with scores of -20,000", 5e-3)  # weights may be exp(score - lse), and floats have 3 digits there


@T.test(3, "dv", "the gradient of the values", hint="Row j of v counts in all rows i >= j, with weights[i, j].")
def _(t):
    weights = [1.0, 0.0, 0.0, 0.5, 0.5, 0.0, 0.25, 0.25, 0.5]
    found = backward(t, [1.0, 2.0, 4.0], weights, [0.0] * 3, [0.0] * 3, [0.0] * 3, 3, 1)["dv"]
    t.equal(found, [3.0, 2.0, 2.0], "dv")
    dout = t.quarters(12)
    found = backward(t, dout, weights, t.floats(12), t.floats(12), t.floats(12), 3, 4)["dv"]
    t.equal(found, [sum(weights[i * 3 + j] * dout[i * 4 + e] for i in range(3)) for j in range(3) for e in range(4)], "dv")


@T.test(4, "dq and dk", "the gradients of queries and keys",
        hint="The slope of a score is weight * (slope of the weight - the row's mean of such slopes, by its weights), divided by sqrt(d).")
def _(t):
    weights = [1.0, 0.0, 0.25, 0.75]
    found = backward(t, [7.0, 2.0], weights, [3.0, 5.0], [10.0, 14.0], [1.0, 5.0], 2, 1)
    t.equal(found["dq"], [0.0, 6.0], "dq")
    t.equal(found["dk"], [-7.5, 7.5], "dk")
    wide = lambda values: [each for value in values for each in (value, 0.0, 0.0, 0.0)]  # noqa: E731
    found = backward(t, *map(wide, [[7.0, 2.0]]), weights, *map(wide, ([3.0, 5.0], [10.0, 14.0], [1.0, 5.0])), 2, 4)
    t.equal(found["dq"], wide([0.0, 3.0]), "dq")
    t.equal(found["dk"], wide([-3.75, 3.75]), "dk")
    weights = [1.0, 0.0, 0.0, 0.5, 0.5, 0.0, 0.25, 0.25, 0.5]
    found = backward(t, [7.0, 2.0, 4.0], weights, [3.0, 5.0, 7.0], [10.0, 14.0, 1.0], [1.0, 5.0, 4.0], 3, 1)
    t.equal(found["dq"], [0.0, 8.0, -3.0], "dq")
    t.equal(found["dk"], [-27.5, 20.5, 7.0], "dk")
    for n, d in [(3, 2), (9, 5), (20, 6)]:  # a shift of all keys changes no weight, so the slopes of the keys sum to 0
        q, k, v, dout = (t.floats(n * d) for _ in range(4))
        dk = backward(t, dout, forward(t, q, k, v, n, d)["weights"], q, k, v, n, d)["dk"]
        t.close([math.fsum(dk[e::d]) for e in range(d)], [0.0] * d, "sums of the columns of dk", 1e-4)


@T.test(2, "launches", "one launch forward, at most two backward, no atomics", hint="All heads are in one grid: let blockIdx.y be the head.")
def _(t):
    n, d, heads = 6, 4, 3
    q, k, v, dout = (t.floats(heads * n * d) for _ in range(4))
    there = forward(t, q, k, v, n, d, heads)
    back = backward(t, dout, there["weights"], q, k, v, n, d, heads)
    if not t.on_gpu:
        t.at_most(len(there.launches), 1, "launches forward")
        t.at_most(len(back.launches), 2, "launches backward")
        t.at_most(there.total("atomics") + back.total("atomics"), 0, "atomic operations")


@T.test(1, "masked work", "what is masked is not loaded", hint="Let loops over keys end at i, and those over queries begin at j.")
def _(t):
    n, d = 48, 16
    q, k, v, dout = (t.floats(n * d) for _ in range(4))
    there = forward(t, q, k, v, n, d)
    back = backward(t, dout, there["weights"], q, k, v, n, d)
    if not t.on_gpu:
        t.at_most(there.total("global_loads"), 3 * n * n * d, "loads forward")
        t.at_most(back.total("global_loads"), 5 * n * n * d, "loads backward")
