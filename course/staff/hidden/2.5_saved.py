"""Hidden tests of task 2.5."""
from judge.testing import hidden, public

ROW_0, ROW_1, MATRIX, OTHER, ROW_1_AS_IT_IS, GET, TRY = range(7)


@hidden("2.5", of="changed", test="many writes", title="random writes before and after",
        hint="Any write since the tensor was saved counts.")
def _(t):
    for _ in range(12):
        before = [t.random.choice([ROW_0, ROW_1, MATRIX, OTHER]) for _ in range(t.random.randint(0, 5))]
        after = [t.random.choice([ROW_0, ROW_1, MATRIX, OTHER, ROW_1_AS_IT_IS]) for _ in range(t.random.randint(1, 9))]
        inputs = {"x": t.quarters(8), "x sizes": [2, 4], "before": before, "after": after, "copy": t.random.randint(0, 1)}
        if all(each == OTHER for each in after):
            t.run(**inputs)
        else:
            t.throws("the memory was written to", "std::runtime_error", **inputs)
            inputs["after"] = [*after, *[TRY] * t.random.randint(1, 3)]
            t.throws("the memory was written to, and get() had thrown before", "std::runtime_error", **inputs)
    for version in (0, 1 << 40):
        more = t.random.randint(2, 60)
        inputs = given(t, [ROW_0, MATRIX], [GET, *[t.random.choice([ROW_0, ROW_1, MATRIX]) for _ in range(more)]])
        public("2.5").says(t, [version + 2, version + 2 + more], **inputs, version=version)


@hidden("2.5", of="changed", test="hundreds of writes", title="256, 512 and 65536 writes", hint="A version is a long.")
def _(t):
    for count in (256, 512, 65536):
        t.throws(f"{count} writes", "std::runtime_error", **{"x": t.quarters(8), "x sizes": [2, 4], "before": [ROW_0],
                                                             "after": [ROW_1_AS_IT_IS] * count, "copy": 0})


def given(t, before, after, copy=0):
    """Inputs with other numbers."""
    return {"x": t.quarters(8), "x sizes": [2, 4], "before": before, "after": after, "copy": copy}


@hidden("2.5", of="unchanged", test="unchanged others", title="other numbers, asked for up to ten times", hint="Return the tensor that the constructor kept.")
def _(t):
    for times in (0, 1, 9):
        inputs = given(t, [], [GET] * times)
        reply = t.run(**inputs)
        t.equal(reply["value sizes"], [4], "sizes")
        t.equal(reply["values"], inputs["x"][4:], "elements")
        t.equal(reply["writes"], [0], "by how much saving and get() have changed the storage's version")


@hidden("2.5", of="other names", test="other names of others", title="writes by other tensors of the same memory, among calls of get()", hint="The version belongs to the storage.")
def _(t):
    for _ in range(8):
        after = [GET] * t.random.randint(0, 3) + [t.random.choice([MATRIX, ROW_0])] + [OTHER] * t.random.randint(0, 3)
        t.throws("other tensors of the storage were written to", "std::runtime_error", **given(t, [], after, t.random.randint(0, 1)))


@hidden("2.5", of="same values", test="same values of others", title="writes that leave other elements as they were", hint="Compare versions, not elements.")
def _(t):
    for before in ([], [ROW_1], [OTHER, ROW_0]):
        t.throws("somebody wrote the same elements", "std::runtime_error", **given(t, before, [GET, OTHER, ROW_1_AS_IT_IS]))


@hidden("2.5", of="written before", test="written before, often", title="many writes before, and to other memory after", hint="The version need not be 0 when a tensor is saved.")
def _(t):
    for _ in range(6):
        inputs = given(t, [t.random.choice([ROW_0, OTHER]) for _ in range(t.random.randint(1, 300))], [OTHER] * t.random.randint(0, 5))
        t.equal(t.run(**inputs)["values"], inputs["x"][4:], "elements")


@hidden("2.5", of="no copy", test="no copy of others", title="no copy after writes before, and through a copy of Saved", hint="A copy of a Tensor shares its storage.")
def _(t):
    for before in ([ROW_0], [MATRIX, OTHER]):
        for copied in (0, 1):
            t.check(t.run(**given(t, before, [GET], copied))["same memory"] == [1], "what get() gives lies in other memory than what was saved")
            reply = t.run(**given(t, before, [GET], copied), drop=1)
            t.check(reply["memory is kept"] == [1], "the memory is gone where nobody else has a name for it")


@hidden("2.5", of="no graph", test="no graph of others", title="the node is not kept alive, through a copy of Saved", hint="Keep the memory, not the node.")
def _(t):
    for copied in (0, 1):
        t.check(t.run(**given(t, [ROW_0], [GET, OTHER], copied))["node is kept"] == [0], "the node still lives after all tensors of it are gone")
