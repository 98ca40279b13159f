"""Tests of task 2.4. The functions of the test's graphs multiply by whole numbers, so derivatives are exact, and
the difference of two forward computations is the derivative."""
from judge.testing import task

T = task("2.4", "Backward", 20, "2_autodiff/2.4_backward.cpp", exports=["course::backward"], calls=["course::order"])

NULL, EMPTY = -1, 0.0
DIAMOND = [(3, 1, 2.0), (3, 2, 5.0), (1, 0, 3.0), (2, 0, 7.0)]
SQUARE = [(1, 0, 3.0), (1, 0, 3.0)]
# 1 is used by 2, by 3 and by the root.
COMB = [(4, 3, 2.0), (4, 1, 3.0), (3, 2, 5.0), (3, 1, -1.0), (2, 1, 4.0), (2, 0, 2.0)]


def backward(t, nodes, edges, seed=(1.0,), times=1, order=None, **more):
    """edges: (user, input, factor), inputs with smaller numbers than their users. The last node is the root."""
    return t.run(**{"nodes": nodes, "users": [a for a, _, _ in edges], "inputs": [b for _, b, _ in edges],
                    "factors": [c for _, _, c in edges], "leaves": leaves_of(nodes, edges),
                    "order": order or list(range(nodes - 1, -1, -1)), "seed": list(seed), "seed sizes": [len(seed)],
                    "times": times, **more})


def leaves_of(nodes, edges):
    users = {user for user, _, _ in edges}
    return [each for each in range(nodes) if each not in users]


def derivative(nodes, edges, leaf):
    """How much the root's value grows where the leaf's grows by 1."""
    value = [float(each == leaf) for each in range(nodes)]
    for node in range(nodes):
        value[node] += sum(factor * value[source] for user, source, factor in edges if user == node and source != NULL)
    return value[-1]


def right_leaves(t, reply, nodes, edges, seed=(1.0,), times=1):
    for leaf in leaves_of(nodes, edges):
        expected = [times * each * derivative(nodes, edges, leaf) for each in seed]
        t.equal(reply[f"leaf {leaf}"], expected, f"gradient of leaf {leaf}")
        t.equal(reply[f"sizes of leaf {leaf}"], [len(seed)], f"sizes of the gradient of leaf {leaf}")


def few_alive(t, reply, what):
    t.at_most(reply["most alive"][0], 4, f"gradients of {what} that are in memory at the same time (give back what has gone through a "
              "node's function)")


def random_graph(t, nodes):
    edges = [(t.random.randint(i + 1, nodes - 1), i, float(t.random.randint(2, 3))) for i in range(nodes - 1)]
    for _ in range(nodes // 2):
        a, b = sorted(t.random.sample(range(nodes), 2))
        edges.append((b, a, float(t.random.choice([-1, 2]))))
    return edges


@T.test(3, "line", "a line of nodes: factors multiply",
        hint="The gradient of a node's result goes into its function; what comes out goes to its inputs.")
def _(t):
    for nodes, edges in [(2, [(1, 0, 3.0)]), (3, [(2, 1, 3.0), (1, 0, -2.0)]), (3, [(2, 1, 3.0), (2, 0, 4.0)])]:
        for seed in ([1.0], [2.0, -1.0, 5.0, 0.0, 3.0, -4.0]):
            right_leaves(t, backward(t, nodes, edges, seed), nodes, edges, seed)
    for more in ([], [-1.0], [NULL]):  # each node has one input, has it twice, or has a null one too
        edges = [edge for i in range(1, 20) for edge in ((i, i - 1, -1.0), *((i, NULL if each == NULL else i - 1, 2.0) for each in more))]
        few_alive(t, backward(t, 20, edges, alive=1), "a line of 20 nodes")


@T.test(4, "several uses", "where a result is used several times, its gradients add up",
        hint="Collect what reaches a node until its turn comes in the order: by then all of it is there.")
def _(t):
    for nodes, edges in [(2, SQUARE), (4, DIAMOND), (5, COMB), *((n, random_graph(t, n)) for n in (6, 9, 14))]:
        seed = [1.0, 3.0]
        right_leaves(t, backward(t, nodes, edges, seed), nodes, edges, seed)


@T.test(3, "calls", "each node's function is called once",
        hint="Call a node's function with the sum of all gradients of its result, not with each of them.")
def _(t):
    for nodes, edges in [(2, SQUARE), (4, DIAMOND), (5, COMB), (14, random_graph(t, 14))]:
        inner = sorted({user for user, _, _ in edges})
        for seed in ([1.0], [0.0, 0.0]):
            t.equal(sorted(backward(t, nodes, edges, seed)["calls"]), inner, "the nodes whose functions were called, sorted")


@T.test(3, "twice", "a second backward() adds to the gradients of leaves, and to nothing else",
        hint="A leaf's gradient is added to and never reset here; what inner nodes collect is gone after the walk.")
def _(t):
    for nodes, edges in [(2, [(1, 0, 3.0)]), (3, [(2, 1, 3.0), (1, 0, -2.0)]), (3, [(2, 1, 3.0), (2, 0, 4.0)])]:
        seed = [1.0, 2.0]
        reply = backward(t, nodes, edges, seed, times=3)
        right_leaves(t, reply, nodes, edges, seed, times=3)
        t.equal(reply["inner nodes with a gradient"], [], "nodes with a function whose `gradient` is not empty afterwards")
        t.equal(reply["changed unseen"], [0], "gradients of leaves whose elements changed, and whose storage has the version of before,")


@T.test(3, "given tensors", "no tensor that was handed in is changed",
        hint="A function may give the same memory for several inputs: add into memory of your own.")
def _(t):
    # An addition hands on the gradient that it got, to both operands.
    for nodes, edges in [(2, [(1, 0, 1.0), (1, 0, 1.0)]), (4, [(3, 1, 1.0), (3, 2, 1.0), (2, 1, 2.0), (1, 0, 1.0)]),
                         (4, [(3, 0, 1.0), (3, 1, 1.0), (3, 2, 1.0), (2, 0, 5.0), (2, 1, 3.0)])]:
        seed = [1.0, 2.0]
        reply = backward(t, nodes, edges, seed, times=2)
        t.equal(reply["seed"], seed, "the gradient that was handed in, after the call")
        t.equal(reply["changed"], [0], "how many tensors that functions gave have changed")
        t.equal(reply["written"], [0], "how many tensors that were handed in were written to (each write() is a write, whatever it is for)")


@T.test(1, "own memory", "the gradient of a leaf shares its memory with nothing",
        hint="Whoever clips or zeroes one gradient must not change another: copy what reaches a leaf first.")
def _(t):
    for nodes, edges in [(1, []), (3, [(2, 1, 1.0), (2, 0, 1.0)]), (3, [(2, 1, 2.0), (2, 0, 1.0)])]:
        t.equal(backward(t, nodes, edges)["leaves that share memory"], [], "leaves whose gradient shares memory")


@T.test(2, "not wanted", "null inputs, and functions that give no gradient",
        hint="Skip an input that is null, and an empty tensor; a node that nothing reaches is not called.")
def _(t):
    edges = [(2, NULL, 2.0), (2, 1, 3.0), (1, NULL, 4.0), (1, 0, 5.0)]
    reply = backward(t, 3, edges)
    right_leaves(t, reply, 3, edges)
    # 1 gets nothing from 3, so 0 gets nothing from 1.
    edges = [(3, 1, EMPTY), (3, 2, 2.0), (1, 0, 5.0)]
    reply = backward(t, 4, edges)
    t.equal(reply["calls"], [3], "the nodes whose functions were called")
    t.equal(reply["leaves with a gradient"], [2], "leaves that have a gradient")
    # 1 has a function and no inputs.
    reply = backward(t, 3, [(2, 1, 2.0), (2, 0, 3.0)], leaves=[0])
    t.equal(reply["calls"], [2, 1], "the nodes whose functions were called")


@T.test(1, "leaf as root", "backward() from a leaf", hint="A leaf has no function: the gradient is its own.")
def _(t):
    right_leaves(t, backward(t, 1, [], [4.0, 5.0]), 1, [], [4.0, 5.0])
