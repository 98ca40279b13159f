"""Hidden tests of task 8.3."""
import math

from judge.testing import hidden, public


def expected(t, shares, temperature=1.0, top_k=0, top_p=1.0):
    """The probabilities; None where a sum is too close to top_p to call."""
    order = sorted(range(len(shares)), key=lambda i: (-shares[i], i))
    order = order[:top_k] if top_k else order
    terms, kept = [shares[i] ** (1 / temperature) for i in order], 1
    while kept < len(order) and sum(terms[:kept]) < top_p * sum(terms):
        kept += 1
    if top_p < 1 and any(abs(sum(terms[:i]) / sum(terms) - top_p) < 1e-4 for i in range(len(terms) + 1)):
        return None
    out = [0.0] * len(shares)
    for i, term in zip(order[:kept], terms):
        out[i] = term / sum(terms[:kept])
    return out


def compare(t, shares, **settings):
    right = expected(t, shares, **settings)
    if right is not None:
        t.close(public("8.3").probabilities(t, public("8.3").logs(*shares), **settings), right, "probabilities")


@hidden("8.3", of="temperature", test="random temperatures", title="logits at random temperatures", hint="Divide the logits by the temperature.")
def _(t):
    for temperature in (0.1, 0.7, 1.3, 5.0, t.random.uniform(0.2, 3)):
        compare(t, [t.random.randint(1, 40) for _ in range(t.random.randint(1, 30))], temperature=temperature)
    logits = [each / 1000 for each in public("8.3").logs(1, 3, 4)]
    t.close(public("8.3").probabilities(t, logits, 0.001), [1 / 8, 3 / 8, 4 / 8], "probabilities at temperature 0.001", 1e-4)
    public("8.3").has_shares(t, public("8.3").draw(t, logits, public("8.3").even(80), 0.001)["tokens"], 1, 3, 4)
    logits = t.floats(50)
    t.equal(public("8.3").probabilities(t, logits, 0.0), [float(each == max(logits)) for each in logits], "probabilities at temperature 0")


@hidden("8.3", of="top k", test="random k", title="the k likeliest of random logits", hint="Those that stay are divided by their sum.")
def _(t):
    for size in (1, 5, 33, 300):
        shares = t.random.sample(range(1, 2000), size)
        for k in (1, size // 2 + 1, size, size + 7):
            compare(t, shares, top_k=k)


@hidden("8.3", of="top p", test="random p", title="random p, of random logits", hint="The token that brings the sum to p stays, too.")
def _(t):
    for size in (1, 4, 20, 200):
        shares = t.random.sample(range(1, 2000), size)
        for p in (0.0, 0.1, 0.33, 0.9, t.random.uniform(0.05, 0.95), 1.0):
            compare(t, shares, top_p=p)
    for size in (2, 9, 50):
        logits = [0.0] + t.floats(size, -22, -18)
        t.check(min(public("8.3").probabilities(t, logits, top_p=1.0)) > 0, "probabilities, with p = 1: found 0, though all stay")


@hidden("8.3", of="ties", test="ties of others", title="many logits, few kinds of them", hint="Of equal logits the smaller number is the likelier.")
def _(t):
    for size in (6, 100, 1000):
        shares = [t.random.choice([1, 2, 4]) for _ in range(size)]
        for k in (1, 3, size // 2, size - 1):
            compare(t, shares, top_k=k)
    public("8.3").is_shared(t, public("8.3").probabilities(t, [-2.5] * 64, top_p=0.25), *[1] * 16, *[0] * 48, what="probabilities, where the sum of 16 is p")
    for size in (3, 70):
        logits, best = t.floats(size), t.random.randrange(1, size)
        logits[best] = 1.5
        public("8.3").is_shared(t, public("8.3").probabilities(t, logits, 1e9, 1), *[int(i == best) for i in range(size)], what="probabilities at temperature 10^9, with k = 1")


@hidden("8.3", of="order", test="settings at temperature 0", title="temperature 0 with k and p", hint="With temperature 0 the first of the largest logits gets all, whatever k and p are.")
def _(t):
    for top_k, top_p in ((0, 0.5), (2, 1.0), (3, 0.25), (1, 0.0)):
        public("8.3").is_shared(t, public("8.3").probabilities(t, [0.5, 2.0, 2.0, 2.0], 0.0, top_k, top_p), 0, 1, 0, 0)


@hidden("8.3", of="order", test="random settings", title="temperature, k and p together", hint="First the temperature, then k, then p.")
def _(t):
    for _ in range(12):
        size = t.random.randint(2, 40)
        compare(t, t.random.sample(range(1, 300), size), temperature=t.random.choice([0.5, 0.8, 1.7]), top_k=t.random.randint(1, size), top_p=t.random.uniform(0.2, 0.95))


@hidden("8.3", of="extremes", test="other extremes", title="logits of 30,000, and errors", hint="Subtract the largest logit before exp.")
def _(t):
    for middle in (30000.0, -30000.0):
        public("8.3").is_shared(t, public("8.3").probabilities(t, [middle, middle - 2000, middle]), 1, 0, 1)
    public("8.3").is_shared(t, public("8.3").probabilities(t, [0.0, -math.inf, 0.0, -math.inf], 3.0, 4, 1.0), 1, 0, 1, 0)
    public("8.3").is_shared(t, public("8.3").probabilities(t, [-math.inf, 2.5], 0.0), 0, 1)
    public("8.3").is_shared(t, public("8.3").probabilities(t, [-700.0, -700.0, -701.0], 2e-37), 1, 1, 0)
    for temperature in (2e-39, 1e-44):
        public("8.3").is_shared(t, public("8.3").probabilities(t, [0.0, 1.0, 1.0], temperature), 0, 1, 1, what=f"probabilities at temperature {temperature:g}")
    for name, value in (("temperature", -1e-6), ("top_k", -100), ("top_p", 1.0001), ("top_p", -1e-6)):
        t.throws(f"{name} = {value}", "std::invalid_argument", **{"logits": [0.0], "temperature": 0.0, "top_k": 0, "top_p": 1.0, name: value})
    t.throws("top_p = 2 where a token is drawn", "std::invalid_argument", logits=[0.0], temperature=0.0, top_k=0, top_p=2.0, random=[0.5], draws=1)


@hidden("8.3", of="draws", test="random shares", title="shares of random tokens", hint="Each token has a share of the numbers that is its probability.")
def _(t):
    for size, n in ((2, 500), (7, 2000), (300, 900)):
        shares = [t.random.randint(1, 9) for _ in range(size)]
        public("8.3").has_shares(t, public("8.3").draw(t, public("8.3").logs(*shares), public("8.3").even(n))["tokens"], *shares)
    for n in (23, 27, 28, 300):
        public("8.3").draws_none_without_chance(t, n)
    t.equal(sorted(public("8.3").draw(t, [-math.inf, 2.5, -math.inf, 2.5], [0.5, 0.0])["tokens"]), [1, 3], "tokens, sorted, where next() is 0 and the probability of the first")
    numbers = t.floats(6000, 0, 0.999)  # each count is within five standard deviations
    found = public("8.3").draw(t, public("8.3").logs(1, 2, 5, 12), numbers, top_k=3)["tokens"]
    for token, chance in ((0, 0), (1, 2 / 19), (2, 5 / 19), (3, 12 / 19)):
        t.check(abs(found.count(token) - 6000 * chance) <= 5 * math.sqrt(6000 * chance * (1 - chance)) + 6, f"token {token}: found {found.count(token)} of 6000 times, expected about {6000 * chance:.0f}")


@hidden("8.3", of="one number", test="numbers of others", title="calls of next() for 300 tokens", hint="Draw from what stays.")
def _(t):
    for top_k, top_p, temperature in ((3, 1.0, 0.3), (0, 0.05, 4.0), (1, 0.0, 1.0)):
        found = public("8.3").draw(t, t.floats(300), t.floats(40, 0, 0.999), temperature, top_k, top_p, 300)
        t.equal(found["calls"], [300], "calls of next() for 300 tokens")
    for top_k, top_p in ((3, 1.0), (0, 0.5), (2, 0.25)):
        found = public("8.3").draw(t, [0.5, 2.0, 2.0, 1.0], [0.75], 0.0, top_k, top_p, 20)
        t.equal(found["calls"], [0], "calls of next() at temperature 0")
        t.equal(found["tokens"], [1] * 20, "tokens at temperature 0")


@hidden("8.3", of="many tokens", test="more tokens", title="most of 300,000 tokens stay", hint="Sort the tokens once.")
def _(t):
    public("8.3").is_large(t, 300000, 290000, 1.0, 287000, 290000)
    public("8.3").is_large(t, 300000, 0, 0.97, 200000, 299000)
    logits = [0.5] * 100000 + [12.0] + [0.5] * 70000
    found = public("8.3").draw(t, logits, [0.3], top_k=1)["tokens"]
    t.equal(found, [100000], "tokens")
