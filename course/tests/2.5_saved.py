"""Tests of task 2.5. Row 1 of a matrix of 2 rows is saved, by Saved saved(row)."""
import re

from judge.testing import task

T = task("2.5", "Saved tensors", 15, "2_autodiff/2.5_saved.cpp", exports=["course::Saved::Saved", "course::Saved::get"])

# What happens before and after the row is saved.
ROW_0, ROW_1, MATRIX, OTHER, ROW_1_AS_IT_IS, GET, TRY = range(7)  # TRY: get(), which may throw
X = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


def inputs(before, after, copy=0, **more):
    return {"x": X, "x sizes": [2, 3], "before": before, "after": after, "copy": copy, **more}


def saved(t, before=(), after=(), copy=0, **more):
    return t.run(**inputs(before, after, copy, **more))


def says(t, versions, **given):
    """get() throws, and its text has these numbers."""
    text = t.throws("the memory was written to after it was saved", "std::runtime_error", **given)
    missing = [each for each in versions if str(each) not in re.findall("[0-9]+", text)]
    t.check(not missing, f"the text of the error does not say version {' and '.join(map(str, missing))}: found '{text}'")


@T.test(2, "unchanged", "nobody wrote: get() gives the tensor, as often as it is asked",
        hint="Return the tensor that the constructor kept, with its sizes and its offset.")
def _(t):
    for after in ([], [GET], [GET, GET]):
        reply = saved(t, after=after)
        t.equal(reply["value sizes"], [3], "sizes")
        t.equal(reply["values"], X[3:], "elements")
        t.equal(reply["writes"], [0], "by how much saving and get() have changed the storage's version")


@T.test(3, "changed", "a write to the tensor: get() throws, and says both versions",
        hint="Compare the version of the storage now with the one that the constructor kept.")
def _(t):
    t.throws("the row was written to after it was saved", "std::runtime_error", **inputs([], [ROW_1]))
    t.throws("the row was written to twice after it was saved", "std::runtime_error", **inputs([], [ROW_1, ROW_1]))
    t.throws("the row was written to between two calls of get()", "std::runtime_error", **inputs([], [GET, ROW_1]))
    t.throws("the row was written to before and after it was saved", "std::runtime_error", **inputs([ROW_1, ROW_1], [ROW_1]))
    t.throws("the row was written to, and get() had thrown before", "std::runtime_error", **inputs([], [ROW_1, TRY]))
    says(t, [41, 42], **inputs([], [ROW_1], version=41))


@T.test(3, "other names", "a write by another tensor of the same memory: get() throws",
        hint="The version belongs to the storage, not to the tensor: one version for all who share the memory.")
def _(t):
    t.throws("the whole matrix was written to", "std::runtime_error", **inputs([], [MATRIX]))
    # One version for the whole storage: a write to the other row counts too, as in PyTorch.
    t.throws("the other row of the same storage was written to", "std::runtime_error", **inputs([], [ROW_0]))
    t.throws("the other row was written to, through a copy of Saved", "std::runtime_error", **inputs([], [ROW_0], copy=1))


@T.test(1, "same values", "a write that leaves the elements as they were: get() throws",
        hint="Compare versions, not elements.")
def _(t):
    t.throws("somebody wrote the same elements", "std::runtime_error", **inputs([], [ROW_1_AS_IT_IS]))


@T.test(2, "written before", "writes before the tensor was saved, and to other memory, do not matter",
        hint="The version need not be 0 when a tensor is saved.")
def _(t):
    for before, after, expected in [([ROW_0], [], X[3:]), ([ROW_1], [], [100.0] * 3), ([MATRIX, ROW_0], [GET], [200.0] * 3),
                                    ([], [OTHER], X[3:]), ([ROW_0], [OTHER, OTHER], X[3:])]:
        t.equal(saved(t, before, after)["values"], expected, "elements")
        t.equal(saved(t, before, after, copy=1)["values"], expected, "elements, from a copy of Saved")


@T.test(2, "no copy", "the elements are not copied, and their memory is kept",
        hint="A copy of a Tensor shares its storage: keep that, and return it.")
def _(t):
    t.check(saved(t)["same memory"] == [1], "what get() gives lies in other memory than what was saved")
    reply = saved(t, drop=1)
    t.check(reply["memory is kept"] == [1], "the memory is gone where nobody else has a name for it")
    t.equal(reply["values"], X[3:], "elements, where nobody else has a name for the memory")


@T.test(2, "no graph", "the node of the tensor is not kept alive",
        hint="A node that saves its own result would own itself, and never be freed: keep the memory, not the node.")
def _(t):
    t.check(saved(t)["node is kept"] == [0], "the node still lives after all tensors of it are gone")
