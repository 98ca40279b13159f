"""Hidden tests of task 8.4."""
import math

from judge.testing import hidden, public


@hidden("8.4", of="rms norm", test="random rows", title="random rows and weights", hint="Try rows of fractions, of up to 9,000 columns, and 5,000 rows.")
def _(t):
    for rows, d in [(3, 7), (2, 129), (5003, 1), (1, 9001)]:
        x, weight = t.floats(rows * d, -3, 5), t.floats(d)
        found = public("8.4").rms_norm(t, x, weight)["out"]
        for r in range(rows):
            row = x[r * d:r * d + d]
            scale = 1 / math.sqrt(math.fsum(each * each for each in row) / d + 1e-5)
            t.close(found[r * d:r * d + d], [each * scale * w for each, w in zip(row, weight)], f"row {r} of out", 1e-4)


@hidden("8.4", of="rms norm", test="more rows", title="70,000 rows", hint="A grid has at most 65,535 blocks along y and z.")
def _(t):
    t.begins(seconds=0.3, may_end=True, function="rms_norm", x=[1.0] * 70000, weight=[1.0], rows=70000, in_place=0)


@hidden("8.4", of="rope", test="random turns", title="random rows of several heads", hint="Numbers e and e + d / 2 of a head are a pair.")
def _(t):
    for rows, heads, d, first in [(1, 1, 2, 7), (5, 3, 6, 0), (9, 2, 64, 100), (40, 5, 10, 3), (2, 70, 128, 11)]:
        x = t.floats(rows * heads * d)
        expected = list(x)
        for row in range(rows):
            for head in range(heads):
                at = (row * heads + head) * d
                for e in range(d // 2):
                    angle = (first + row) / 10000 ** (2 * e / d)
                    a, b = x[at + e], x[at + e + d // 2]
                    expected[at + e] = a * math.cos(angle) - b * math.sin(angle)
                    expected[at + e + d // 2] = a * math.sin(angle) + b * math.cos(angle)
        t.close(public("8.4").rope(t, x, heads, d, first)["out"], expected, "x", 1e-3)


@hidden("8.4", of="rope", test="many rows turned", title="70,000 rows", hint="A grid has at most 65,535 blocks along y and z.")
def _(t):
    found = public("8.4").rope(t, [1.0, 0.0] * 70000, 1, 2, 0)["out"]
    for place in (3, 65535, 65536, 69999):
        t.close(found[2 * place:2 * place + 2], [math.cos(place), math.sin(place)], f"x at place {place}", 1e-2)


@hidden("8.4", of="rope", test="far places", title="places above 2^24, 2^31 and 2^32", hint="A place is a long, and above 2^24 no float.")
def _(t):
    for place in (2 ** 24 + 5, 2 ** 31, 2 ** 31 + 3, 2 ** 32, 2 ** 32 + 129):
        t.close(public("8.4").rope(t, [1.0, 0.0], 1, 2, place)["out"], [math.cos(place), math.sin(place)], f"x at place {place}", 1e-3)


@hidden("8.4", of="distance", test="other distances", title="products of turned rows at other places", hint="Queries and keys are turned in the same way.")
def _(t):
    d = 16
    q, k = t.floats(d), t.floats(d)
    apart, product = t.random.randint(0, 40), []
    for first in (0, t.random.randint(1, 30), t.random.randint(100, 200)):
        turned = [public("8.4").rope(t, x, 1, d, first + more)["out"] for x, more in ((q, 0), (k, apart))]
        product.append(math.fsum(map(float.__mul__, *turned)))
    t.close(product, product[:1] * 3, f"products of rows that are {apart} places apart", 2e-3)


@hidden("8.4", of="swiglu", test="random gates", title="random rows and columns", hint="The gate is on the left.")
def _(t):
    for rows, columns in [(1, 1), (3, 50), (130, 1), (7, 333), (2, 3001), (70001, 1)]:
        x = t.floats(rows * 2 * columns, -6, 6)
        gates = [x[r * 2 * columns + c] for r in range(rows) for c in range(columns)]
        others = [x[r * 2 * columns + columns + c] for r in range(rows) for c in range(columns)]
        t.close(public("8.4").swiglu(t, x, rows)["out"], [u / (1 + math.exp(-u)) * w for u, w in zip(gates, others)], "out", 1e-4)


@hidden("8.4", of="grouped attention", test="random groups", title="random queries, keys and values", hint="Head h uses the keys and values of group h / (heads / groups).")
def _(t):
    for heads, groups, n, d in [(1, 1, 1, 1), (6, 3, 40, 5), (8, 1, 65, 64), (16, 2, 33, 7), (5, 5, 300, 2), (14, 2, 31, 33), (300, 100, 3, 2), (2, 1, 5001, 1)]:
        q, k, v = t.floats(heads * d, -2, 2), t.floats(n * groups * d, -2, 2), t.floats(n * groups * d, -2, 2)
        expected, width = [], groups * d
        for h in range(heads):
            at = h // (heads // groups) * d
            scores = [sum(q[h * d + e] * k[j * width + at + e] for e in range(d)) / math.sqrt(d) for j in range(n)]
            terms = [math.exp(each - max(scores)) for each in scores]
            expected += [math.fsum(term * v[j * width + at + e] for j, term in enumerate(terms)) / math.fsum(terms) for e in range(d)]
        t.close(public("8.4").attention(t, q, k, v, heads, groups, n)["out"], expected, "out", 1e-4)


@hidden("8.4", of="grouped attention", test="scores that rise", title="keys that fit better and better, and scores far below 0", hint="The sums so far belong to the old maximum.")
def _(t):
    for q in (3.0, -3.0, 300.0, -300.0, -1e6):
        n = 90
        k, v = [1.0 + j / 30 for j in range(n)], t.quarters(n)
        scores = [q * each for each in k]
        terms = [math.exp(each - max(scores)) for each in scores]
        expected = math.fsum(map(float.__mul__, terms, v)) / math.fsum(terms)
        t.close(public("8.4").attention(t, [q], k, v, 1, 1, n)["out"], [expected], "out", 1e-3)


@hidden("8.4", of="launches", test="launches of other sizes", title="launches of many rows and keys", hint="Each part is one launch.")
def _(t):
    if not t.on_gpu:
        for name, reply in (("rms_norm", public("8.4").rms_norm(t, t.floats(3000), t.floats(3))), ("rope", public("8.4").rope(t, t.floats(4000), 5, 4)),
                            ("swiglu", public("8.4").swiglu(t, t.floats(1400), 700)), ("grouped_attention", public("8.4").attention(t, t.floats(24), t.floats(1200), t.floats(1200), 12, 3, 200))):
            t.at_most(len(reply.launches), 1, f"launches of {name}")


@hidden("8.4", of="loads", test="loads of other sizes", title="loads and stores of other sizes", hint="Each number is loaded as often as is needed.")
def _(t):
    p = public("8.4")
    rows, d = 3, 300
    p.count(t, "rms_norm", p.rms_norm(t, t.floats(rows * d), t.floats(d)), 3 * rows * d, rows * d)
    p.count(t, "rope", p.rope(t, t.floats(1280), 1, 64), 1280, 1280)
    p.count(t, "swiglu", p.swiglu(t, t.floats(1200), 3), 1200, 600)
    for heads, groups, n, d in ((8, 1, 130, 32), (12, 3, 70, 8)):
        kv = t.floats(n * groups * d)
        p.count(t, "grouped_attention", p.attention(t, t.floats(heads * d), kv, kv, heads, groups, n), 2 * n * groups * d + 8 * heads * d, heads * d)
