"""Hidden tests of task 8.6."""
import struct

from judge.testing import hidden, public


class Reference:
    """What the blocks of the runner make of a model, in exact order and double precision."""

    def __init__(self, model):
        own = public("8.6")
        self.numbers, self.norms, self.own, self.place = model.numbers, model.norms, own, 0
        self.rows = {}
        for name, (rows, columns) in model.shapes.items():
            values = [each * model.scales[name][i // own.GROUP] for i, each in enumerate(model.bytes[name])]
            self.rows[name] = [values[r * columns:r * columns + columns] for r in range(rows)]
        self.caches = [([], []) for _ in range(self.numbers["layers"])]

    def _times(self, name, x):
        return [sum(a * b for a, b in zip(row, x)) for row in self.rows[name]]

    def _turned(self, x, heads):
        d = len(x) // heads
        return [each + (self.place if i % d == 0 else 0) for i, each in enumerate(x)]

    def _normed(self, x, name):
        return [a * b for a, b in zip(x, self.norms[name])]

    def read(self, token):
        """The logits of the next token."""
        heads, groups = self.numbers["heads"], self.numbers["groups"]
        x = list(self.rows[self.own.TABLE][token])
        d = len(x) // heads
        for i, (keys, values) in enumerate(self.caches):
            def of(name, y, i=i):
                return self._times(self.own.layer(i, name + "_proj.weight"), y)
            h = self._normed(x, self.own.layer(i, self.own.NORMS[0]))
            q = self._turned(of("self_attn.q", h), heads)
            keys.append(self._turned(of("self_attn.k", h), groups))
            values.append(of("self_attn.v", h))
            seen = [0.0] * len(x)
            for k, v in zip(keys, values):
                for head in range(heads):
                    at = head // (heads // groups) * d
                    score = sum(q[head * d + e] * k[at + e] for e in range(d)) / len(keys)
                    for e in range(d):
                        seen[head * d + e] += score * v[at + e]
            x = [a + b for a, b in zip(x, of("self_attn.o", seen))]
            h = self._normed(x, self.own.layer(i, self.own.NORMS[1]))
            wide = [a * a * b for a, b in zip(of("mlp.gate", h), of("mlp.up", h))]
            x = [a + b for a, b in zip(x, of("mlp.down", wide))]
        self.place += 1
        return self._times(self.own.TABLE, self._normed(x, self.own.NORM))


def close(t, found, expected, what):
    largest = max(1.0, *map(abs, expected))
    t.close([each / largest for each in found], [each / largest for each in expected], what, 1e-4)


@hidden("8.6", of="header", test="other headers", title="headers of lengths around 256 and 65536", hint="All 8 bytes of the length count, and none has a sign.")
def _(t):
    own = public("8.6")
    for length in (127, 128, 200, 255, 256, 257, 511, 65535, 65536, 65792):
        tensors = [("a b", "I8", [3, 1], bytes(3)), ("c", "F32", [1, 2], bytes(8))]
        text = own.text_of(tensors, {"k": "v w"})
        own.check_header(t, tensors, {"k": "v w"}, text + b" " * (length - len(text)) if length > len(text) else text)
    tensors = []
    for i in range(40):
        shape = [t.random.randint(1, 4) for _ in range(t.random.randint(0, 4))]
        count = 1
        for each in shape:
            count *= each
        dtype, size = t.random.choice([("I8", 1), ("BF16", 2), ("F32", 4)])
        tensors.append((f"t{i}", dtype, shape, bytes(count * size)))
    own.check_header(t, tensors, {"layers": "12", "heads": "3"})


@hidden("8.6", of="lies", test="other lies", title="other files that lie", hint="Hold each number against the size of the file before you use it.")
def _(t):
    own = public("8.6")
    own.read_header(t, own.file_of(own.tensor("BF16", (2, 2)), bytes(8)))
    own.read_header(t, own.file_of(own.tensor("BF16", (2, 2), (3, 11)), bytes(11)))
    for size in (1, 4):
        own.lie(t, f"a file of {size} bytes", bytes([1]) * size)
    own.lie(t, "a file of 8 bytes with a header of 1", struct.pack("<Q", 1))
    for length in ((1 << 63) - 1, (1 << 63) - 8, (1 << 40) + len(own.tensor()), 1 << 40, (1 << 64) - 8, (1 << 64) - 70):
        own.lie(t, f"a header of {length} bytes", own.file_of(own.tensor(), bytes(8), length))
    for dtype in ("F16", "f32", "U8", "BF1", "F64"):
        own.lie(t, f"a tensor of dtype {dtype}", own.file_of(own.tensor(dtype, (8,) if dtype == "U8" else (1,) if dtype == "F64" else (2,)), bytes(8)))
    own.lie(t, "a tensor that ends far behind the file", own.file_of(own.tensor("I8", (1 << 40,), (0, 1 << 40)), bytes(8)))
    own.lie(t, "a tensor that ends at 2^63 - 1", own.file_of(own.tensor("I8", ((1 << 63) - 1,), (0, (1 << 63) - 1)), bytes(8)))
    own.lie(t, "a tensor that begins behind its end", own.file_of(own.tensor("F32", (0,), (5, 4)), bytes(8)))
    own.lie(t, "a tensor with the data of the header", own.file_of(own.tensor("I8", (12,), (0, 12)), bytes(8)))
    for shape in ((0, 1 << 32, 1 << 32), (1 << 32, 1 << 32, 0), ((1 << 63) - 1, 0, (1 << 63) - 1)):
        own.read_header(t, own.file_of(own.tensor("F32", shape, (8, 8)), bytes(8)))
        own.lie(t, f"a tensor of no numbers, of shape {shape}, with 8 bytes", own.file_of(own.tensor("F32", shape), bytes(8)))
    own.lie(t, "three numbers for a shape of none", own.file_of(own.tensor("I8", (), (0, 3)), bytes(8)))
    own.lie(t, "a shape with a 0 that has bytes", own.file_of(own.tensor("I8", (3, 0), (0, 3)), bytes(8)))
    own.lie(t, "a tensor of 2^62 numbers of 4 bytes without bytes", own.file_of(own.tensor("F32", (1 << 62,), (0, 0)), bytes(8)))
    own.lie(t, "a tensor of 2^60 times 16 numbers with 8 bytes", own.file_of(own.tensor("I8", (1 << 60, 16, 8), (0, 8)), bytes(8)))
    three = own.tensor("I8", (1,), (0, 1))[1:-1]
    own.lie(t, "a third tensor with the name of the first", own.file_of(b"{" + three + b"," + three.replace(b"x", b"y") + b"," + three + b"}", bytes(8)))


@hidden("8.6", of="floats", test="random floats", title="random numbers in F32 and BF16", hint="A BF16 is the upper half of a float.")
def _(t):
    own = public("8.6")
    for count in (1, 7, 400):
        values = t.floats(count, -1000, 1000)
        halves = [bytes([t.random.randrange(256), t.random.choice([0, 1, 0x3f, 0x42, 0x80, 0xbf, 0xc1])]) for _ in range(count)]
        before = ("before", "I8", [t.random.randint(1, 9)], b"")
        before = (*before[:3], bytes([7]) * before[2][0])
        t.equal(own.floats(t, "x", [before, ("x", "F32", [count, 1], own.f32(values))]), values, "F32")
        t.equal(own.floats(t, "y", [before, ("y", "BF16", [count], b"".join(halves)), before]), [struct.unpack("<f", b"\0\0" + each)[0] for each in halves], "BF16")


@hidden("8.6", of="weights", test="other models", title="models of other sizes", hint="A tensor is where its name says.")
def _(t):
    own = public("8.6")
    own.check_loaded(t, own.Model(5, 3, 96, 3, 3, 32).random(t))
    own.check_loaded(t, own.Model(1, 1, 32, 32, 8, 160).random(t), mixed=True)
    own.check_loaded(t, own.Model(300, 1, 32, 1, 1, 64).random(t))


@hidden("8.6", of="refused", test="each tensor", title="each tensor is missing, or has another shape", hint="Look at the shape of each tensor.")
def _(t):
    own = public("8.6")
    model = own.Model(4, 2, 64, 4, 2, 96)
    t.run(function="load_model", **own.changed(model, lambda *each: each))
    for name in [each[0] for each in model.tensors()]:
        for what, change in ((f"a file without {name}", lambda *each: each[0] != name and each),
                             (f"{name} in a shape with a 1 more", lambda n, dtype, shape, data: (n, dtype, [*shape, 1] if n == name else shape, data)),
                             (f"{name} with more rows", lambda n, dtype, shape, data: (n, dtype, [2 * shape[0], *shape[1:]], 2 * data) if n == name else (n, dtype, shape, data))):
            t.throws(what, "std::invalid_argument", function="load_model", **own.changed(model, change))
    numbers = [(number, "7") for number in ("heads", "groups", "width", "hidden", "vocabulary", "layers")] + [("heads", "1"), ("groups", "4"), ("groups", "3"), ("hidden", "x")]
    numbers += [(number, str((1 << 32) + value)) for number, value in model.numbers.items()] + [("layers", "9" * 18)]
    for number, value in numbers:
        t.throws(f"{number} of {value}", "std::invalid_argument", function="load_model", **own.changed(model, lambda *each: each, {number: value}))
    for matrix in model.shapes:
        t.throws(f"{matrix} of dtype F32", "std::invalid_argument", function="load_model",
                 **own.changed(model, lambda n, dtype, shape, data: (n, "F32", shape, 4 * data) if n == matrix else (n, dtype, shape, data)))
    uneven = own.Model(4, 1, 32, 2, 1, 32)
    uneven.numbers["hidden"] = 48
    for name, shape in (("gate", (48, 32)), ("up", (48, 32)), ("down", (32, 48))):
        full = own.layer(0, f"mlp.{name}_proj.weight")
        uneven.shapes[full], uneven.bytes[full], uneven.scales[full] = shape, [0] * (48 * 32), [1.0] * (shape[0] * (shape[1] // 32))
    t.throws("48 hidden numbers, in groups of 32", "std::invalid_argument", function="load_model", **uneven.file())
    t.throws("6 heads in 4 groups", "std::invalid_argument", function="load_model", **own.Model(3, 1, 96, 6, 4).file())
    t.throws("64 numbers in 5 heads", "std::invalid_argument", function="load_model", **own.Model(3, 1, 64, 5, 5).file())
    t.throws("a width of 48, in groups of 32", "std::invalid_argument", function="load_model", **own.Model(3, 1, 48, 3, 1).file())
    for tokens in ([4], [0, -1, 2], [3, 3, 3, 1000000]):
        t.equal(t.run(function="refused", tokens=tokens, **model.file())["left"], [1, 0, 0], "whether it threw std::out_of_range, the place, and the numbers in the caches")


@hidden("8.6", of="forward", test="random models", title="random models, and tokens in pieces", hint="A layer has two norms and two sums; keys and values of each layer are its own.")
def _(t):
    own = public("8.6")
    for vocabulary, layers, width, heads, groups, hidden_size, pieces in [(5, 1, 32, 1, 1, 32, [3]), (4, 2, 64, 4, 2, 96, [2, 1, 3]), (3, 3, 32, 8, 1, 64, [1] * 5),
                                                                        (6, 1, 96, 3, 3, 32, [1, 4]), (40, 2, 32, 2, 1, 32, [12])]:
        model = own.Model(vocabulary, layers, width, heads, groups, hidden_size).random(t)
        tokens, reference, expected, at = [t.random.randrange(vocabulary) for _ in range(sum(pieces))], Reference(model), [], 0
        for piece in pieces:
            logits = [reference.read(token) for token in tokens[at:at + piece]]
            expected += logits[-1]
            at += piece
        found = own.forward(t, model, tokens, pieces)
        close(t, found["logits"], expected, f"logits of pieces of {', '.join(map(str, pieces))} tokens")
        t.equal(found["place"][0], sum(pieces), "the place behind all tokens")


@hidden("8.6", of="answer", test="random answers", title="answers of random models, one after the other", hint="A question begins a new text.")
def _(t):
    own = public("8.6")
    model = own.Model(9, 2, 32, 2, 1, 32).random(t)
    questions = ["".join(t.random.choice("abcdefghi") for _ in range(t.random.randint(1, 6))) for _ in range(5)]
    for end, most in ((8, 7), (3, 20), (30, 4)):
        found = own.answers(t, model, questions, most, end)[0]
        t.equal(len(found), len(questions), "answers")
        for question, one in zip(questions, found):
            reference, expected, sure = Reference(model), "", True
            for letter in question:
                logits = reference.read(ord(letter) - 97)
            while len(expected) < most:
                ordered = sorted(logits)
                sure = ordered[-1] - ordered[-2] > 1e-3 * max(map(abs, logits))
                token = logits.index(ordered[-1])
                if not sure or token == end:
                    break
                expected += chr(97 + token)
                logits = reference.read(token)
            t.equal(one if sure else one[:len(expected)], expected, f"the answer to {question}, the end being {end}")


@hidden("8.6", of="answer", test="forgets", title="a question that asks for no token begins a new text too", hint="Clear the caches and the place, then look at `most`.")
def _(t):
    own = public("8.6")
    model = own.Model(9, 2, 32, 2, 1, 32).random(t)
    for question in ("a", "bcd"):
        found, reply = own.answers(t, model, ["abcabc", question], [5, 0], 30)
        t.equal(found[1], "", "the answer of at most no token")
        place, cached = reply["left"]
        t.check(place in (0, len(question)), f"the place after a question of {len(question)} tokens that asks for no token: found {place}, expected 0, or {len(question)} where the question was read")
        t.equal(cached, place * 2 * 2 * 16, "numbers in the caches after it, of both layers")


@hidden("8.6", of="bytes", test="bytes of other files", title="bytes of other files", hint="Each tensor is read once.")
def _(t):
    own = public("8.6")
    for model in (own.Model(70, 2, 64, 2, 2, 64).random(t), own.Model(4, 5, 32, 4, 1, 32).random(t)):
        parts = model.file(True)
        t.at_most(own.read_header(t, parts["file"])["bytes"][0], parts["data"], "bytes that read_header reads")
        most = sum(len(data) for name, _, _, data in model.tensors(True) if name.startswith("model."))
        found = own.forward(t, model, [0, 1, 2, 3], [1, 1, 2], True)
        t.at_most(found["bytes"][1], most, "bytes that load_model and three calls of forward read")
        t.at_most(found["put"][1], sum(map(len, model.bytes.values())), "numbers that are put")


@hidden("8.6", of="products", test="products of other models", title="products for other questions", hint="Each token goes through the layers once.")
def _(t):
    own = public("8.6")
    for length, most in ((1, 1), (12, 3), (3, 25)):
        model = own.Model(30, 2, 64, 4, 2, 32).random(t)
        own.check_products(t, model, "".join(t.random.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(length)), most, -1, most)
