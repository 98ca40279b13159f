"""The simulator's findings and counts as objects of Python."""

import pathlib

import pytest

import gradus
from gradus import sim

HERE = pathlib.Path(__file__).name
pytestmark = pytest.mark.skipif(not sim.is_available(), reason="the library has no simulated devices")

RACE = """
__global__ void shift(float* x, int n) {
  const int i = threadIdx.x;
  const float next = x[(i + 1) % n];
  x[i] = next;
}"""

TILED = """
__global__ void tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float a_tile[8][8], b_tile[8][8];
  const int y = threadIdx.y, x = threadIdx.x, row = blockIdx.y * 8 + y, col = blockIdx.x * 8 + x;
  float sum = 0;
  for (int k = 0; k < n; k += 8) {
    a_tile[y][x] = a[row * n + k + x];
    b_tile[y][x] = b[(k + y) * n + col];
    __syncthreads();
    for (int i = 0; i < 8; ++i) sum += a_tile[y][i] * b_tile[i][x];
    __syncthreads();
  }
  c[row * n + col] = sum;
}"""


def test_a_race_has_two_sides():
    x = gradus.arange(64.0, device="cuda")
    seen = sim.run(RACE, "shift", 1, 64, (x, 64))
    assert seen.findings and {each.kind for each in seen.findings} == {"race"}
    finding = seen.findings[0]
    assert finding.kernel == "shift" and finding.times >= 1 and "barrier" in finding.message
    assert len(finding.sides) == 2 and all(side.by_thread for side in finding.sides)
    assert {side.line for side in finding.sides} == {4, 5}
    assert all(HERE in side.file for side in finding.sides)
    assert {side.what.split()[0].rstrip(",") for side in finding.sides} == {"reads", "writes"}
    first, second = finding.sides
    assert first.block == second.block == (0, 0, 0) and first.thread != second.thread
    assert first.frames[0].function == "shift"
    assert finding.line in (4, 5) and HERE in finding.file
    assert repr(finding).startswith("race in shift") and repr(seen).startswith("race in shift")
    assert gradus.ones(3, device="cuda").sum().item() == 3  # the devices work again


def test_an_access_out_of_bounds():
    x = gradus.zeros(10, device="cuda")
    text = "__global__ void fill(float* x) {\n  x[threadIdx.x] = 1;\n}"
    finding, = sim.run(text, "fill", 1, 11, (x,)).findings
    assert finding.kind == "out of bounds" and finding.line == 2
    assert finding.sides[0].thread == (10, 0, 0)


def test_counts_of_a_clean_kernel():
    n = 16
    a, b = gradus.rand(n, n, device="cuda"), gradus.rand(n, n, device="cuda")
    c = gradus.empty(n, n, device="cuda")
    seen = sim.run(TILED, "tiled", (n // 8, n // 8), (8, 8), (a, b, c, n))
    assert not seen.findings and repr(seen) == "no findings"
    assert gradus.allclose(c, a @ b, atol=1e-5)
    assert seen.counts.global_loads == 2 * n ** 3 // 8
    assert seen.counts.global_stores == n * n
    launch, = seen.launches
    assert (launch.kernel, launch.grid, launch.block) == ("tiled", (2, 2, 1), (8, 8, 1))
    assert launch.threads == n * n and launch.barriers > 0 and launch.tensor_products == 0
    loads = {each.line: each.counts.global_loads for each in launch.lines if each.counts.global_loads}
    assert loads == {7: n ** 3 // 8, 8: n ** 3 // 8}


def test_advice():
    text = """
__global__ void copy(const float* x, float* y) {
  const int i = threadIdx.x * 32;
  y[i] = x[i];
}"""
    x = gradus.ones(32 * 32, device="cuda")
    seen = sim.run(text, "copy", 1, 32, (x, gradus.empty_like(x)))
    assert not seen.findings
    assert {each.kind for each in seen.advice()} == {"uncoalesced access"}
    assert {each.line for each in seen.advice()} == {4}


def test_a_recording_holds_operations_of_the_library():
    x = gradus.ones(1000, device="cuda")
    with sim.record() as seen:
        y = x + 1
    assert not seen.findings and len(seen.launches) == 1 and seen.counts.global_store_bytes == 4000
    del y
    with sim.record() as seen:
        (x + 1).sum().item()
    with pytest.raises(gradus.Error, match=r"counts is of one launch, and \d+ were recorded"):
        seen.counts


def test_errors_that_are_no_findings_are_raised():
    with pytest.raises(gradus.CompileError, match="no_such_name"):
        sim.run("__global__ void f(float* x) { x[0] = no_such_name; }", "f", 1, 1, (gradus.ones(1, device="cuda"),))
    with pytest.raises(gradus.TypeError, match="argument 1"):
        sim.run(RACE, "shift", 1, 64, ("x", 64))
    with pytest.raises(ZeroDivisionError):
        with sim.record():
            1 / 0
