"""Hidden tests of task 2.4."""
from judge.testing import hidden


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
    for sizes in ([2, 3], [], [2, 1, 3]):
        seed = t.quarters(6 if sizes else 1)
        reply = asked(t, 3, [(2, 1, 2.0), (2, 1, 3.0), (1, 0, 0.5)], seed, sizes)
        t.equal(reply["leaf 0"], [2.5 * each for each in seed], "gradient of leaf 0")
        t.equal(reply["sizes of leaf 0"], sizes, "sizes of the gradient of leaf 0")


@hidden("2.4", of="line", test="memory", title="sums are given back when their node is done",
        hint="What has gone through a node's function is of no use afterwards: take it out of the table.")
def _(t):
    nodes = 60
    reply = asked(t, nodes, [(i, i - 1, -1.0) for i in range(1, nodes)], [1.0, 0.5], [2], alive=1)
    t.at_most(reply["most alive"][0], 4, "gradients of a line of 60 nodes that are in memory at the same time")
