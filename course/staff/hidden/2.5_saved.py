"""Hidden tests of task 2.5."""
from judge.testing import hidden

ROW_0, ROW_1, MATRIX, OTHER, ROW_1_AS_IT_IS, GET = range(6)


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


@hidden("2.5", of="changed", test="hundreds of writes", title="256, 512 and 65536 writes", hint="A version is a long.")
def _(t):
    for count in (256, 512, 65536):
        t.throws(f"{count} writes", "std::runtime_error", **{"x": t.quarters(8), "x sizes": [2, 4], "before": [ROW_0],
                                                             "after": [ROW_1_AS_IT_IS] * count, "copy": 0})
