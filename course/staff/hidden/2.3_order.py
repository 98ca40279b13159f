"""Hidden tests of task 2.3."""
from judge.testing import hidden, public


@hidden("2.3", of="before its inputs", test="random graphs", title="larger random graphs, with inputs that come twice",
        hint="A node may be placed only when all nodes that use it have been.")
def _(t):
    for nodes in (10, 50, 400):
        names = t.random.sample(range(nodes), nodes)
        edges = [(t.random.randint(i + 1, nodes - 1), i) for i in range(nodes - 1)]
        edges += [sorted(t.random.sample(range(nodes), 2), reverse=True) for _ in range(3 * nodes)]
        edges += edges[:5]
        t.random.shuffle(edges)
        found = t.run(nodes=nodes, users=[names[a] for a, _ in edges], inputs=[names[b] for _, b in edges],
                      root=names[-1])["order"]
        t.equal(sorted(found), list(range(nodes)), "the nodes, sorted by their numbers")
        place = {node: i for i, node in enumerate(found)}
        t.check(all(place[names[a]] < place[names[b]] for a, b in edges), "a node stands before one that uses it")


@hidden("2.3", of="deep", test="deep and wide", title="100,000 nodes in a line whose leaf all of them use",
        hint="Keep a list of your own in place of recursion.")
def _(t):
    nodes = 100000
    edges = [(i, i - 1) for i in range(nodes - 1, 0, -1)] + [(i, 0) for i in range(2, nodes)]
    found = t.run(nodes=nodes, users=[a for a, _ in edges], inputs=[b for _, b in edges], root=nodes - 1)["order"]
    t.check(found == list(range(nodes - 1, -1, -1)), "the order is wrong")


@hidden("2.3", of="once", test="many inputs", title="a node with 3,000 inputs, and one that 3,000 use", hint="Nothing limits the number of inputs.")
def _(t):
    wide = 3000
    edges = [(wide + 1, i) for i in range(1, wide + 1)] + [(i, 0) for i in range(1, wide + 1)]
    found = t.run(nodes=wide + 2, users=[a for a, _ in edges], inputs=[b for _, b in edges], root=wide + 1)["order"]
    t.equal(sorted(found), list(range(wide + 2)), "the nodes, sorted by their numbers")
    t.equal([found[0], found[-1]], [wide + 1, 0], "the first and the last node")


@hidden("2.3", of="line", test="other lines", title="lines of random length, in random numbers", hint="The root comes first, the leaf last.")
def _(t):
    for nodes in (3, 7, 50):
        names = t.random.sample(range(nodes), nodes)
        edges = list(zip(names, names[1:]))
        t.random.shuffle(edges)
        t.equal(public("2.3").order(t, nodes, edges, root=names[0]), names, "order")


@hidden("2.3", of="reached", test="reached anywhere", title="random roots of a graph of several parts", hint="Start at the root, and follow inputs only.")
def _(t):
    for _ in range(5):
        nodes = 20
        edges = [(b, a) for a, b in (sorted(t.random.sample(range(nodes), 2)) for _ in range(18))]
        root, reached = t.random.randrange(nodes), set()
        waiting = [root]
        while waiting:
            node = waiting.pop()
            if node not in reached:
                reached.add(node)
                waiting += [b for a, b in edges if a == node]
        public("2.3").once(t, public("2.3").order(t, nodes, edges, root=root), reached)
        public("2.3").once(t, public("2.3").order(t, nodes, edges, root=root, before=[root, *t.random.sample(range(nodes), 3)]), reached)


@hidden("2.3", of="null inputs", test="nulls anywhere", title="a random graph, and operands without a node", hint="An input may be a null pointer.")
def _(t):
    for nodes in (3, 9, 40):
        edges = public("2.3").random_graph(t, nodes) + [(t.random.randrange(nodes), -1) for _ in range(nodes)]
        t.random.shuffle(edges)
        found = public("2.3").order(t, nodes, edges)
        public("2.3").once(t, found, range(nodes))
        public("2.3").ordered(t, found, edges)


@hidden("2.3", of="many ways", test="more ways", title="50 nodes that all use the next five, and a root that uses all of a line", hint="What lies behind a node needs to be looked at once.")
def _(t):
    nodes = 50
    edges = [(i, i - by) for i in range(nodes) for by in range(1, 6) if i >= by]
    t.equal(public("2.3").order(t, nodes, edges), list(range(nodes - 1, -1, -1)), "order")
    # Whoever follows ways and mends what was found before goes through the line once for each of its nodes.
    nodes = 60000
    line = [(i, i - 1) for i in range(1, nodes - 1)]
    for uses in (range(nodes - 1), range(nodes - 2, -1, -1), t.random.sample(range(nodes - 1), nodes - 1)):
        found = public("2.3").order(t, nodes, line + [(nodes - 1, i) for i in uses])
        t.check(found == list(range(nodes - 1, -1, -1)), f"the order of a line is wrong: found {len(found)} nodes, {found[:6]} ...")


@hidden("2.3", of="many ways", test="many nodes", title="a root with 400,000 inputs", hint="To look for a node in a list takes longer the more it has: a set finds it at once.")
def _(t):
    nodes = 400000
    found = t.run(nodes=nodes, users=[nodes - 1] * (nodes - 1), inputs=list(range(nodes - 1)), root=nodes - 1)["order"]
    t.check(found[:1] == [nodes - 1] and len(found) == len(set(found)) == nodes, f"the order is wrong: it has {len(found)} nodes")
