"""Hidden tests of task 4.3."""
from judge.testing import hidden


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


@hidden("4.3", of="sizes", test="random sizes", title="random sizes", hint="Try parameters of one and of 3000 elements.")
def _(t):
    check(t, [t.random.randint(0, 600) for _ in range(8)], [0.25], 0.0, 0.1)
    check(t, [3000, 1], [0.25, 0.5], 0.5, 0.0)


@hidden("4.3", of="one launch", test="launches", title="one launch with momentum, with weight decay, with both and with none",
        hint="One kernel does all of it.")
def _(t):
    for momentum, decay in [(0.0, 0.0), (0.5, 0.0), (0.0, 0.25), (0.5, 0.25)]:
        reply = t.run(sizes=[300, 4], w=t.quarters(304), g=t.quarters(304), lr=[0.5, 0.25], momentum=momentum, weight_decay=decay)
        if not t.on_gpu:
            t.equal(len(reply.launches), 2, "launches of two steps")


@hidden("4.3", of="momentum", test="other momenta", title="a negative momentum", hint="Any momentum but 0 has a velocity.")
def _(t):
    check(t, [5, 9], [0.1, 0.2, 0.1], -0.5, 0.0)
    check(t, [20000, 3], [0.1, 0.2], 0.9, 0.1)
