"""Tests of task 1.5. The runner's parallel_for runs its chunks one after the other, forwards or backwards, and notes which
chunk uses which address: two chunks that meet at one address race, whatever the machine's threads would have done."""
import math

from judge.testing import Op2, task

T = task("1.5", "Reduce in parallel", 20, "1_cpu/1.5_reduce_parallel.cpp", exports=["course::cpu::reduce_parallel"],
         given=["runner/races.cpp"], options=["-fsanitize=thread"], calls=["course::cpu::parallel_for"],
         libraries=["-lbacktrace", "-Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset"])

ADD, _SUB, MUL, _DIV, MAXIMUM = Op2
PART = 256  # kPart in core/cpu.h


def reduces(t, x, op=ADD, start=0.0, chunks=4, backwards=0, races=False):
    return t.run(findings=not races, x=x, op=op, start=start, chunks=chunks, backwards=backwards, **({"watch": 1} if races else {}))


def result(t, x, **more):
    return reduces(t, x, **more)["result"][0]


@T.test(2, "values", "sums, products and maxima", hint="Reduce each part alone, then combine the parts' results.")
def _(t):
    for n in [PART, 2 * PART, 8 * PART]:
        x = t.quarters(n)
        t.equal(result(t, x), sum(x), "sum")
        t.equal(result(t, x, op=MAXIMUM, start=-math.inf), max(x), "maximum")
        t.equal(result(t, [-each - 9 for each in x], op=MAXIMUM, start=-math.inf), -min(x) - 9, "maximum of negative numbers")
        signs = [1.0 if each < 0 else -1.0 for each in x]
        t.equal(result(t, signs, op=MUL, start=1.0), math.prod(signs), "product of 1 and -1")
        last = [-3.0] * (n - 1) + [0.0]
        t.equal(result(t, last, op=MAXIMUM, start=-math.inf), 0.0, "maximum of negative numbers and 0")
        t.equal(result(t, signs[1:] + [0.0], op=MUL, start=1.0), 0.0, "product of 1, -1 and 0")


@T.test(1, "many parts", "1,025 parts, and 5,000", hint="The number of parts follows from n: nothing limits it.")
def _(t):
    for parts in [1025, 5000]:
        t.equal(result(t, [1.0] * (parts * PART)), float(parts * PART), "sum of ones")


@T.test(3, "tail", "lengths that no part divides", hint="The last part may be shorter; it counts, and it ends where x ends.")
def _(t):
    for n in [1, 2, PART - 1, PART + 1, 3 * PART + 5, 5 * PART - 1]:
        x = t.quarters(n, 1, 8)
        t.equal(result(t, x), sum(x), f"sum of {n} numbers")
        t.equal(result(t, [-each for each in x], op=MAXIMUM, start=-math.inf), -min(x), f"maximum of {n} negative numbers")


@T.test(1, "none", "no elements", hint="Without elements the result is start.")
def _(t):
    t.equal(result(t, [], start=7.0), 7.0, "sum of nothing, beginning with 7")


@T.test(2, "start", "start counts once", hint="Each part begins with its own first element; start joins at the end.")
def _(t):
    for chunks in [1, 3, 8]:
        t.equal(result(t, [1.0] * (6 * PART), start=1000.0, chunks=chunks), 1000.0 + 6 * PART, "sum")
        t.equal(result(t, [1.0] * (6 * PART), op=MUL, start=4.0, chunks=chunks), 4.0, "product")
        t.equal(result(t, [1.0] * (6 * PART), op=MAXIMUM, start=1000.0, chunks=chunks), 1000.0, "maximum")


@T.test(4, "no race", "no two chunks use one address while one of them writes to it",
        hint="Let each call of the body write only to elements that no other call touches, and combine after parallel_for.")
def _(t):
    for op in [ADD, MUL, MAXIMUM]:
        for chunks in [2, 5]:
            x = t.quarters(10 * PART + 3)
            x[::PART // 2] = [0.0] * len(x[::PART // 2])  # in each part: who looks for a 0 of a product finds it in every chunk
            reduces(t, x, op=op, chunks=chunks, races=True)


@T.test(4, "same bits", "the same result for every number of chunks, in any order",
        hint="Where x is cut must follow from n alone. begin and end change with the number of threads.")
def _(t):
    x = t.floats(40 * PART, 0.0)
    t.close(result(t, x, chunks=1), math.fsum(x), "sum", 1e-3)
    for what, op, x in [("sum", ADD, x), ("product", MUL, t.floats(40 * PART, 0.9, 1.1))]:
        expected = result(t, x, op=op, start=1.0, chunks=1)
        for chunks in [2, 3, 5, 7, 11, 16, 40, 64]:
            for backwards in [0, 1]:
                found = result(t, x, op=op, start=1.0, chunks=chunks, backwards=backwards)
                t.check(found == expected, f"the {what} is {found:.9g} with {chunks} chunks, and {expected:.9g} with 1 chunk")


@T.test(2, "work is shared", "each of 8 chunks reads an eighth of x",
        hint="Let parallel_for run over the parts, and read x only in its body.")
def _(t):
    x, chunks = t.quarters(64 * PART), 8
    for op in [ADD, MUL, MAXIMUM]:
        reply = reduces(t, x, op=op, chunks=chunks)
        t.check(reply["calls"][0] >= 1, "parallel_for was never called")
        # The time with 8 threads is that of the longest chunk and of what runs outside of chunks. Twice the least is allowed.
        t.at_most(reply["busiest"][0] + reply["outside"][0], 2 * len(x) / chunks,
                  "elements of x that the longest chunk and the code outside of chunks have read")


@T.test(1, "tail is shared", "x is read in chunks alone, its last elements too, however short it is",
        hint="The last part is shorter; it is a part all the same. A short x has parts, too.")
def _(t):
    for n in [4 * PART + 9, 3]:
        for op in [ADD, MUL, MAXIMUM]:
            reply = reduces(t, t.quarters(n), op=op, chunks=2)
            t.at_most(reply["outside"][0], 0, "elements of x that the code outside of chunks has read")
