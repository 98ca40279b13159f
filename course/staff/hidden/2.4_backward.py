"""Hidden tests of task 2.4."""
import math

from judge.testing import hidden, public


@hidden("2.4", of="several uses", test="random graphs", title="larger random graphs",
        hint="What reaches a node adds up, whichever way it came.")
def _(t):
    for nodes in (5, 10, 16):
        edges = [(t.random.randint(i + 1, min(nodes - 1, i + 4)), i, float(t.random.choice([2, 3]))) for i in range(nodes - 1)]
        edges += [(b, a, float(t.random.choice([-1, 2]))) for a, b in
                  (sorted(t.random.sample(range(nodes), 2)) for _ in range(nodes // 2))]
        users = [a for a, _, _ in edges]
        leaves = [each for each in range(nodes) if each not in users]
        gradient = [0.0] * (nodes - 1) + [1.0]
        for node in range(nodes - 1, -1, -1):
            for user, source, factor in edges:
                if user == node:
                    gradient[source] += factor * gradient[node]
        seed = [1.0, -1.0, 3.0]
        reply = t.run(**{"nodes": nodes, "users": users, "inputs": [b for _, b, _ in edges],
                         "factors": [c for _, _, c in edges], "leaves": leaves,
                         "order": list(range(nodes - 1, -1, -1)), "seed": seed, "seed sizes": [3], "times": 1})
        for leaf in leaves:
            t.equal(reply[f"leaf {leaf}"], [each * gradient[leaf] for each in seed], f"gradient of leaf {leaf}")


@hidden("2.4", of="calls", test="diamonds", title="20 diamonds, one after the other",
        hint="Call each function once, with the sum.")
def _(t):
    edges = []
    for i in range(0, 60, 3):
        edges += [(i + 3, i + 1, 1.0), (i + 3, i + 2, 1.0), (i + 1, i, 0.5), (i + 2, i, 0.5)]
    reply = t.run(**{"nodes": 61, "users": [a for a, _, _ in edges], "inputs": [b for _, b, _ in edges],
                     "factors": [c for _, _, c in edges], "leaves": [0], "order": list(range(60, -1, -1)),
                     "seed": [1.0], "seed sizes": [1], "times": 1})
    t.equal(reply["calls"], list(range(60, 0, -1)), "calls")


def asked(t, nodes, edges, seed, sizes, **more):
    users = {a for a, _, _ in edges}
    return t.run(**{"nodes": nodes, "users": [a for a, _, _ in edges], "inputs": [b for _, b, _ in edges],
                    "factors": [c for _, _, c in edges], "leaves": [each for each in range(nodes) if each not in users],
                    "order": list(range(nodes - 1, -1, -1)), "seed": seed, "seed sizes": sizes, "times": 1, **more})


@hidden("2.4", of="line", test="shapes", title="gradients of several dimensions keep their sizes", hint="A sum has the sizes of what is added up.")
def _(t):
    for sizes in ([2, 3], [], [2, 1, 3], [5003], [2, 5003]):
        seed = t.quarters(math.prod(sizes))
        reply = asked(t, 3, [(2, 1, 2.0), (2, 1, 3.0), (1, 0, 0.5)], seed, sizes)
        t.equal(reply["leaf 0"], [2.5 * each for each in seed], "gradient of leaf 0")
        t.equal(reply["sizes of leaf 0"], sizes, "sizes of the gradient of leaf 0")


@hidden("2.4", of="line", test="memory", title="sums are given back when their node is done",
        hint="What has gone through a node's function is of no use afterwards: take it out of the table.")
def _(t):
    nodes = 60
    for ways in (1, 2, 3):
        reply = asked(t, nodes, [(i, i - 1, 0.5) for i in range(1, nodes) for _ in range(ways)], [1.0, 0.5], [2], alive=1)
        public("2.4").few_alive(t, reply, f"a line of {nodes} nodes, each of which uses the next {ways} times,")
    # Not by 1: a factor of 1 hands on the memory that came in, which may stay.
    edges = [(a, b, 0.5) for a, b, _ in reached(t, nodes)] + [(t.random.randint(1, nodes - 1), -1, 3.0) for _ in range(nodes)]
    t.random.shuffle(edges)
    public("2.4").few_alive(t, public("2.4").backward(t, nodes, edges, alive=1), f"a random graph of {nodes} nodes")


def reached(t, nodes):
    """Edges of a line with short cuts, numbered from the leaf."""
    return [(i, i - 1, float(t.random.choice([-2, -1, 2]))) for i in range(1, nodes)] + [
        (b, a, float(t.random.choice([-1, 1]))) for a, b in (sorted(t.random.sample(range(nodes), 2)) for _ in range(nodes // 2))]


@hidden("2.4", of="twice", test="several times", title="random graphs, gone through up to five times", hint="A leaf's gradient is added to and never reset here.")
def _(t):
    for times in (2, 5):
        edges, seed = reached(t, 7), t.quarters(2)
        reply = public("2.4").backward(t, 7, edges, seed, times=times)
        public("2.4").right_leaves(t, reply, 7, edges, seed, times=times)
        t.equal(reply["inner nodes with a gradient"], [], "nodes with a function whose `gradient` is not empty afterwards")
        t.equal(reply["changed unseen"], [0], "gradients of leaves whose elements changed, and whose storage has the version of before,")


@hidden("2.4", of="given tensors", test="given tensors of random graphs", title="additions only, in random graphs: nothing that was handed in changes", hint="Add into memory of your own.")
def _(t):
    for nodes in (3, 6, 12):
        edges = [(a, b, 1.0) for a, b, _ in reached(t, nodes)]
        reply = public("2.4").backward(t, nodes, edges, [1.0, 2.0], times=2)
        t.equal(reply["seed"], [1.0, 2.0], "the gradient that was handed in, after the call")
        t.equal((reply["changed"], reply["written"]), ([0], [0]), "how many tensors that functions gave have changed, and were written to")


@hidden("2.4", of="own memory", test="own memory of many leaves", title="a root with nine leaves", hint="Copy what reaches a leaf first.")
def _(t):
    edges = [(9, leaf, float(t.random.choice([1, 1, 2]))) for leaf in range(9)]
    t.equal(public("2.4").backward(t, 10, edges)["leaves that share memory"], [], "leaves whose gradient shares memory")


@hidden("2.4", of="not wanted", test="not wanted anywhere", title="random graphs with null inputs", hint="Skip an input that is null.")
def _(t):
    for nodes in (4, 9):
        edges = reached(t, nodes) + [(t.random.randint(1, nodes - 1), -1, 3.0) for _ in range(nodes)]
        t.random.shuffle(edges)
        seed = t.quarters(2)
        public("2.4").right_leaves(t, public("2.4").backward(t, nodes, edges, seed), nodes, edges, seed)
    # A root that uses nodes with a function and without inputs.
    nodes = 8
    ends = sorted(t.random.sample(range(nodes - 1), 3))
    reply = public("2.4").backward(t, nodes, [(nodes - 1, i, 2.0) for i in range(nodes - 1)], leaves=[i for i in range(nodes - 1) if i not in ends])
    t.equal(reply["calls"], [nodes - 1, *ends[::-1]], "the nodes whose functions were called")


@hidden("2.4", of="leaf as root", test="leaf as root again", title="another gradient of a leaf, three times", hint="A leaf has no function: the gradient is its own.")
def _(t):
    seed = t.quarters(5)
    public("2.4").right_leaves(t, public("2.4").backward(t, 1, [], seed, times=3), 1, [], seed, times=3)


@hidden("2.4", of="calls", test="calls with zeros", title="a gradient of zeros, or of NaN, reaches as many nodes as another", hint="A gradient of zeros is a gradient.")
def _(t):
    for nodes in (4, 11):
        edges = reached(t, nodes)
        for seed in (0.0, math.nan, math.inf):
            t.equal(public("2.4").backward(t, nodes, edges, [seed])["calls"], list(range(nodes - 1, 0, -1)), "calls")
    for edges in ([(1, 0, 3.0)], public("2.4").DIAMOND):
        nodes = 1 + max(each for each, _, _ in edges)
        t.equal(public("2.4").backward(t, nodes, edges, [1.0, math.nan, math.inf], times=2)["leaf 0"],
                [2 * public("2.4").derivative(nodes, edges, 0), math.nan, math.inf], "gradient of leaf 0")


@hidden("2.4", of="several uses", test="many nodes", title="1,000 diamonds, and a root with 3,000 inputs", hint="Nothing limits the number of nodes.")
def _(t):
    diamonds, sign = [], 1.0
    for i in range(0, 3000, 3):
        factor = t.random.choice([-0.5, 0.5])
        diamonds += [(i + 3, i + 1, 1.0), (i + 3, i + 2, 1.0), (i + 1, i, factor), (i + 2, i, factor)]
        sign *= 2 * factor
    factors = [float(t.random.randint(1, 9)) for _ in range(3000)]
    wide = [edge for i, factor in enumerate(factors, 1) for edge in ((3001, i, 2.0), (i, 0, factor))]
    for nodes, edges, slope in ((3001, diamonds, sign), (3002, wide, 2 * sum(factors))):
        t.equal(public("2.4").backward(t, nodes, edges, alive=1)["leaf 0"], [slope], "gradient of leaf 0")
