"""Hidden tests of task 7.2."""
import math

from judge.testing import hidden


@hidden("7.2", of="rows", test="random rows", title="random rows, weights and biases", hint="Try rows of fractions, of up to 5,000 columns, and 2,000 rows.")
def _(t):
    for rows, d in [(3, 7), (2, 129), (2003, 2), (1, 5003)]:
        x, weight, bias = t.floats(rows * d, -3, 5), t.floats(d), t.floats(d)
        found = t.run(x=x, rows=rows, weight=weight, bias=bias)
        for r in range(rows):
            row = x[r * d:r * d + d]
            mean = math.fsum(row) / d
            rstd = 1 / math.sqrt(math.fsum((each - mean) ** 2 for each in row) / d + 1e-5)
            t.close(found["mean"][r], mean, f"mean of row {r}", 1e-4)
            t.close(found["rstd"][r], rstd, f"rstd of row {r}", 1e-4)
            t.close(found["out"][r * d:r * d + d], [(each - mean) * rstd * a + b for each, a, b in zip(row, weight, bias)], f"row {r} of out", 1e-4)


@hidden("7.2", of="dx", test="random gradients", title="random gradients", hint="Try rows of fractions, of up to 2,000 columns, and 2,000 rows.")
def _(t):
    for rows, d in [(2, 3), (5, 65), (2003, 2), (2, 2003)]:
        x, dout, weight = t.floats(rows * d, -2, 3), t.floats(rows * d), t.floats(d)
        mean, rstd = t.floats(rows), t.floats(rows, 0.5, 2)
        found = t.run(dout=dout, x=x, rows=rows, weight=weight, mean=mean, rstd=rstd)
        dweight, dbias = [0.0] * d, [0.0] * d
        for r in range(rows):
            h = [(x[r * d + e] - mean[r]) * rstd[r] for e in range(d)]
            g = [dout[r * d + e] * weight[e] for e in range(d)]
            shift, stretch = math.fsum(g) / d, math.fsum(a * b for a, b in zip(g, h)) / d
            t.close(found["dx"][r * d:r * d + d], [rstd[r] * (a - shift - b * stretch) for a, b in zip(g, h)], f"row {r} of dx", 1e-4)
            for e in range(d):
                dweight[e] += dout[r * d + e] * h[e]
                dbias[e] += dout[r * d + e]
        t.close(found["dweight"], dweight, "dweight", 1e-4)
        t.close(found["dbias"], dbias, "dbias", 1e-4)
        if not t.on_gpu:
            t.at_most(len(found.launches), 2, "launches")
