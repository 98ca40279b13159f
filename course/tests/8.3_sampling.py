"""Tests of task 8.3. Logits are logarithms of whole numbers, so probabilities are fractions."""
import math

from judge.testing import task

T = task("8.3", "Sampling", 20, "8_language/8.3_sampling.cpp", exports=["course::probabilities", "course::sample"], extra=True)


def logs(*shares):
    return [math.log(each) for each in shares]


def probabilities(t, logits, temperature=1.0, top_k=0, top_p=1.0):
    return t.run(logits=logits, temperature=temperature, top_k=top_k, top_p=top_p)["probabilities"]


def is_shared(t, found, *shares, what="probabilities"):
    """The probabilities are as these shares, and 0 where these are."""
    t.close(found, [each / sum(shares) for each in shares], what)
    for token, each in enumerate(found):
        t.check(shares[token] > 0 or each == 0, f"{what}: token {token} has {each:g}, though it has no chance")


def draw(t, logits, random, temperature=1.0, top_k=0, top_p=1.0, draws=None):
    return t.run(logits=logits, temperature=temperature, top_k=top_k, top_p=top_p, random=random, draws=draws or len(random))


def even(n):
    """n numbers that lie evenly between 0 and 1."""
    return [(i + 0.5) / n for i in range(n)]


def has_shares(t, tokens, *shares):
    """Of tokens that were drawn by n even numbers each has its share, but for 2."""
    n = len(tokens)
    t.check(all(0 <= each < len(shares) for each in tokens), f"tokens: found {min(tokens)} to {max(tokens)}, expected 0 to {len(shares) - 1}")
    for token, share in enumerate(shares):
        expected = n * share / sum(shares)
        t.check(tokens.count(token) == 0 or share > 0, f"token {token} was drawn, though its probability is 0")
        t.check(abs(tokens.count(token) - expected) <= 2, f"token {token} of {n} numbers that lie evenly between 0 and 1: found {tokens.count(token)} times, "
                f"expected {expected:.0f}, or 2 more or less")


def is_large(t, size, top_k, top_p, fewest, most):
    """Of many tokens the largest stay."""
    logits = t.floats(size)
    found = probabilities(t, logits, 1.0, top_k, top_p)
    kept = [each for each, chance in zip(logits, found) if chance > 0]
    t.check(len(found) == size, f"probabilities: found {len(found)}, expected {size}")
    t.check(fewest <= len(kept) <= most, f"tokens that stay: found {len(kept)}, expected {fewest}" + (f" to {most}" if most > fewest else ""))
    t.close(math.fsum(found), 1.0, "the sum of the probabilities", 1e-3)
    left = max((each for each, chance in zip(logits, found) if chance == 0), default=-math.inf)
    t.check(min(kept) >= left, f"a token of logit {left:g} is left out, though one of {min(kept):g} stays")


@T.test(2, "temperature", "softmax(logits / temperature)", hint="Divide the logits, not the probabilities. With temperature 0 the first of the largest logits gets all.")
def _(t):
    is_shared(t, probabilities(t, [0.5]), 1)
    is_shared(t, probabilities(t, logs(4, 1, 2)), 4, 1, 2)
    is_shared(t, probabilities(t, logs(4, 1, 2), 0.5), 16, 1, 4)
    is_shared(t, probabilities(t, logs(16, 1, 4), 2.0), 4, 1, 2)
    is_shared(t, probabilities(t, logs(4, 1, 2), 0.0), 1, 0, 0)
    is_shared(t, probabilities(t, [-0.5, 0.25, 0.25], 0.0), 0, 1, 0)


@T.test(3, "top k", "the k likeliest tokens stay, and share what the others had", hint="Those that stay are divided by their sum. With k = 0, or as many as there are, all stay.")
def _(t):
    logits = logs(1, 5, 2, 3)
    for k, shares in ((1, (0, 1, 0, 0)), (2, (0, 5, 0, 3)), (3, (0, 5, 2, 3)), (4, (1, 5, 2, 3)), (0, (1, 5, 2, 3)), (99, (1, 5, 2, 3))):
        is_shared(t, probabilities(t, logits, top_k=k), *shares)


@T.test(3, "top p", "the likeliest tokens stay until their sum is p", hint="The token that brings the sum to p stays, too. With p = 0 one token stays.")
def _(t):
    logits = logs(3, 10, 5, 2)  # 0.15, 0.5, 0.25, 0.1
    for p, shares in ((0.0, (0, 1, 0, 0)), (0.4, (0, 1, 0, 0)), (0.6, (0, 10, 5, 0)), (0.74, (0, 10, 5, 0)), (0.8, (3, 10, 5, 0)), (0.95, (3, 10, 5, 2)), (1.0, (3, 10, 5, 2))):
        is_shared(t, probabilities(t, logits, top_p=p), *shares)
    found = probabilities(t, [0.0, -20.0, -21.0], top_p=1.0)
    t.check(min(found) > 0, f"probabilities, with p = 1: found {min(found):g}, though all stay, also where the first has 0.999999997")


@T.test(2, "ties", "of equal logits the smaller number is the likelier", hint="k tokens stay, and no more, also where the next one is equal. std::stable_sort keeps the order of equals.")
def _(t):
    is_shared(t, probabilities(t, [0.5] * 4, top_k=2), 1, 1, 0, 0)
    is_shared(t, probabilities(t, [0.0, 1.5, 1.5, 1.5], top_k=2), 0, 1, 1, 0)
    is_shared(t, probabilities(t, [0.5] * 4, top_p=0.5), 1, 1, 0, 0, what="probabilities, where the sum of two is p")
    is_shared(t, probabilities(t, [0.5] * 4, top_p=0.6), 1, 1, 1, 0)
    is_shared(t, probabilities(t, [1.0, 2.0], 1e9, 1), 0, 1, what="probabilities, where logits differ and their quotients by the temperature hardly do")
    n = 40  # more than what a sort of few does by insertion
    is_shared(t, probabilities(t, [0.5] * n, top_k=n // 2), *[1] * (n // 2) + [0] * (n // 2))


@T.test(2, "order", "first the temperature, then k, then p", hint="p is compared with probabilities of the k tokens alone, which sum to 1.")
def _(t):
    logits = logs(4, 3, 2, 1)
    is_shared(t, probabilities(t, logits, top_k=2, top_p=0.5), 1, 0, 0, 0, what="probabilities: of the two that stay the first has 4/7")
    is_shared(t, probabilities(t, logits, top_k=3, top_p=0.5), 4, 3, 0, 0)
    is_shared(t, probabilities(t, logits, temperature=0.5, top_p=0.5), 1, 0, 0, 0, what="probabilities: the first has 16/30")
    is_shared(t, probabilities(t, logits, temperature=0.5, top_k=3, top_p=0.9), 16, 9, 4, 0)
    is_shared(t, probabilities(t, logits, temperature=0.0, top_k=3, top_p=0.9), 1, 0, 0, 0)


@T.test(2, "extremes", "large logits, logits of -infinity, and settings that are none",
        hint="Subtract the largest logit before exp. Nothing is drawn with a temperature below 0, and p lies between 0 and 1.")
def _(t):
    for middle in (1000.0, -1000.0):
        is_shared(t, probabilities(t, [middle, middle, middle - 500]), 1, 1, 0)
    is_shared(t, probabilities(t, [1.0, 1.5, 1.0], 0.001), 0, 1, 0)
    for temperature in (1e-36, 2e-39):  # no float is as large as 1 / 2e-39
        is_shared(t, probabilities(t, [500.0, 400.0, 500.0], temperature), 1, 0, 1, what=f"probabilities at temperature {temperature:g}")
    is_shared(t, probabilities(t, [-math.inf, 0.0, -math.inf, 0.0]), 0, 1, 0, 1)
    is_shared(t, probabilities(t, [-math.inf, 0.0, 0.0], top_k=3, top_p=0.9), 0, 1, 1)
    for name, value in (("temperature", -0.5), ("temperature", math.nan), ("top_k", -1), ("top_p", -0.25), ("top_p", 1.25), ("top_p", math.nan)):
        t.throws(f"{name} = {value}", "std::invalid_argument", **{"logits": [0.0, 1.0], "temperature": 1.0, "top_k": 0, "top_p": 1.0, name: value})
        t.throws(f"{name} = {value} where a token is drawn", "std::invalid_argument",
                 **{"logits": [0.0, 1.0], "temperature": 0.0, "top_k": 0, "top_p": 1.0, "random": [0.5], "draws": 1, name: value})


@T.test(2, "draws", "each token is drawn as often as its probability says", hint="Go along the probabilities and add them up: the first token at which the sum exceeds next() is drawn.")
def _(t):
    has_shares(t, draw(t, logs(1, 3, 4), even(80))["tokens"], 1, 3, 4)
    has_shares(t, draw(t, logs(1, 3, 4), even(1000), 0.5)["tokens"], 1, 9, 16)
    has_shares(t, draw(t, logs(4, 3, 2, 1), even(1000), top_k=3)["tokens"], 4, 3, 2, 0)
    has_shares(t, draw(t, logs(1, 5, 3, 1), even(1000), top_p=0.75)["tokens"], 0, 5, 3, 0)
    found = draw(t, logs(1, 5, 5), [0.0, 0.5, 0.999], 0.0)["tokens"]
    t.equal(found, [1, 1, 1], "tokens at temperature 0")
    t.equal(sorted(draw(t, [0.5, 0.5], [0.0, 0.5])["tokens"]), [0, 1], "tokens, sorted, where next() is 0 and the probability of the first")
    for n in (11, 12, 19, 41, 100):  # n floats of 1 / n may sum to less than the largest float below 1
        draws_none_without_chance(t, n)


def draws_none_without_chance(t, n):
    """Of n tokens of the same chance one is drawn, also where next() is 0 or the largest float below 1."""
    for logits, top_k in (([-math.inf, *[0.0] * n, -math.inf], 0), ([-math.inf, *[0.0] * (n + 1)], n), ([-1.0, *[0.0] * n, -1.0], n)):
        for number in (0.0, 1 - 2 ** -24):
            found = draw(t, logits, [number], top_k=top_k)["tokens"][0]
            t.check(1 <= found <= n, f"token: found {found}, expected one of 1 to {n}, since the others have no chance")


@T.test(2, "one number", "next() is called once for a token, and never with temperature 0", hint="Draw from what stays. To draw until a token comes that stays may take very long.")
def _(t):
    for top_k, top_p in ((0, 1.0), (1, 1.0), (2, 0.5), (0, 0.01)):
        found = draw(t, logs(1, 7, 1, 1), even(50), top_k=top_k, top_p=top_p)
        t.equal(found["calls"], [50], "calls of next() for 50 tokens")
    t.equal(draw(t, logs(1, 7), even(50), 0.0)["calls"], [0], "calls of next() at temperature 0")


@T.test(2, "many tokens", "half of 400,000 tokens stay", hint="Sort the tokens once. To look for the largest that is left, again and again, takes minutes.")
def _(t):
    is_large(t, 400000, 200000, 1.0, 198000, 200000)
    is_large(t, 400000, 0, 0.5, 100000, 200000)
