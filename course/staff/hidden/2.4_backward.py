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
