"""Tests of task 8.6. Files are made here; what computes is simpler than the real blocks: it adds and multiplies, so that a test knows what comes out."""
import array
import json
import struct

from judge.testing import task

T = task("8.6", "A language model from a file", 25, "8_language/8.6_model.cpp",
         exports=[f"course::{name}" for name in ("read_header", "read_floats", "load_model", "forward", "answer")], given=["core/header.cpp"],
         calls=["course::parse_header", "course::Header::entry", "course::Header::number"], extra=True)

GROUP = 32
TABLE, NORM = "model.embed_tokens.weight", "model.norm.weight"
NORMS = "input_layernorm.weight", "post_attention_layernorm.weight"
BAD = "std::invalid_argument"


def layer(i, name):
    return f"model.layers.{i}.{name}"


def f32(values):
    return struct.pack(f"<{len(values)}f", *values)


def bf16(values):
    """The upper halves of floats."""
    return b"".join(struct.pack("<f", each)[2:] for each in values)


def text_of(tensors, metadata=None):
    """The header of [(name, dtype, shape, bytes)], whose bytes follow one another."""
    out, at = {"__metadata__": metadata} if metadata else {}, 0
    for name, dtype, shape, data in tensors:
        out[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    return json.dumps(out).encode()


def file_of(text, data=b"", length=None):
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def whole(tensors, metadata=None):
    """What a call gets of a file: all of it, its header, and where its data begin."""
    text = text_of(tensors, metadata)
    return {"file": file_of(text, b"".join(each[3] for each in tensors)), "header": text, "data": 8 + len(text)}


class Model:
    """A model of zeros, with scales and norms of 1: what a test sets is all that counts."""

    def __init__(self, vocabulary, layers=1, width=32, heads=1, groups=1, hidden=32):
        self.numbers = {"layers": layers, "heads": heads, "groups": groups, "width": width, "hidden": hidden, "vocabulary": vocabulary}
        self.norms = {name: [1.0] * width for name in [NORM, *(layer(i, norm) for i in range(layers) for norm in NORMS)]}
        narrow = width // heads * groups
        self.shapes = {TABLE: (vocabulary, width)}
        for i in range(layers):
            for name, shape in (("self_attn.q", (width, width)), ("self_attn.k", (narrow, width)), ("self_attn.v", (narrow, width)),
                                ("self_attn.o", (width, width)), ("mlp.gate", (hidden, width)), ("mlp.up", (hidden, width)), ("mlp.down", (width, hidden))):
                self.shapes[layer(i, name + "_proj.weight")] = shape
        self.bytes = {name: [0] * (rows * columns) for name, (rows, columns) in self.shapes.items()}
        self.scales = {name: [1.0] * (rows * columns // GROUP) for name, (rows, columns) in self.shapes.items()}

    def set(self, name, **places):
        """set("self_attn.q", r3c5=2) sets a number of row 3, column 5, in each layer that has such a matrix; "table" is the table."""
        for full, (_, columns) in self.shapes.items():
            if full == TABLE if name == "table" else full.endswith(name + "_proj.weight"):
                for place, value in places.items():
                    row, column = map(int, place[1:].split("c"))
                    self.bytes[full][row * columns + column] = value
        return self

    def norm(self, end, **places):
        """norm(NORM, e3=2) sets number 3 of all norms whose names end so."""
        for name, values in self.norms.items():
            if name.endswith(end):
                for place, value in places.items():
                    values[int(place[1:])] = value
        return self

    def random(self, t, scale=1 / 64):
        for name in self.bytes:
            self.bytes[name] = [t.random.randint(-127, 127) for _ in self.bytes[name]]
            self.scales[name] = [t.random.randint(1, 8) / 512 * scale * 8 for _ in self.scales[name]]
        for name in self.norms:
            self.norms[name] = [t.random.randint(-8, 8) / 4 for _ in self.norms[name]]
        return self

    def tensors(self, mixed=False):
        """mixed: with norms and scales in bfloat16, in another order, and tensors that the model does not need."""
        kind, packed = ("BF16", bf16) if mixed else ("F32", f32)
        out = [(name, "I8", list(shape), struct.pack(f"{len(self.bytes[name])}b", *self.bytes[name])) for name, shape in self.shapes.items()]
        out += [(name + "_scale", "F32", [rows, columns // GROUP], f32(self.scales[name])) for name, (rows, columns) in self.shapes.items()]
        out += [(name, kind, [len(values)], packed(values)) for name, values in self.norms.items()]
        if mixed:
            out = [("lm_head.bias", "F32", [3], f32([5.0] * 3)), *out[::-1], ("optimizer.step", "F32", [], f32([9.0]))]
        return out

    def metadata(self):
        return {name: str(value) for name, value in self.numbers.items()}

    def file(self, mixed=False):
        return whole(self.tensors(mixed), self.metadata())

    def needed(self):
        """Bytes of the tensors that it needs, each once."""
        return sum(len(data) for _, _, _, data in self.tensors())

    def products(self, tokens, heads):
        """Of so many tokens that go through the layers, and so many through the head."""
        own = sum(rows * columns for name, (rows, columns) in self.shapes.items() if name != TABLE)
        return tokens * own + heads * len(self.bytes[TABLE])

    def weights(self):
        """The numbers of the table, of the head, and of all other matrices, as load_model is to order them."""
        def of(name):
            return [float(each) * self.scales[name][i // GROUP] for i, each in enumerate(self.bytes[name])]
        return of(TABLE) + [each for name in self.shapes for each in of(name)]


def forward(t, model, tokens, pieces=None, mixed=False):
    return t.run(function="forward", tokens=tokens, pieces=pieces or [len(tokens)], **model.file(mixed))


def answers(t, model, questions, most, end):
    """Token 0 is the letter a. The answers, one for each question, and the reply."""
    reply = t.run(function="answer", questions=("\n".join(questions) + "\n").encode(), most=most, end=end, **model.file())
    return [bytes(each).decode() for each in _bytes(reply["answers"]).split(b"\n")[:-1]], reply


def _bytes(text):
    return text if isinstance(text, bytes) else text.encode()


def read_header(t, file):
    return t.run(function="read_header", file=file)


def check_header(t, tensors, metadata, text=None):
    """The header of these tensors, as this text has it."""
    found = read_header(t, file_of(text or text_of(tensors, metadata), b"".join(each[3] for each in tensors)))
    text = text or text_of(tensors, metadata)
    t.equal(found["data"][0], 8 + len(text), "the byte at which the data begin")
    t.equal(found["tensors"], "".join(f"{name} {dtype}\n" for name, dtype, _, _ in tensors), "names and dtypes")
    t.equal(found["shapes"], [each for _, _, shape, _ in tensors for each in (len(shape), *shape)], "shapes (of each its length first)")
    at, places = 0, []
    for each in tensors:
        places += [at, at + len(each[3])]
        at += len(each[3])
    t.equal(found["places"], places, "places")
    t.equal(found["metadata"], "".join(f"{name} {value}\n" for name, value in sorted(metadata.items())), "metadata")


@T.test(3, "header", "what known headers say", hint="The header begins at byte 8, and the data behind it. All 8 bytes count for its length.")
def _(t):
    check_header(t, [], {}, b"{}")
    check_header(t, [("x", "F32", [2], bytes(8))], {})
    check_header(t, [("x", "F32", [], bytes(4)), ("y", "BF16", [2, 3], bytes(12)), ("z", "I8", [2, 0, 5], b""), ("w", "I8", [1, 1, 1, 3], bytes(3))], {"heads": "4"})
    check_header(t, [("x", "I8", [1], bytes(1))], {}, b'{ "x" : {"shape": [ 1 ], "data_offsets": [0,1], "dtype":"I8"}}      ')
    check_header(t, [(f"tensor number {i}", "BF16", [i], bytes(2 * i)) for i in range(900)], {})


def lie(t, what, file):
    t.throws(what, BAD, function="read_header", file=file)


def tensor(dtype="F32", shape=(2,), offsets=(0, 8)):
    return json.dumps({"x": {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}}).encode()


@T.test(3, "lies", "files that are cut off or lie are refused", hint="Hold each number against the size of the file before you use it. A product of sizes may be too large for a number; a length has no sign.")
def _(t):
    good = tensor()
    read_header(t, file_of(good, bytes(8)))
    read_header(t, file_of(good, bytes(9)))
    read_header(t, file_of(tensor("I8", (1 << 32, 1 << 32, 0), (0, 0)), bytes(8)))
    lie(t, "an empty file", b"")
    lie(t, "a file of 7 bytes", bytes(7))
    lie(t, "a header that is a byte longer than the file", file_of(good, b"", len(good) + 1))
    lie(t, "a header of 2^32 bytes more than there are", file_of(good, bytes(8), (1 << 32) + len(good)))
    lie(t, "a header of 2^63 bytes", file_of(good, bytes(8), 1 << 63))
    lie(t, "a header of 2^64 - 1 bytes", file_of(good, bytes(8), (1 << 64) - 1))
    lie(t, "a header that is no JSON", file_of(b"{", bytes(8)))
    lie(t, "a tensor of dtype I64", file_of(tensor("I64", (1,)), bytes(8)))
    lie(t, "a tensor that ends a byte behind the file", file_of(good, bytes(7)))
    lie(t, "a tensor that ends before it begins", file_of(tensor(offsets=(8, 0)), bytes(8)))
    lie(t, "a tensor without bytes behind the end of the file", file_of(tensor(shape=(0,), offsets=(9, 9)), bytes(8)))
    lie(t, "a tensor of 2 numbers with 9 bytes", file_of(tensor(offsets=(0, 9)), bytes(16)))
    lie(t, "a tensor of 3 numbers with 8 bytes", file_of(tensor(shape=(3,)), bytes(16)))
    lie(t, "two BF16 with 8 bytes", file_of(tensor("BF16"), bytes(8)))
    lie(t, "a tensor of 2^32 times 2^32 numbers without bytes", file_of(tensor("I8", (1 << 32, 1 << 32), (0, 0)), bytes(8)))
    lie(t, "a tensor of 2^62 + 1 numbers with 4 bytes", file_of(tensor(shape=((1 << 62) + 1,), offsets=(0, 4)), bytes(8)))
    lie(t, "two tensors of one name", file_of(good[:-1] + b", " + good[1:], bytes(8)))


def floats(t, name, tensors):
    return t.run(function="read_floats", name=name, **whole(tensors))["out"]


@T.test(3, "floats", "F32 and BF16 become floats", hint="A BF16 is the upper half of a float: its two bytes are the last two, and the first two are 0. Copy bytes with memcpy: they may lie anywhere.")
def _(t):
    t.equal(floats(t, "x", [("x", "F32", [3], f32([1.0, -2.5, 0.0]))]), [1.0, -2.5, 0.0], "F32")
    t.equal(floats(t, "x", [("x", "BF16", [1], b"\x80\x3f")]), [1.0], "BF16 of the bytes 0x80 0x3f")
    values = [0.0, -0.5, 3.140625, -1e30, 255.0, float("inf"), 2.0 ** -126, 1.0078125]
    values = list(array.array("f", values))
    t.equal(floats(t, "x", [("x", "BF16", [2, 4], bf16(values))]), [struct.unpack("<f", b"\0\0" + struct.pack("<f", each)[2:])[0] for each in values], "BF16")
    three = [("a", "I8", [3], bytes(3)), ("b", "BF16", [2], bf16([8.0, -8.0])), ("c", "F32", [2], f32([0.1, 1e-40])), ("d", "F32", [0], b"")]
    t.equal(floats(t, "c", three), list(array.array("f", [0.1, 1e-40])), "F32 of the third tensor, which begins at byte 7 of the data")
    t.equal(floats(t, "b", three), [8.0, -8.0], "BF16 of the second tensor")
    t.equal(floats(t, "d", three), [], "F32 of no numbers")
    t.throws("a name that the file does not have", BAD, function="read_floats", name="e", **whole(three))
    t.throws("a tensor of dtype I8", BAD, function="read_floats", name="a", **whole(three))


def check_loaded(t, model, mixed=False):
    found, numbers = t.run(function="load_model", **model.file(mixed)), model.numbers
    t.equal(found["numbers"], [numbers["heads"], numbers["groups"], numbers["layers"], 0], "heads, groups, layers, and the place")
    shapes = [model.shapes[TABLE], *model.shapes.values()]
    t.equal(found["shapes"], [each for shape in shapes for each in shape], "rows and columns of the table, of the head, and of q, k, v, o, gate, up and down of each layer")
    t.equal(found["weights"], model.weights(), "numbers of the table, of the head, and of q, k, v, o, gate, up and down of each layer")
    t.equal(found["norms"], [each for norm in model.norms.values() for each in norm], "numbers of model.norm, and of both norms of each layer")


@T.test(3, "weights", "each tensor gets its place in the model", hint="The names of a layer begin with model.layers. and its number. A byte of I8 has a sign. A tensor is where its name says, whatever the order.")
def _(t):
    check_loaded(t, Model(2, 0).set("table", r0c3=5, r1c31=-128))
    check_loaded(t, Model(3, 1).random(t))
    check_loaded(t, Model(2, 2, 64, 4, 2, 96).random(t))
    check_loaded(t, Model(2, 11, 32, 2, 1).random(t), mixed=True)


def changed(model, change, metadata=None):
    """The file of a model with changed tensors: change(name, dtype, shape, data) gives the tensor, or None."""
    tensors = [change(*each) for each in model.tensors()]
    return whole([each for each in tensors if each], {**model.metadata(), **(metadata or {})})


@T.test(2, "refused", "files that do not fit the model, and tokens that it does not have, are refused",
        hint="Hold the shape and the dtype of each tensor against the numbers in the metadata. Look at all tokens before the first one is read.")
def _(t):
    model, down = Model(3, 1, 64, 2, 1, 96), layer(0, "mlp.down_proj.weight")

    def refused(what, change=lambda *each: each, **metadata):
        t.throws(what, BAD, function="load_model", **changed(model, change, metadata))
    refused("a file without the last norm", lambda *each: each[0] != NORM and each)
    refused("a file without the scales of down_proj", lambda *each: each[0] != down + "_scale" and each)
    refused("a down_proj of shape (96, 64)", lambda name, dtype, shape, data: (name, dtype, shape[::-1] if name == down else shape, data))
    refused("scales of shape (192)", lambda name, dtype, shape, data: (name, dtype, [192] if name == down + "_scale" else shape, data))
    refused("a norm of 32 numbers", lambda name, dtype, shape, data: (name, dtype, [32], data[:128]) if name == NORM else (name, dtype, shape, data))
    refused("a norm of shape (1, 64)", lambda name, dtype, shape, data: (name, dtype, [1, 64] if name == NORM else shape, data))
    refused("a table of 3 rows whose metadata say 2", vocabulary="2")
    refused("a table of BF16", lambda name, dtype, shape, data: (name, "BF16", shape, 2 * data) if name == TABLE else (name, dtype, shape, data))
    refused("a file of one layer whose metadata say 2", layers="2")
    refused("a file of one layer whose metadata say 10^17", layers="1" + "0" * 17)
    refused("64 numbers in 3 heads", heads="3")
    refused("0 heads", heads="0")
    for what, other in (("64 numbers in 3 heads of 21", Model(3, 1, 64, 3, 1)), ("4 heads in 3 groups", Model(3, 1, 32, 4, 3)),
                        ("33 hidden numbers, which are no groups of 32", Model(3, 1, 32, 1, 1, 33)), ("48 numbers, which are no groups of 32", Model(3, 1, 48, 3, 1))):
        t.throws("a file of " + what, BAD, function="load_model", **other.file())
    refused("0 groups", groups="0")
    for tokens in ([3], [0, 1, 3], [2, -1]):
        found = t.run(function="refused", tokens=tokens, **model.file())["left"]
        t.check(found[0] == 1, f"forward of the tokens {tokens}, where the table has 3 rows, did not throw std::out_of_range")
        t.equal(found[1:], [0, 0], "the place, and how many numbers are in the caches, after tokens that were refused")


@T.test(4, "forward", "known logits",
        hint="A layer: norm, q, k and v; RoPE turns q and k; their attention goes through o and is added to x. Norm, gate and up side by side, SwiGLU, down; added to x. At the end norm and head.")
def _(t):
    rows = Model(3, 0).set("table", r0c0=1, r1c1=2, r2c0=3, r2c1=4).norm(NORM, e1=0.5)
    t.equal(forward(t, rows, [2])["logits"], [3.0, 4.0, 17.0], "logits of a model without layers")
    rows.scales[TABLE][2] = 0.5
    t.equal(forward(t, rows, [2])["logits"], [1.5, 2.0, 4.25], "logits, where the scale of the last row is 0.5")
    wide = Model(2, 0, 64).set("table", r0c40=2, r1c40=3)
    wide.scales[TABLE] = [0.0, 1.0, 4.0, 0.5]
    t.equal(forward(t, wide, [1])["logits"], [3.0, 2.25], "logits, where the second group of each row counts")
    gated = Model(3).set("table", r0c0=3, r0c1=5, r1c2=1, r2c0=1).set("mlp.gate", r7c0=2).set("mlp.up", r7c1=1).set("mlp.down", r2c7=1, r0c7=1)
    t.equal(forward(t, gated, [0])["logits"], [574.0, 180.0, 183.0], "logits of a layer with gate, up and down")
    t.equal(forward(t, gated.norm(NORMS[1], e0=0.5, e1=3.0).norm(NORMS[0], e0=9.0), [0])["logits"], [439.0, 135.0, 138.0], "logits, where the layer's norms are not 1")
    values = Model(4).set("table", r0c0=1, r1c0=2, r2c0=4, r3c3=1).set("self_attn.v", r0c0=1).set("self_attn.o", r3c0=1)
    t.close(forward(t, values, [1])["logits"][3], 0.0, "the logit that sees attention, at place 0")
    t.close(forward(t, values, [0, 1])["logits"][3], 1.0, "the logit that sees attention, at place 1")
    t.close(forward(t, values, [0, 1, 2])["logits"][3], 20 / 3, "the logit that sees attention, at place 2")
    t.close(forward(t, values.norm(NORMS[0], e0=3.0).norm(NORMS[1], e0=7.0), [0, 1, 2])["logits"][3], 20.0, "the same with a norm of 3 in front of attention")
    keys = Model(2).set("table", r0c0=2, r1c3=1).set("self_attn.q", r5c0=1).set("self_attn.k", r5c0=3).set("self_attn.v", r0c0=1).set("self_attn.o", r3c0=1)
    t.close(forward(t, keys, [0])["logits"][1], 24.0, "the logit that sees attention, with keys and queries")
    heads = Model(3, 1, 32, 4, 2).set("table", r0c0=2, r0c1=3, r1c5=1, r2c6=1).set("self_attn.q", r12c0=1).set("self_attn.v", r0c0=1, r8c1=1)
    heads.set("self_attn.o", r5c8=1, r6c24=1)
    t.close(forward(t, heads, [0, 0])["logits"][1:], [1.0, 1.5], "logits of head 1 and head 3, of 4 heads in 2 groups")
    both = Model(2).set("table", r0c0=1, r1c4=1).set("self_attn.v", r0c0=1).set("self_attn.o", r3c0=1).set("mlp.gate", r0c3=1).set("mlp.up", r0c0=1).set("mlp.down", r4c0=1)
    t.close(forward(t, both, [0, 0])["logits"][1], 0.25, "the logit that sees what gate makes of attention")


@T.test(3, "answer", "answers end where they should, and a question begins a new text",
        hint="Clear the caches and the place before a question. The token that ends an answer is no part of it.")
def _(t):
    t.equal(answers(t, follower(0), ["a"], 9, 4)[0], ["bcd"], "answer, where b follows a, c b, d c, and e ends it")
    t.equal(answers(t, follower(0), ["cab", "d", "c"], 9, 4)[0], ["cd", "", "d"], "answers")
    t.equal(answers(t, follower(0), ["a", "b"], 2, 4)[0], ["bc", "cd"], "answers of at most 2 tokens")
    t.equal(answers(t, follower(0), ["a"], 0, 4)[0], [""], "answer of at most no token")
    late = follower(3)
    t.equal(answers(t, late, ["a"], 9, 7)[0], ["bcd"], "answer that ends by its place")
    t.equal(answers(t, late, ["a", "abaa", "b", "a"], 9, 7)[0], ["bcd", "", "cde", "bcd"], "answers that end by their places, one after the other")


def follower(place):
    """b follows a, and so on, up to f. At `place`, h is next; with 0 it never is. A token at place p has p^2 / 2 for h."""
    n = 6
    letters = {f"r{i}c{i}": 1 for i in range(n)}
    model = Model(8, int(place > 0) + 1).set("table", **letters, **{f"r{i}c31": 1 for i in (*range(n), 7)}, r7c30=1)
    model.set("mlp.gate", **letters).set("mlp.up", **letters).set("mlp.down", **{f"r{i + 1}c{i}": 4 for i in range(n - 1)})
    if place:
        model.set("self_attn.v", r0c31=1).set("self_attn.o", r30c0=1)
        for name in [each for each in model.bytes if each.startswith("model.layers.1.")]:
            model.bytes[name] = [0] * len(model.bytes[name])
    return model


@T.test(2, "bytes", "each byte is read once, and each matrix is put once", hint="Read the 8 bytes, then the header; then each tensor that the model needs. A step reads nothing.")
def _(t):
    for model, mixed in ((Model(3, 1).random(t), False), (Model(2, 3, 64, 2, 1, 96), True)):
        parts = model.file(mixed)
        t.at_most(read_header(t, parts["file"])["bytes"][0], parts["data"], "bytes that read_header reads")
        x = [("x", "F32", [9], f32([1.0] * 9)), ("y", "BF16", [5], bf16([1.0] * 5))]
        t.at_most(t.run(function="read_floats", name="y", **whole(x))["bytes"][0], 10, "bytes that read_floats reads of five BF16")
        found = forward(t, model, [0, 1, 0], [1, 2], mixed)
        most = sum(len(data) for name, _, _, data in model.tensors(mixed) if name.startswith("model."))
        t.at_most(found["bytes"][0], most, "bytes that load_model reads")
        t.at_most(found["bytes"][1], most, "bytes that load_model and two calls of forward read")
        t.at_most(found["put"][1], sum(map(len, model.bytes.values())), "numbers that are put")


def check_products(t, model, question, most, end, chosen):
    """chosen: how many tokens are chosen, with the one that ends the answer."""
    _, reply = answers(t, model, [question], most, end)
    read = len(question) + chosen - 1
    what = f"a question of {len(question)} tokens, of whose answer {chosen} are chosen"
    t.at_most(reply["products"][0], model.products(read, chosen), f"products for {what}")
    t.at_most(reply["seen"][0], model.numbers["layers"] * read * (read + 1) // 2, f"rows of caches that attention sees for {what}")


@T.test(2, "products", "each token goes through the layers once, and one row for each token that is chosen through the head",
        hint="Keys and values of earlier tokens are in the caches. Only the last token of a piece needs logits. The last token of an answer need not be read.")
def _(t):
    check_products(t, follower(0), "a", 9, 4, 4)
    check_products(t, follower(0), "fffffa", 3, 7, 3)
    check_products(t, follower(3), "ab", 9, 7, 3)
