"""Hidden tests of task 4.3."""
import math

from judge.testing import hidden, public


def check(t, sizes, rates, momentum, weight_decay):
    n = sum(sizes)
    w, g = t.floats(n), t.floats(n)
    reply = t.run(sizes=sizes, w=w, g=g, lr=rates, momentum=momentum, weight_decay=weight_decay)
    for i in range(n):
        velocity = 0.0
        for lr in rates:
            velocity = momentum * velocity + g[i] + weight_decay * w[i]
            w[i] -= lr * velocity
    t.close(reply["w"], w, "weights", 1e-4)


@hidden("4.3", of="momentum and decay", test="random steps", title="random weights and gradients", hint="Try four steps.")
def _(t):
    check(t, [7, 40], [0.1, 0.1, 0.05, 0.2], 0.9, 0.01)


@hidden("4.3", of="sizes", test="random sizes", title="random sizes", hint="Try parameters of one and of 20,000 elements.")
def _(t):
    check(t, [t.random.randint(0, 600) for _ in range(8)], [0.25], 0.0, 0.1)
    check(t, [3000, 1], [0.25, 0.5], 0.5, 0.0)
    check(t, [20000, 3], [0.1, 0.2], 0.9, 0.1)
    for bits in (25, 31, 33):
        public("4.3").queued(t, [5, 2 ** bits + t.random.randint(1, 9999), 0])
    for shift in (1, 2, 3):
        compare(t, [8, 1, 64, 300], [0.5, 0.25], 0.5, 0.125, shift)
        compare(t, [256, 4], [0.5], 0.0, 0.125, shift)
    for sizes in ([], [4], [300] * 31):
        reply = public("4.3").step(t, sizes, t.quarters(sum(sizes)), t.quarters(sum(sizes)), [0.5, 0.25], 0.5, 0.25)
        t.equal(reply["others"], [1.0, 2.0, 3.0], "weights of an entry of the list behind params.count")


@hidden("4.3", of="one launch", test="launches", title="one launch with momentum, with weight decay, with both and with none",
        hint="One kernel does all of it.")
def _(t):
    for momentum, decay in [(0.0, 0.0), (0.5, 0.0), (0.0, 0.25), (0.5, 0.25)]:
        reply = t.run(sizes=[300, 4], w=t.quarters(304), g=t.quarters(304), lr=[0.5, 0.25], momentum=momentum, weight_decay=decay)
        if not t.on_gpu:
            t.equal(len(reply.launches), 2, "launches of two steps")


@hidden("4.3", of="momentum", test="other momenta", title="other momenta", hint="Any momentum but 0 has a velocity.")
def _(t):
    check(t, [5, 9], [0.1, 0.2, 0.1], 2.0 ** -7, 0.0)
    check(t, [700, 3], [0.1, 0.2], 0.9, 0.1)
    for special in (math.nan, math.inf):
        compare(t, [3, 2], [0.5, 0.25], 0.5, 0.125, special=special)
    for scale in (2.0 ** -40, 2.0 ** 40):
        compare(t, [6], [0.5, 0.25, 0.5], 0.5, 0.125, scale=scale)


def stepped(w, g, rates, momentum, decay):
    """(weights, velocities) after steps, each with its gradients."""
    w, v = list(w), None
    for step, lr in enumerate(rates):
        d = [a + decay * b for a, b in zip(g[step * len(w):], w)]
        v = d if v is None else [momentum * a + b for a, b in zip(v, d)]
        w = [a - lr * b for a, b in zip(w, v)]
    return w, v


def compare(t, sizes, rates, momentum, decay, shift=0, special=None, scale=1.0):
    """Some gradients are 0. special: the first gradient of the first step. scale: all numbers are multiplied by it."""
    n = sum(sizes)
    w, g = t.quarters(n), [t.random.choice([0.0, each, each]) for each in t.quarters(n * len(rates))]
    g[0] = g[0] if special is None else special
    reply = public("4.3").step(t, sizes, [scale * each for each in w], [scale * each for each in g], rates, momentum, decay, shift=shift)
    weights, velocities = stepped(w, g, rates, momentum, decay)
    t.close([each / scale for each in reply["w"]], weights, f"weights, divided by {scale:g},")
    if momentum:
        t.close([each / scale for each in reply["v"]], velocities, f"velocities, divided by {scale:g},")


@hidden("4.3", of="plain", test="plain steps of others", title="random weights, gradients and rates", hint="weight = weight - lr * gradient.")
def _(t):
    for sizes in ([1], [7, 300], [2, 2, 2]):
        compare(t, sizes, [0.5, 0.25, 0.125], 0.0, 0.0)
    compare(t, [3, 2], [0.5, 0.25, 0.0], 0.0, 0.0)
    for scale in (2.0 ** -40, 2.0 ** 40):
        compare(t, [6], [0.5, 0.25], 0.0, 0.0, scale=scale)
    for special in (math.nan, math.inf):
        compare(t, [3, 2], [0.5], 0.0, 0.0, special=special)


@hidden("4.3", of="weight decay", test="weight decay of others", title="random weights under weight decay", hint="Weight decay adds to the gradient before anything else is done.")
def _(t):
    for decay in (0.125, 0.75, 2.0):
        compare(t, [5, 40], [0.5, 0.25], 0.0, decay)


@hidden("4.3", of="first step", test="first steps of others", title="a first step of random gradients", hint="The velocity's memory holds nothing at the first step.")
def _(t):
    for momentum in (0.25, 0.875):
        compare(t, [3, 270], [0.5], momentum, 0.0)


@hidden("4.3", of="other rate", test="rates of others", title="five rates under momentum", hint="The velocity knows nothing of the learning rate.")
def _(t):
    compare(t, [4], [1.0, 0.5, 2.0, 0.25, 0.125], 0.5, 0.0)
    compare(t, [40, 3], [0.0, 0.5, 0.0, 0.25, 1.0], 0.5, 0.25)


@hidden("4.3", of="memory", test="memory of other sizes", title="each number is loaded and stored once, of 900 and 33", hint="Keep what you have loaded in a variable.")
def _(t):
    n = 933
    for momentum, loads, stores in [(0.0, 2 * n, n), (0.75, 3 * n, 2 * n)]:
        for launch in public("4.3").step(t, [900, 33], t.quarters(n), t.quarters(n), [0.5, 0.25], momentum, 0.25).launches:
            t.at_most(launch.global_loads, loads, "loads from global memory")
            t.at_most(launch.global_stores, stores, "stores to global memory")
