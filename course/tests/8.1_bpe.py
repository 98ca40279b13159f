"""Tests of task 8.1. A text is bytes; a merge is (left, right), and its token is 256 and its place in the list."""
from judge.testing import task

T = task("8.1", "Byte-pair encoding", 20, "8_language/8.1_bpe.cpp",
         exports=["course::train_bpe", "course::encode", "course::decode"], extra=True)


def learned(t, text, count):
    found = t.run(text=text, count=count)
    return list(zip(found["left"], found["right"]))


def encoded(t, merges, text):
    left, right = [each[0] for each in merges], [each[1] for each in merges]
    return t.run(left=left, right=right, text=text)


def decoded(t, merges, tokens):
    return bytes(t.run(left=[each[0] for each in merges], right=[each[1] for each in merges], tokens=tokens)["bytes"])


def texts(merges):
    """The bytes of each token."""
    out = [bytes([each]) for each in range(256)]
    for left, right in merges:
        out.append(out[left] + out[right])
    return out


def some_merges(t, letters, count, longest=8):
    """Merges of random tokens, each pair once."""
    merges = []
    while len(merges) < count:
        tokens, parts = [*letters, *range(256, 256 + len(merges))], texts(merges)
        pair = t.random.choice(tokens), t.random.choice(tokens)
        if pair not in merges and len(parts[pair[0]] + parts[pair[1]]) <= longest:
            merges.append(pair)
    return merges


def is_encoded(t, found, merges, text):
    """The tokens are those of the text, and no merge is left to do."""
    parts, known = texts(merges), set(merges)
    for each in found:
        t.check(0 <= each < len(parts), f"tokens: found token {each}, expected tokens of 0 to {len(parts) - 1}")
    t.check(b"".join(parts[each] for each in found) == text, "tokens: the bytes of the tokens are not those of the text")
    for i, pair in enumerate(zip(found, found[1:])):
        t.check(pair not in known, f"tokens: {pair[0]} and {pair[1]} stand side by side at {i}, though a merge has this pair")


@T.test(3, "merges", "the pair at most places becomes a token, again and again",
        hint="Count the places of all pairs anew after each merge: the new token has neighbours, too.")
def _(t):
    t.equal(learned(t, b"abab", 1), [(97, 98)], "merges")
    t.equal(learned(t, b"banana bandana", 1), [(97, 110)], "merges")
    t.equal(learned(t, b"bbbbacac", 1), [(98, 98)], "merges, where 'bb' stands at three places")
    t.equal(learned(t, b"cabababd ab", 2), [(97, 98), (256, 256)], "merges")
    t.equal(learned(t, b"acaccbaaaaaaaada", 3), [(97, 97), (256, 256), (97, 99)], "merges")
    t.equal(learned(t, b"caababaaabababd", 3), [(97, 98), (256, 256), (97, 257)], "merges")


@T.test(3, "ties", "of several pairs at as many places, the one of the smallest left part, then of the smallest right part",
        hint="Compare the tokens as numbers, the left parts first.")
def _(t):
    t.equal(learned(t, b"zyzyabab", 2), [(97, 98), (122, 121)], "merges")
    t.equal(learned(t, b"acxacyabzab", 2), [(97, 98), (97, 99)], "merges")
    t.equal(learned(t, b"acxbbyacxbb", 1), [(97, 99)], "merges")
    t.equal(learned(t, b"ababcdcd", 4), [(97, 98), (99, 100)], "merges, where each token that was made stands at one place of a pair")
    t.equal(learned(t, b"zzxaabaabzzx", 3), [(97, 97), (122, 120), (122, 257)], "merges: a token's number is larger than a byte's")


@T.test(2, "end", "it ends where no pair stands at two places", hint="A pair that stands at one place makes a text no shorter for others.")
def _(t):
    for text in (b"", b"a", b"ab", b"abcd"):
        t.equal(learned(t, text, 5), [], "merges")
    t.equal(learned(t, b"aaaa", 5), [(97, 97)], "merges")
    t.equal(learned(t, b"abab", 0), [], "merges, where none is wanted")
    t.equal(learned(t, b"abababab", 9), [(97, 98), (256, 256)], "merges")


@T.test(2, "bytes", "any bytes, 0 and 255 among them", hint="A char may be negative: make it an unsigned char first. A text may hold zeros.")
def _(t):
    t.equal(learned(t, b"\xff\xfe\xff\xfe", 1), [(255, 254)], "merges")
    t.equal(learned(t, b"\x00\x80\x00\x80\x00\x80\x7f", 2), [(0, 128), (256, 256)], "merges")
    t.equal(encoded(t, [(255, 0)], b"\x00\xff\x00\x80\xff\x00")["tokens"], [0, 256, 128, 256], "tokens")
    t.equal(list(decoded(t, [(255, 0)], [256, 128, 0])), [255, 0, 128, 0], "bytes")


@T.test(3, "order", "merges of small numbers come first, each from left to right",
        hint="Which merge is done next depends on the number of its token, not on where it stands or how long it is.")
def _(t):
    t.equal(encoded(t, [(97, 98)], b"abcab")["tokens"], [256, 99, 256], "tokens")
    t.equal(encoded(t, [(98, 99), (97, 98)], b"abc")["tokens"], [97, 256], "tokens")
    t.equal(encoded(t, [(98, 99), (97, 98), (257, 99)], b"abcab")["tokens"], [97, 256, 257], "tokens: 'abc' is a token that these merges never make here")
    t.equal(encoded(t, [(98, 99), (97, 256)], b"abc")["tokens"], [257], "tokens")
    t.equal(encoded(t, [(97, 97)], b"aaaaa")["tokens"], [256, 256, 97], "tokens")
    t.equal(encoded(t, [(97, 97), (256, 256), (257, 97)], b"aaaaaaa")["tokens"], [257, 256, 97], "tokens")
    t.equal(encoded(t, [(97, 98), (99, 256), (256, 99)], b"abcabc")["tokens"], [256, 257, 99], "tokens")
    for text in (b"", b"a"):
        t.equal(encoded(t, [(97, 97)], text)["tokens"], list(text), "tokens")


@T.test(2, "decode", "the bytes of tokens, and an error for a number that is none",
        hint="A token of 256 or more is two tokens, each of which may be two tokens; numbers end at 255 and the number of merges.")
def _(t):
    merges = [(97, 98), (256, 99), (257, 257), (258, 256)]
    t.equal(decoded(t, merges, [98, 97]), b"ba", "text")
    t.equal(decoded(t, merges, [256, 99, 257]), b"abcabc", "text")
    t.equal(decoded(t, merges, [259, 258]), b"abcabcababcabc", "text")
    t.equal(decoded(t, merges, []), b"", "text")
    for token in (260, -1, 1000000):
        t.throws(f"token {token}, where tokens go from 0 to 259", "std::out_of_range", left=[97, 256, 257, 258], right=[98, 99, 257, 256], tokens=[97, token])


@T.test(1, "round trip", "a text becomes tokens and the same text again", hint="Encode with the merges that were learned, and decode with the same.")
def _(t):
    text = bytes(t.random.choices(b"abc \n", weights=[5, 3, 2, 2, 1], k=400))
    merges = learned(t, text[:300], 20)
    t.check(len(merges) == 20, f"merges: found {len(merges)}, expected 20")
    tokens = encoded(t, merges, text)["tokens"]
    t.check(len(tokens) < len(text), f"tokens: found {len(tokens)}, expected fewer than the {len(text)} bytes of the text")
    t.equal(decoded(t, merges, tokens), text, "text")


@T.test(3, "look-ups", "at most 8 look-ups for each byte",
        hint="A merge changes two pairs, that with the token before and that with the token behind: all others are known already.")
def _(t):
    for size in (20, 100, 1000):
        letters = b"abcd"
        merges, text = some_merges(t, letters, 60), bytes(t.random.choices(letters, k=size))
        found = encoded(t, merges, text)
        is_encoded(t, found["tokens"], merges, text)
        t.at_most(found["calls"][0], 8 * size, f"calls of find() for {size} bytes")


@T.test(1, "long text", "a text of 400,000 bytes", hint="Do not look through all of the text for each merge: keep what was found in a std::priority_queue, and the tokens in a list.")
def _(t):
    merges, text = some_merges(t, b"ab", 40), bytes(t.random.choices(b"ab", k=400000))
    is_encoded(t, encoded(t, merges, text)["tokens"], merges, text)
