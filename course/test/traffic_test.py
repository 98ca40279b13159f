"""Tests what pictures are drawn of: the memory traffic that the runner reports of a kernel, and the elements that differ."""
import array
import json
import os
import sys
import unittest

COURSE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.path.insert(0, COURSE)
from checks import common  # noqa: E402
from judge import counterexample, testing, traffic  # noqa: E402
from judge.web import pictures  # noqa: E402

LINE = {"at": "a.cu:2", "does": "load", "shared": False, "requests": 1, "found": 4, "least": 4, "allocated": 128, "lanes": [[0, 0, 4]]}
LAUNCH = {"kernel": "k", "grid": [1, 1, 1], "block": [32, 1, 1], "lines": [LINE]}


class KernelTest(unittest.TestCase):
    """The tiled product as it should be, and with threadIdx.x along the columns."""

    def lines(self, change=lambda text: text):
        """{(line of the text, "load", shared): what its threads accessed} of the test of sectors."""
        task = common.tasks(names=["3.7"])[0]
        with common.Submission({task.file: change(common.solution(task))}) as folder:
            graded = common.grader(cores=2).grade([task], folder)["tasks"][0]
        shown = {each["name"]: each["shown"] for each in graded["tests"]}
        self.assertNotIn("traffic", shown["one tile"])  # it counts nothing
        self.launch = shown["sectors"]["traffic"]
        self.assertEqual(([3, 2, 1], [16, 16, 1]), (self.launch["grid"], self.launch["block"]))
        return {(each["text"].partition(" = ")[0], each["does"], each["shared"]): each for each in self.launch["lines"]}

    def test_a_kernel_as_it_should_be(self):
        lines = self.lines()
        load = lines["a_tile[y][x]", "load", False]
        self.assertEqual([[lane, 4 * lane, 4] for lane in range(32)], load["lanes"])  # k is 16: two rows of a
        self.assertEqual(4 * 32 * 16, load["allocated"])
        self.assertEqual((48, 192, 192), (load["requests"], load["found"], load["least"]))
        store = lines["if (row < m && column < n) c[row * n + column]", "store", False]
        self.assertEqual([[lane, 4 * (lane % 16 + lane // 16 * 48), 4] for lane in range(32)], store["lanes"])
        self.assertEqual([[lane, 4 * lane, 4] for lane in range(32)], [[lane, offset - lines["a_tile[y][x]", "store", True]["lanes"][0][1], size]
                                                                       for lane, offset, size in lines["a_tile[y][x]", "store", True]["lanes"]])

    def test_a_kernel_along_the_columns(self):
        lines = self.lines(lambda text: text.replace("y = threadIdx.y, x = threadIdx.x", "y = threadIdx.x, x = threadIdx.y"))
        load = lines["a_tile[y][x]", "load", False]
        self.assertEqual([[lane, 64 * (lane % 16) + 4 * (lane // 16), 4] for lane in range(32)], load["lanes"])
        self.assertEqual("32 threads of the first warp: 32 words of 4 bytes in 16 sectors of 32 bytes", pictures.traffic(load)[1])
        self.assertIn("up to 8 in one bank", pictures.traffic(lines["a_tile[y][x]", "store", True])[1])


class ReportTest(unittest.TestCase):
    """A student's code shares the process that reports: what has another form is not taken."""

    def test_a_report(self):
        self.assertEqual({**LAUNCH, "lines": [{**LINE, "text": "x = a[i];"}]}, traffic.parsed(json.dumps(LAUNCH), "a.cu", "first\n  x = a[i];\n"))
        for at in ("b.cu:2", "a.cu:9", "a.cu:0"):
            self.assertEqual("", traffic.parsed(json.dumps({**LAUNCH, "lines": [{**LINE, "at": at}]}), "a.cu", "1\n2")["lines"][0]["text"])
        self.assertIsNone(traffic.parsed("null", "a.cu", ""))

    def test_what_is_none(self):
        bad = [{**LAUNCH, "grid": ["1", 1, 1]}, {**LAUNCH, "block": [1]}, {**LAUNCH, "lines": [{}]}, {**LAUNCH, "lines": 3}, {"lines": []}, [], 7]
        bad += [{**LAUNCH, "lines": [{**LINE, **more}]} for more in ({"found": "<b>"}, {"found": -1}, {"found": 1.5}, {"found": True}, {"does": "<b>"}, {"does": []},
                                                                    {"lanes": [["0", 0, 4]]}, {"lanes": [[0, 1 << 53, 4]]}, {"lanes": [[0, 0, 17]]}, {"lanes": [[32, 0, 4]]}, {"lanes": [[0, 0]]}, {"lanes": 5}, {"at": "a.cu:x"})]
        for each in bad:
            self.assertIsNone(traffic.parsed(json.dumps(each), "a.cu", "text"), each)
        for text in ("", "{", "[" * 100000, "NaN"):
            self.assertIsNone(traffic.parsed(text, "a.cu", "text"), text[:9])

    def test_it_is_bounded(self):
        many = {**LAUNCH, "kernel": "k" * 9999, "lines": [{**LINE, "at": "x" * 9999 + ":1", "lanes": [[0, 0, 4]] * 99}] * 99}
        found = traffic.parsed(json.dumps(many), "a.cu", "")
        self.assertEqual((200, 40, 200, 32), (len(found["kernel"]), len(found["lines"]), len(found["lines"][0]["at"]), len(found["lines"][0]["lanes"])))
        for lane in ([0, (1 << 53) - 1, 16], [31, 0, 0]):  # the largest that are taken
            self.assertLess(len(pictures.traffic({**LINE, "lanes": [lane] * 32})[0]), 200 << 10)


class ComparedTest(unittest.TestCase):
    def compared(self, check):
        with self.assertRaises(testing.Failed) as caught:
            check(testing.Context(None, 1, "test"))
        return caught.exception.compared

    def test_elements_that_differ(self):
        found = self.compared(lambda t: t.equal([1.0, 2.0, 5.0], [1.0, 3.0, 4.0], "x"))
        self.assertEqual({"what": "x", "size": 3, "compared": 3, "columns": 0, "wrong": [[1, 3]],
                          "texts": [[0, "1", "1"], [1, "2", "3"], [2, "5", "4"]]}, found)
        self.assertEqual([[1, "none", "2"]], self.compared(lambda t: t.equal([1], [1, 2], "x"))["texts"][1:])
        self.assertEqual([[0, 1]], self.compared(lambda t: t.close([1.0, 2.0], [1.1, 2.0], "x", 1e-3))["wrong"])
        self.assertIsNone(self.compared(lambda t: t.equal([[1], [2]], [[1], [3]], "x")))
        one, other = self.compared(lambda t: t.equal([1.0, -1.6617600917816162], [1.0, -1.6617599725723267], "x"))["texts"][1][1:]
        self.assertNotEqual(one, other)

    def test_many_elements(self):
        count = 100000
        found = self.compared(lambda t: t.equal([float(i % 2) for i in range(count)], [0.0] * count, "x"))
        self.assertEqual((count, 2 * counterexample.MOST_RUNS + 1, counterexample.MOST_RUNS, counterexample.FIRST),
                         (found["size"], found["compared"], len(found["wrong"]), len(found["texts"])))
        self.assertLess(len(json.dumps(found)), 20000)

    def test_a_matrix(self):
        m, n, k = 40, 30, 20
        random = testing.Context(None, 1, "test")
        a, b = random.quarters(m * k), random.quarters(k * n)
        c = [sum(a[i * k + p] * b[p * n + j] for p in range(k)) for i in range(m) for j in range(n)]
        c[7 * n + 3] += 1
        found = self.compared(lambda t: t.is_product(list(array.array("f", c)), a, b, m, n, k))
        self.assertEqual((n, [[7 * n + 3, 7 * n + 4]], m * n), (found["columns"], found["wrong"], found["compared"]))
        c[9 * n + 29] = float("nan")
        found = self.compared(lambda t: t.is_product(list(array.array("f", c)), a, b, m, n, k))
        self.assertEqual((n, [[7 * n + 3, 7 * n + 4], [9 * n + 29, 9 * n + 30]], m * n), (found["columns"], found["wrong"], found["compared"]))
        # Where that is too much, some rows are left open.
        m, n, k = 60, 60, 300
        a, b = [1.0] * (m * k), [1.0] * (k * n)
        c = [float(k)] * (m * n)
        c[5 * n] = 0.0
        found = self.compared(lambda t: t.is_product(c, a, b, m, n, k))
        self.assertEqual([[5 * n, 5 * n + 1]], found["wrong"])
        self.assertLess(5 * n, found["compared"])
        self.assertLess(found["compared"], m * n)
        self.assertIn("not compared", pictures.compared(found))


if __name__ == "__main__":
    unittest.main()
