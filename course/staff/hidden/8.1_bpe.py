"""Hidden tests of task 8.1."""
from judge.testing import hidden, public


def joined(tokens, pair, token):
    out, i = [], 0
    while i < len(tokens):
        found = tuple(tokens[i:i + 2]) == pair
        out.append(token if found else tokens[i])
        i += 1 + found
    return out


def merges_of(text, count):
    tokens, merges = list(text), []
    while len(merges) < count:
        places = {}
        for pair in zip(tokens, tokens[1:]):
            places[pair] = places.get(pair, 0) + 1
        best = min(places, key=lambda pair: (-places[pair], pair), default=None)
        if best is None or places[best] < 2:
            break
        tokens = joined(tokens, best, 256 + len(merges))
        merges.append(best)
    return merges


def tokens_of(merges, text):
    tokens = list(text)
    for i, pair in enumerate(merges):
        tokens = joined(tokens, pair, 256 + i)
    return tokens


@hidden("8.1", of="merges", test="merges of random texts", title="merges of texts of random letters", hint="Count the places of all pairs anew after each merge.")
def _(t):
    for letters, size, count in [(b"ab", 30, 5), (b"abc", 200, 40), (bytes(range(256)), 3000, 60), (b"aaaaab", 500, 30)]:
        text = bytes(t.random.choices(letters, k=size))
        t.equal(public("8.1").learned(t, text, count), merges_of(text, count), "merges")


@hidden("8.1", of="merges", test="many merges", title="100 merges of words, and 650 of rare pairs", hint="Nothing limits the text or the number of merges.")
def _(t):
    words = b" ".join(bytes(t.random.choices(b"etaoinshr", weights=range(9, 0, -1), k=t.random.randint(1, 7))) for _ in range(1500))
    pairs = {bytes(t.random.sample(range(60, 256), 2)): None for _ in range(310)}
    for text, count in ((words, 100), (b"".join((b"." + pair) * 3 for pair in pairs), 650)):
        t.equal(public("8.1").learned(t, text, count), merges_of(text, count), "merges")


@hidden("8.1", of="merges", test="merges of merges", title="1,100 merges, down to one token", hint="Both parts of a pair may be tokens of any number: keep them apart.")
def _(t):
    half = bytes(t.random.choices(range(256), k=1100))
    t.equal(public("8.1").learned(t, half * 2, 5000), merges_of(half * 2, 5000), "merges")


@hidden("8.1", of="merges", test="many places", title="pairs at 70,000 and at 30,000 places", hint="A number of places is an int.")
def _(t):
    t.equal(public("8.1").learned(t, b"ab" * 70000 + b"cd" * 30000, 1), [(97, 98)], "merges")
    t.equal(public("8.1").learned(t, b"ab" * 30000 + b"cd" * 40000, 1), [(99, 100)], "merges")


@hidden("8.1", of="ties", test="ties of other pairs", title="pairs that stand at as many places", hint="Compare the tokens as numbers, the left parts first.")
def _(t):
    for _ in range(6):
        pairs = [bytes(t.random.sample(range(256), 2)) for _ in range(4)]
        text = b"".join(each * 2 for each in pairs)
        t.equal(public("8.1").learned(t, text, 6), merges_of(text, 6), "merges")


@hidden("8.1", of="end", test="ends of others", title="random short texts", hint="Learning ends where no pair stands at two places.")
def _(t):
    for _ in range(12):
        text = bytes(t.random.choices(b"xyz", k=t.random.randint(0, 9)))
        t.equal(public("8.1").learned(t, text, 20), merges_of(text, 20), "merges")


@hidden("8.1", of="bytes", test="random bytes", title="texts of random bytes", hint="A byte is a number from 0 to 255.")
def _(t):
    for letters in ([0, 255], [0, 127, 128, 255], range(256)):
        text = bytes(t.random.choices(letters, k=300))
        merges = merges_of(text, 12)
        t.equal(public("8.1").learned(t, text, 12), merges, "merges")
        tokens = public("8.1").encoded(t, merges, text)["tokens"]
        t.equal(tokens, tokens_of(merges, text), "tokens")
        t.equal(public("8.1").decoded(t, merges, tokens), text, "text")


@hidden("8.1", of="order", test="random merges", title="tokens of random texts by random merges", hint="The merge of the smallest number comes first, and its places from left to right.")
def _(t):
    for letters, count, size in [(b"a", 5, 40), (b"ab", 12, 60), (b"abc", 80, 500), (b"abcdefgh", 1000, 3000)]:
        merges = public("8.1").some_merges(t, letters, count, 16)
        text = bytes(t.random.choices(letters, k=size))
        t.equal(public("8.1").encoded(t, merges, text)["tokens"], tokens_of(merges, text), "tokens")


@hidden("8.1", of="decode", test="random tokens", title="texts of random tokens", hint="A token of 256 or more is two tokens, each of which may be two tokens.")
def _(t):
    for count in (1, 10, 500):
        merges = public("8.1").some_merges(t, bytes(range(256)), count, 64)
        tokens = [t.random.randrange(256 + count) for _ in range(200)]
        parts = public("8.1").texts(merges)
        t.equal(public("8.1").decoded(t, merges, tokens), b"".join(parts[each] for each in tokens), "text")
        for token in (256 + count, -t.random.randint(1, 300)):
            t.throws(f"token {token}, where tokens go from 0 to {255 + count}", "std::out_of_range", left=[each[0] for each in merges],
                     right=[each[1] for each in merges], tokens=[token])
    chain = [(97, 98)] + [(256 + i, 99) for i in range(2000)]
    t.equal(public("8.1").decoded(t, chain, [2256]), b"ab" + b"c" * 2000, "text of a token that is made of 2,000 others")


@hidden("8.1", of="round trip", test="round trips", title="other texts become tokens and the same again", hint="Encode and decode with the same merges.")
def _(t):
    for size in (1, 50, 2000):
        text = bytes(t.random.choices(range(256), weights=[1 + each % 7 * 9 for each in range(256)], k=size))
        merges = public("8.1").learned(t, text, 15)
        t.equal(public("8.1").decoded(t, merges, public("8.1").encoded(t, merges, text)["tokens"]), text, "text")


@hidden("8.1", of="look-ups", test="look-ups of other texts", title="look-ups of texts of one letter, and of many", hint="A merge changes two pairs: all others are known already.")
def _(t):
    for letters, size in ((b"a", 700), (bytes(range(60)), 900)):
        merges, text = public("8.1").some_merges(t, letters, 7 if len(letters) == 1 else 300), bytes(t.random.choices(letters, k=size))
        found = public("8.1").encoded(t, merges, text)
        public("8.1").is_encoded(t, found["tokens"], merges, text)
        t.at_most(found["calls"][0], 8 * size, f"calls of find() for {size} bytes")


@hidden("8.1", of="long text", test="another long text", title="a text of 300,000 letters of one kind", hint="Do not look through all of the text for each merge.")
def _(t):
    merges = [(97, 97), (256, 256), (257, 257)]
    t.equal(public("8.1").encoded(t, merges, b"a" * 300007)["tokens"], [258] * 37500 + [257, 256, 97], "tokens")


@hidden("8.1", of="order", test="a large vocabulary", title="65,536 merges", hint="A token is an int.")
def _(t):
    merges = [(left, right) for left in range(256) for right in range(256)]
    text = bytes(t.random.choices(range(200, 256), k=50))
    parts = {pair: 256 + i for i, pair in enumerate(merges)}
    expected = list(text)
    while True:
        best = min((parts[pair], i) for i, pair in enumerate([*zip(expected, expected[1:]), (255, 255)]) if pair in parts)
        if best[1] == len(expected) - 1:
            break
        expected[best[1]:best[1] + 2] = [best[0]]
    t.equal(public("8.1").encoded(t, merges, text)["tokens"], expected, "tokens")


@hidden("8.1", of="decode", test="a large vocabulary decoded", title="the text of tokens above 60,000", hint="A token is an int.")
def _(t):
    merges = [(left, right) for left in range(256) for right in range(256)]
    tokens = [t.random.randrange(32768, 65792) for _ in range(30)]
    t.equal(public("8.1").decoded(t, merges, tokens), b"".join(bytes(divmod(each - 256, 256)) for each in tokens), "text")


def placed(*wanted):
    """Merges in which token t is the pair (left, right), for each (t, left, right); all others join bytes from 128 on with something."""
    merges = [(128 + i % 128, i // 128) for i in range(max(each[0] for each in wanted) - 255)]
    for token, left, right in wanted:
        merges[token - 256] = left, right
    return merges


@hidden("8.1", of="order", test="parts above 65,535", title="a merge whose left part is token 65,633", hint="Two tokens do not fit into 32 bits.")
def _(t):
    merges = placed((300, 97, 99), (65633, 97, 98), (70000, 65633, 99))
    t.equal(public("8.1").encoded(t, merges, b"acabc")["tokens"], [300, 70000], "tokens")


@hidden("8.1", of="long text", test="a long text of large tokens", title="400,000 bytes, and a token of 10,738", hint="A place and a token do not fit into 32 bits.")
def _(t):
    merges = placed((300, 98, 99), (10738, 97, 98))
    t.equal(public("8.1").encoded(t, merges, b"abcab" * 80000)["tokens"], [97, 300, 10738] * 80000, "tokens")
