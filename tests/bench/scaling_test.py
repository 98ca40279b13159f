"""bench/scaling.py on programs that print made-up figures, and bench/scaling_model.py on figures
whose answers are known by hand."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

bench = pathlib.Path(__file__).parents[2] / "bench"
sys.path.insert(0, str(bench))
import scaling_model  # noqa: E402

FAKE_BENCH = """#!/bin/sh
echo "$MASTER_PORT $WORLD_SIZE $RANK $*" >> "$LOG"
[ "$1" != "$FAILS" ] || exit 1
[ "${RANK:-0}" = 0 ] || exit 0
ranks=${WORLD_SIZE:-${3:-1}} each=10
[ "$GRADUS_PEER_COPIES" != 0 ] || each=20
case $1 in
  all_reduce) printf 'all_reduce of 4096 B on %s\\tgradus\\t1e-5\\t4096\\tB\\n' $ranks ;;
  *) for batch in $(echo $2 | tr , ' '); do
       # 1 us for each row, 10 us for each further device, by NCCL 20 us
       printf '%s, batch %s on %s\\tgradus\\t%s\\t1\\tsamples\\n' $1 $batch $ranks $((batch + each * (ranks - 1)))e-6
     done ;;
esac
"""


class Scaling(unittest.TestCase):
    def run_scaling(self, gpus, *options, fails="", expected=0):
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder)
            (work / "bench").mkdir()
            for path, text in ((work / "bench/bench_scaling", FAKE_BENCH),
                               (work / "nvidia-smi", f"#!/bin/sh\nfor i in $(seq {gpus}); do echo GPU $i; done\n")):
                path.write_text(text)
                path.chmod(0o755)
            env = dict(os.environ, PATH=f"{work}:{os.environ['PATH']}", LOG=str(work / "log"), FAILS=fails,
                       CUDA_VISIBLE_DEVICES="")  # PyTorch fails
            done = subprocess.run([sys.executable, str(bench / "scaling.py"), str(work), "--turns", "1",
                                   "--batches", "40,100", "--out", str(work / "out"), *options],
                                  env=env, capture_output=True, text=True, timeout=300)
            self.assertEqual(done.returncode, expected, done.stdout + done.stderr)
            self.errors = done.stderr
            self.measured = (work / "out").read_text() if (work / "out").exists() else ""
            log = (work / "log").read_text().splitlines() if (work / "log").exists() else []
            self.calls = sorted(line.partition(" ")[2] for line in log)
            return done.stdout

    def test_two_gpus(self):
        table = self.run_scaling(2)
        self.assertIn("| weak | 2 | data_parallel | 40 | 0.05 ms | 0.800 |", table)
        self.assertIn("| weak | 2 | ddp | 100 | 0.11 ms | 0.909 |", table)
        self.assertIn("| weak | 2 | ddp_nccl | 100 | 0.12 ms | 0.833 |", table)
        self.assertIn("| strong | 2 | ddp | 50 | 0.06 ms | 0.833 |", table)
        self.assertIn("| strong | 2 | ddp | 20 | 0.03 ms | 0.667 | failed |", table)
        self.assertIn("2 0 ddp 20,40,50,100", self.calls)
        self.assertIn("2 1 ddp 20,40,50,100", self.calls)
        self.assertIn("2 1 all_reduce", self.calls)
        self.assertIn("| weak | 2 | together | 100 | 0.11 ms | 0.909 |  |  |  |", table)
        self.assertIn("2 1 together 40,100", self.calls)
        self.assertIn("all_reduce of 4096 B on 2\tgradus\t1e-5", self.measured)
        self.assertIn("profile, batch 100 on 1\tgradus", self.measured)
        self.assertNotIn("on 4", table + self.measured)

    def test_the_number_of_gpus_is_limited(self):
        table = self.run_scaling(8, "--devices", "4")
        self.assertIn("| weak | 4 |", table)
        self.assertNotIn("| weak | 2 |", table)
        self.assertNotIn("| weak | 8 |", table)

    def test_one_gpu(self):
        table = self.run_scaling(1)
        self.assertIn("only steps on one GPU are timed", table)
        self.assertIn("|  | 1 |  | 100 | 0.10 ms | 1.000 |", table)
        self.assertNotIn("weak |", table)

    def test_no_gpu(self):
        self.run_scaling(0, expected=1)
        self.assertIn("lists no GPU", self.errors)

    def test_a_program_that_fails(self):
        table = self.run_scaling(2, fails="ddp", expected=1)
        self.assertIn("| weak | 2 | ddp | 40 | failed |", table)
        self.assertIn("| weak | 2 | data_parallel | 40 | 0.05 ms |", table)
        self.assertIn("bench_scaling failed: ddp", self.errors)


MEASURED = """\
single, batch 64 on 1\tgradus\t0.010\t64\tsamples
single, batch 64 on 1\tpytorch\t0.5\t64\tsamples
ddp_nccl, batch 64 on 2\tgradus\t0.0125\t128\tsamples
ddp_nccl, bucket 0 on 2\tgradus\t0\t100000000\tB
ddp_nccl, bucket 1 on 2\tgradus\t0\t300000000\tB
profile, batch 64, begin\tgradus\t0\t0\tB
profile, batch 64, forward\tgradus\t0.003\t0\tB
profile, batch 64, gradient b\tgradus\t0.004\t100000000\tB
profile, batch 64, gradient a\tgradus\t0.0075\t300000000\tB
profile, batch 64, backward\tgradus\t0.008\t0\tB
profile, batch 64, step\tgradus\t0.010\t0\tB
"""


class Model(unittest.TestCase):
    # 20 us a step, 100 GB/s; between machines 5 us, 50 GB/s
    network = scaling_model.Network(0, 20e-6, 100e9, 8, 5e-6, 50e9)

    def test_fit_finds_what_the_ring_was_made_of(self):
        network = scaling_model.Network(70e-6, 20e-6, 100e9, 8, 5e-6, 50e9)
        points = {n: [(size, network.ring(size, n)) for size in (1 << 12, 1 << 20, 1 << 28)] for n in (2, 4)}
        call, alpha, beta = scaling_model.fit(points)
        self.assertAlmostEqual(call, 70e-6, places=12)
        self.assertAlmostEqual(alpha, 20e-6, places=12)
        self.assertAlmostEqual(beta * 1e-9, 100, places=6)

    def test_one_number_of_gpus_does_not_tell_calls_from_steps(self):
        call, alpha, beta = scaling_model.fit({2: [(n, self.network.ring(n, 2)) for n in (1 << 12, 1 << 28)]})
        self.assertAlmostEqual(call, 40e-6, places=12)
        self.assertEqual(alpha, 0)
        self.assertAlmostEqual(beta * 1e-9, 100, places=6)

    def test_algorithms(self):
        ring, tree, hierarchical = self.network.ring, self.network.tree, self.network.hierarchical
        # 2 steps of 20 us, and 1 GB past one link of 100 GB/s
        self.assertAlmostEqual(ring(1e9, 2), 40e-6 + 10e-3)
        self.assertAlmostEqual(hierarchical(1e9, 8), ring(1e9, 8))
        # 126 steps of 5 us of a 64th each, at the 100 GB/s of a machine's inside
        self.assertAlmostEqual(ring(64e9, 64), 126 * (5e-6 + 10e-3))
        # a chain of 8 and a tree of 8 machines, up and down
        self.assertAlmostEqual(tree(1e9, 64), 14 * 20e-6 + 6 * 5e-6 + 20e-3)
        # 14 steps inside of an eighth each; between 8 machines 14 of a 64th, at 50 GB/s
        self.assertAlmostEqual(hierarchical(64e9, 64), 14 * (20e-6 + 80e-3) + 14 * (5e-6 + 20e-3))
        # between 128 machines a tree is faster for few bytes
        self.assertAlmostEqual(hierarchical(8, 1024), 14 * (20e-6 + 1e-11) + 14 * 5e-6 + 2 / 50e9)
        self.assertEqual(self.network.best(8, 2), ring(8, 2))

    def test_overlap(self):
        profile = {"backward": (8.0, 0), "gradient c": (2.0, 10), "gradient b": (5.0, 30), "gradient a": (7.0, 60)}
        # begins at 2, 5 (ready) and 8 (when the one before is done)
        self.assertEqual(scaling_model.exposed(profile, [10, 30, 60], lambda n: n / 10, 60), (6.0, 10.0))
        # begins at 2, 5 (ready) and 7 (ready); 7.5 is before the end of the backward pass
        self.assertEqual(scaling_model.exposed(profile, [10, 30, 60], lambda n: 0.5, 60), (0.0, 1.5))
        # a bucket of several gradients waits for the last of them
        self.assertEqual(scaling_model.exposed(profile, [40, 60], lambda n: 1.5, 60), (0.5, 3.0))

    def test_large_buckets_travel_in_pieces(self):
        profile = {"backward": (8.0, 0), "gradient b": (2.0, 10), "gradient a": (8.0, 90)}
        # 30, 30 and 30 at 4, 6 and 8, a second each: the last is late
        self.assertEqual(list(scaling_model.pieces(profile, [10, 90], 30)), [(10, 2.0), (30, 4.0), (30, 6.0), (30, 8.0)])
        self.assertEqual(scaling_model.exposed(profile, [10, 90], lambda n: 1.0, 30), (1.0, 4.0))

    def run_model(self, text, *options):
        with tempfile.NamedTemporaryFile("w", suffix=".tsv") as file:
            file.write(text)
            file.flush()
            return subprocess.run([sys.executable, str(bench / "scaling_model.py"), file.name, *options],
                                  capture_output=True, text=True)

    def test_report(self):
        sizes = [1 << k for k in range(12, 30)]
        rings = "".join(f"all_reduce of {n} B on 2\tgradus\t{self.network.ring(n, 2)!r}\t{n}\tB\n" for n in sizes)
        done = self.run_model(MEASURED + rings, "--piece-mib", "1000")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("a call 40.0 us, and a step of the ring alpha = 0.0 us, 100.0 GB/s", done.stdout)
        # On 2: buckets of 1.04 and 3.04 ms that begin at 4 and 7.5 ms, so 2.54 of 4.08 ms are late.
        # The 2.5 ms seen leave no rest but -0.04.
        self.assertIn("| 64 | 2 | 4.08 ms | 38% | 12.54 ms | 0.797 | 12.50 ms | 0.800 | 12.50 ms | 0.800 |",
                      done.stdout)
        for n in (4, 8, 64, 1024):
            self.assertIn(f"| 64 | {n} | ", done.stdout)

    def test_what_is_missing_is_named(self):
        done = self.run_model(MEASURED)
        self.assertEqual(done.returncode, 1)
        self.assertIn("has no figures of all_reduce", done.stderr)
        done = subprocess.run([sys.executable, str(bench / "scaling_model.py"), "/none/there"],
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)


if __name__ == "__main__":
    unittest.main()
