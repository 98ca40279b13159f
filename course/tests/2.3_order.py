"""Tests of task 2.3: an order is judged by what it must fulfil, so any right one will do."""
from judge.testing import task

T = task("2.3", "The order of a graph", 20, "2_autodiff/2.3_order.cpp", exports=["course::order"])

NULL = -1
DIAMOND = [(3, 1), (3, 2), (1, 0), (2, 0)]
# 0 is an input of 1, of 2 and of the root itself.
SHORT_CUT = [(3, 0), (3, 2), (2, 1), (1, 0)]


def order(t, nodes, edges, root=None, **more):
    """The numbers of the nodes. An edge is (user, input): the node, and the node of an operand of it. before=[...]: nodes of the same
    graph whose order is asked for first."""
    users, inputs = [a for a, _ in edges], [b for _, b in edges]
    reply = t.run(nodes=nodes, users=users, inputs=inputs, root=nodes - 1 if root is None else root, **more)
    t.check(NULL not in reply["order"], "the order holds a pointer that is none of the nodes")
    t.equal(reply["changed nodes"], [0], "nodes that are not as they were before the call")
    return reply["order"]


def ordered(t, found, edges):
    """Whether each node stands before its inputs."""
    place = {node: i for i, node in enumerate(found)}
    for user, source in edges:
        if source != NULL and user in place and source in place and place[user] >= place[source]:
            t.fail(f"node {source} is an input of node {user}, but stands before it: found "
                   f"{found if len(found) <= 12 else str(found[:12]) + ' ...'}")


def once(t, found, expected):
    t.equal(sorted(found), sorted(expected), "the nodes, sorted by their numbers")


def random_graph(t, nodes):
    """Edges of a graph without cycles in which the last node reaches all; the numbers are shuffled but for the last."""
    edges = [(t.random.randint(i + 1, nodes - 1), i) for i in range(nodes - 1)]
    for _ in range(nodes):
        a, b = sorted(t.random.sample(range(nodes), 2))
        edges.append((b, a))
    t.random.shuffle(edges)
    names = t.random.sample(range(nodes - 1), nodes - 1) + [nodes - 1]
    return [(names[a], names[b]) for a, b in edges]


@T.test(3, "line", "a line of nodes", hint="The root comes first, the leaf last.")
def _(t):
    t.equal(order(t, 1, []), [0], "order")
    t.equal(order(t, 2, [(1, 0)]), [1, 0], "order")
    t.equal(order(t, 4, [(0, 2), (2, 1), (3, 0)]), [3, 0, 2, 1], "order")


@T.test(3, "once", "nodes that several others use stand there once",
        hint="Remember which nodes you have met, as in any walk through a graph.")
def _(t):
    for nodes, edges in [(2, [(1, 0), (1, 0)]), (4, DIAMOND), (4, SHORT_CUT), (40, random_graph(t, 40))]:
        once(t, order(t, nodes, edges), range(nodes))
    for before in ([3], [1], [1, 3, 3]):
        once(t, order(t, 4, DIAMOND, before=before), range(4))


@T.test(4, "before its inputs", "each node stands before all its inputs",
        hint="A node may be placed only when all nodes that use it have been: a first meeting is too early.")
def _(t):
    for nodes, edges in [(4, DIAMOND), (4, SHORT_CUT), (4, [(3, 2), (3, 0), (2, 1), (1, 0)]),
                         *((n, random_graph(t, n)) for n in (5, 6, 7, 8, 12, 40))]:
        found = order(t, nodes, edges)
        t.check(found and set(found) == set(range(nodes)), f"not all nodes are there: found {found[:12]}")
        ordered(t, found, edges)


@T.test(2, "reached", "only nodes that the root reaches",
        hint="Start at the root, and follow inputs only: other nodes have no part in it.")
def _(t):
    # 4 and 5 use nodes of the root's graph; 6 stands alone.
    edges = [(3, 1), (3, 2), (1, 0), (4, 0), (5, 3), (5, 4)]
    once(t, order(t, 7, edges, root=3), [0, 1, 2, 3])
    once(t, order(t, 7, edges, root=1), [0, 1])
    once(t, order(t, 7, edges, root=6), [6])


@T.test(2, "null inputs", "operands without a node", hint="An input may be a null pointer; there is nothing to visit.")
def _(t):
    t.equal(order(t, 1, [(0, NULL), (0, NULL)]), [0], "order")
    t.equal(order(t, 2, [(1, NULL), (1, 0)]), [1, 0], "order")
    t.equal(order(t, 3, [(2, 1), (2, NULL), (1, NULL), (1, 0)]), [2, 1, 0], "order")


@T.test(4, "deep", "100,000 nodes, one after the other",
        hint="Every call that waits for another takes memory of the stack: keep a list of your own in place of recursion.")
def _(t):
    nodes = 100000
    found = order(t, nodes, [(i, i - 1) for i in range(nodes - 1, 0, -1)])
    t.check(found == list(range(nodes - 1, -1, -1)), f"the order of a line is wrong: found {len(found)} nodes, {found[:6]} ...")


@T.test(2, "many ways", "60 diamonds, one after the other: 2^60 ways to the leaf; 250,000 nodes behind 1,000 ways",
        hint="Do not follow every way: what lies behind a node needs to be looked at once. Whether a node was met, a set knows at once, however many it has.")
def _(t):
    edges = []
    for i in range(0, 180, 3):
        edges += [(i + 3, i + 1), (i + 3, i + 2), (i + 1, i), (i + 2, i)]
    found = order(t, 181, edges)
    t.check(set(found) == set(range(181)), f"not all nodes are there: found {len(found)}")
    # Whoever enters nodes again goes through the wide part a thousand times; whoever searches a list takes longer for each node.
    wide, line = 250000, 1000
    nodes = wide + line + 1
    edges = [(wide, i) for i in range(wide)] + [(i, i - 1) for i in range(wide + 1, nodes - 1)]
    for uses in (range(wide, nodes - 1), range(nodes - 2, wide - 1, -1)):
        found = order(t, nodes, edges + [(nodes - 1, i) for i in uses])
        t.check(len(found) == nodes and set(found) == set(range(nodes)), f"not all {nodes} nodes are there once: found {len(found)}")
