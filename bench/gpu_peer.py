"""PyTorch on the cases of bench/gpu.cpp, in the same format."""
import statistics
import sys
import time

import torch
from resnet18 import ResNet18
from small_models import as_graph, models_of

torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False


def report(name, seconds, work, unit, who="pytorch"):
    print(f"{name}\t{who}\t{seconds:.9g}\t{work:.9g}\t{unit}", flush=True)


def device_seconds(f, rounds=20):
    for _ in range(3):
        f()
    times = []
    for _ in range(rounds):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        f()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) * 1e-3)
    return statistics.median(times)


def elementwise():
    n = 1 << 28
    size = 4.0 * n
    x, y = torch.randn(n, device="cuda"), torch.randn(n, device="cuda")
    out = torch.empty(n, device="cuda")
    report("copy 2^28", device_seconds(lambda: out.copy_(x)), 2 * size, "B")
    report("exp 2^28", device_seconds(lambda: x.exp()), 2 * size, "B")
    report("relu 2^28", device_seconds(lambda: x.relu()), 2 * size, "B")
    report("sigmoid 2^28", device_seconds(lambda: x.sigmoid()), 2 * size, "B")
    report("x * 2 2^28", device_seconds(lambda: x * 2), 2 * size, "B")
    report("add 2^28", device_seconds(lambda: x + y), 3 * size, "B")
    report("mul 2^28", device_seconds(lambda: x * y), 3 * size, "B")


def reductions():
    n = 16384
    size = 4.0 * n * n
    x, row = torch.randn(n, n, device="cuda"), torch.randn(n, device="cuda")
    report("sum all 16384^2", device_seconds(lambda: x.sum()), size, "B")
    report("sum dim 0 16384^2", device_seconds(lambda: x.sum(0)), size, "B")
    report("sum dim 1 16384^2", device_seconds(lambda: x.sum(1)), size, "B")
    report("amax dim 1 16384^2", device_seconds(lambda: x.amax(1)), size, "B")
    report("add row 16384^2", device_seconds(lambda: x + row), 2 * size, "B")
    report("add transposed 16384^2", device_seconds(lambda: x + x.t()), 3 * size, "B")


def extents():
    x, line = torch.randn(512, 512, 512, device="cuda"), torch.randn(1 << 26, device="cuda")
    for dim in range(3):
        report(f"sum dim {dim} 512^3", device_seconds(lambda: x.sum(dim)), 4.0 * x.numel(), "B")
    for n in range(2, 9):
        rows = line.numel() // n
        narrow = line[:rows * n].view(rows, n)
        report(f"sum of rows of {n}", device_seconds(lambda: narrow.sum(1)), 4.0 * rows * (n + 1), "B")


def permutations():
    whole = torch.randn(512, 512, 512, device="cuda")
    for dtype, suffix in ((torch.float, ""), (torch.half, ", half")):
        x = whole.to(dtype)
        for order in ((0, 2, 1), (2, 0, 1), (1, 0, 2)):
            report(f"copy permuted {order} 512^3{suffix}",
                   device_seconds(lambda: x.permute(order).contiguous()),
                   2.0 * x.element_size() * x.numel(), "B")


def softmaxes():
    def measure(shape, x, dim):
        size = 4.0 * x.numel()
        y, grad = x.softmax(dim), torch.randn_like(x)
        report(f"softmax {shape}", device_seconds(lambda: x.softmax(dim)), 2 * size, "B")
        report(f"log_softmax {shape}", device_seconds(lambda: x.log_softmax(dim)), 2 * size, "B")
        report(f"softmax backward {shape}",
               device_seconds(lambda: torch._softmax_backward_data(grad, y, dim, x.dtype)),
               3 * size, "B")

    measure("rows of 128", torch.randn(131072, 128, device="cuda"), 1)
    measure("rows of 1024", torch.randn(16384, 1024, device="cuda"), 1)
    measure("rows of 50257", torch.randn(1024, 50257, device="cuda"), 1)
    measure("columns of 1024", torch.randn(1024, 16384, device="cuda"), 0)


def losses():
    def measure(shape, rows, classes):
        size = 4.0 * rows * classes
        x = torch.randn(rows, classes, device="cuda", requires_grad=True)
        target = torch.randint(classes, (rows,), device="cuda")
        cross_entropy = torch.nn.functional.cross_entropy
        loss = cross_entropy(x, target)
        report(f"cross_entropy {shape}", device_seconds(lambda: cross_entropy(x, target)), size, "B")
        report(f"cross_entropy backward {shape}",
               device_seconds(lambda: torch.autograd.grad(loss, x, retain_graph=True)), 2 * size, "B")

    measure("4096 x 50257", 4096, 50257)
    measure("16384 x 1000", 16384, 1000)


def order():
    n = 8192
    size = 4.0 * n * n
    x = torch.randn(n, n, device="cuda")
    report("cumsum dim 1 8192^2", device_seconds(lambda: x.cumsum(1)), 2 * size, "B")
    report("cumsum dim 0 8192^2", device_seconds(lambda: x.cumsum(0)), 2 * size, "B")
    line = torch.randn(1 << 24, device="cuda")
    rows = line.view(1 << 14, 1 << 10)
    report("sort 2^24", device_seconds(lambda: line.sort()), 1 << 24, "elements")
    report("sort rows of 1024", device_seconds(lambda: rows.sort(1)), 1 << 24, "elements")
    numbers = torch.randint(1 << 20, (1 << 24,), device="cuda")
    report("sort int64 2^24", device_seconds(lambda: numbers.sort()), 1 << 24, "elements")
    logits = torch.randn(1024, 50257, device="cuda")
    report("topk(10) of rows of 50257", device_seconds(lambda: logits.topk(10)), logits.numel(),
           "elements")
    report("median of rows of 1024", device_seconds(lambda: rows.median(1)), 1 << 24, "elements")


def lookups():
    n = 8192
    x, some = torch.randn(n, n, device="cuda"), torch.randint(n, (n,), device="cuda")
    places, mask = torch.randint(n, (n, n), device="cuda"), x > 0
    out = torch.zeros(n, n, device="cuda")
    size = float(n * n)
    report("index_select of rows 8192^2", device_seconds(lambda: x.index_select(0, some)), 8 * size, "B")
    report("gather along rows 8192^2", device_seconds(lambda: x.gather(1, places)), 16 * size, "B")
    report("scatter_add along rows 8192^2",
           device_seconds(lambda: out.scatter_add_(1, places, x)), 16 * size, "B")
    report("index_add of rows 8192^2", device_seconds(lambda: out.index_add_(0, some, x)),
           12 * size, "B")
    report("masked_fill 8192^2", device_seconds(lambda: x.masked_fill(mask, 0)), 9 * size, "B")
    report("masked_select 8192^2", device_seconds(lambda: x.masked_select(mask)), 7 * size, "B")
    report("nonzero 8192^2", device_seconds(lambda: mask.nonzero()), 9 * size, "B")


def products():
    for n in (1024, 2048, 4096, 8192):
        a, b = torch.randn(n, n, device="cuda"), torch.randn(n, n, device="cuda")
        report(f"matmul float32 {n}", device_seconds(lambda: a @ b), 2.0 * n**3, "FLOP")
    a, b = torch.randn(8, 10000, 64, device="cuda"), torch.randn(8, 64, 10000, device="cuda")
    report("bmm float32 8 x (10000, 64) (64, 10000)", device_seconds(lambda: a @ b), 2.0 * 8 * 10000**2 * 64, "FLOP")


def time_convolution(shape, x, w, stride, padding):
    groups = x.shape[1] // w.shape[1]
    y = torch.conv2d(x, w, None, stride, padding, 1, groups)
    grad = torch.randn_like(y)
    operations = 2.0 * y.numel() * w[0].numel()
    numbers = ([stride] * 2, [padding] * 2, [1, 1], False, [0, 0], groups)

    def backward(*wanted):
        return lambda: torch.ops.aten.convolution_backward(grad, x, w, None, *numbers, [*wanted, False])

    report(f"conv forward {shape}", device_seconds(lambda: torch.conv2d(x, w, None, stride, padding, 1, groups)),
           operations, "FLOP")
    report(f"conv input gradient {shape}", device_seconds(backward(True, False)), operations, "FLOP")
    report(f"conv weight gradient {shape}", device_seconds(backward(False, True)), operations, "FLOP")


def time_images(dtype, memory_format, x, w, stride, padding):
    """x and w of such sizes, in such an order."""
    name = ("bfloat16 " if dtype == torch.bfloat16 else "") + " x ".join(map(str, x)) + f", {w[0]} {w[2]}x{w[3]}"
    if stride > 1:
        name += f" stride {stride}"
    if w[1] < x[1]:
        name += f" in groups of {w[1]}"

    def random(sizes):
        return torch.randn(sizes, device="cuda").to(dtype).contiguous(memory_format=memory_format)

    time_convolution(name, random(x), random(w), stride, padding)


def half_convolutions():
    for batch, channels, size, filters, kernel, stride in (
            (128, 3, 32, 64, 3, 1), (128, 64, 32, 64, 3, 1), (128, 64, 32, 128, 3, 2), (128, 64, 32, 128, 1, 2),
            (128, 128, 16, 128, 3, 1), (128, 256, 8, 256, 3, 1), (128, 512, 4, 512, 3, 1), (64, 3, 224, 64, 7, 2),
            (64, 64, 56, 64, 3, 1), (64, 64, 56, 256, 1, 1), (64, 256, 56, 64, 1, 1), (64, 128, 56, 128, 3, 2),
            (64, 512, 28, 128, 1, 1), (64, 128, 28, 128, 3, 1), (64, 256, 14, 256, 3, 1), (64, 256, 14, 1024, 1, 1),
            (64, 1024, 14, 2048, 1, 2), (64, 512, 7, 512, 3, 1)):
        time_images(torch.bfloat16, torch.channels_last, (batch, channels, size, size),
                    (filters, channels, kernel, kernel), stride, kernel // 2)


def small_convolutions():
    torch.backends.cudnn.benchmark = True  # the fastest of its algorithms
    for dtype in (torch.float32, torch.bfloat16):
        for x, w, stride, padding in (
                ((128, 1, 28, 28), (6, 1, 5, 5), 1, 2), ((128, 6, 14, 14), (16, 6, 5, 5), 1, 0),
                ((128, 3, 32, 32), (16, 3, 3, 3), 1, 1), ((128, 16, 32, 32), (16, 16, 3, 3), 1, 1),
                ((64, 32, 56, 56), (32, 1, 3, 3), 1, 1), ((64, 96, 56, 56), (96, 1, 3, 3), 2, 1),
                ((64, 512, 14, 14), (512, 1, 3, 3), 1, 1), ((64, 240, 28, 28), (240, 1, 5, 5), 1, 2),
                ((32, 96, 56, 56), (96, 1, 7, 7), 1, 3)):
            time_images(dtype, torch.contiguous_format, x, w, stride, padding)


def convolutions():
    measure = time_convolution

    def randn(*size):
        return torch.randn(*size, device="cuda")

    torch.backends.cudnn.benchmark = True  # the fastest of its algorithms
    measure("256 x 64 x 56 x 56, 64 3x3", randn(256, 64, 56, 56), randn(64, 64, 3, 3), 1, 1)
    measure("128 x 6 x 14 x 14, 16 5x5", randn(128, 6, 14, 14), randn(16, 6, 5, 5), 1, 0)
    measure("128 x 128 x 28 x 28, 256 3x3 stride 2", randn(128, 128, 28, 28), randn(256, 128, 3, 3), 2, 1)


def pools():
    x = torch.randn(256, 64, 56, 56, device="cuda")
    size = 4.0 * x.numel()
    f = torch.nn.functional
    report("max_pool2d(2) 256 x 64 x 56 x 56", device_seconds(lambda: f.max_pool2d(x, 2)), 1.75 * size, "B")
    report("avg_pool2d(2) 256 x 64 x 56 x 56", device_seconds(lambda: f.avg_pool2d(x, 2)), 1.25 * size, "B")


def norms():
    def time_layer(name, layer, x):
        layer.cuda()
        x.requires_grad_()
        size = 4.0 * x.numel()
        report(f"{name}, forward", device_seconds(lambda: layer(x)), 2 * size, "B")
        with torch.enable_grad():
            y, g = layer(x), torch.randn_like(x)
            inputs = [x, layer.weight, layer.bias]
            report(f"{name}, backward",
                   device_seconds(lambda: torch.autograd.grad(y, inputs, g, retain_graph=True)), 3 * size, "B")

    def randn(*sizes):
        return torch.randn(*sizes, device="cuda")

    nn = torch.nn
    time_layer("layer_norm 16384 x 1024", nn.LayerNorm(1024), randn(16384, 1024))
    time_layer("layer_norm 8192 x 4096", nn.LayerNorm(4096), randn(8192, 4096))
    time_layer("group_norm(32) 64 x 256 x 32 x 32", nn.GroupNorm(32, 256), randn(64, 256, 32, 32))
    time_layer("batch_norm 128 x 64 x 56 x 56", nn.BatchNorm2d(64), randn(128, 64, 56, 56))
    time_layer("batch_norm 128 x 512 x 4 x 4", nn.BatchNorm2d(512), randn(128, 512, 4, 4))


def optimizers():
    parameters = [torch.randn(1_000_000, device="cuda", requires_grad=True) for _ in range(100)]
    for p in parameters:
        p.grad = torch.randn_like(p)
    for way in ("fused", "foreach"):
        sgd = torch.optim.SGD(parameters, lr=1e-4, momentum=0.9, **{way: True})
        report(f"SGD momentum 100 x 1e6 beside {way}", device_seconds(sgd.step), 5 * 4e8, "B")
        adamw = torch.optim.AdamW(parameters, lr=1e-4, **{way: True})
        report(f"AdamW 100 x 1e6 beside {way}", device_seconds(adamw.step), 7 * 4e8, "B")


def chains():
    """Each as PyTorch runs it, and compiled."""
    f = torch.nn.functional
    x, some = torch.randn(10_000_000, device="cuda"), torch.randn(1_000_000, device="cuda")
    layer = [torch.randn(*size, device="cuda", requires_grad=True) for size in ((16384, 1024), (1024,), (1024,))]

    def circle(a):
        return a.cos().square() + a.sin().square()

    def normed(a, w, b):
        return f.dropout(f.gelu(f.layer_norm(a, (a.size(1),), w, b)), 0.1, True)

    def host_seconds(call, rounds=20, calls=20):
        times = []
        for _ in range(rounds + 1):
            start = time.perf_counter()
            for _ in range(calls):
                call()
                torch.cuda.synchronize()
            times.append((time.perf_counter() - start) / calls)
        return statistics.median(times[1:])

    size = 4.0 * layer[0].numel()
    for who, made in (("pytorch", lambda g: g), ("compiled", torch.compile)):
        g = made(circle)
        report("cos^2 + sin^2 1e7, fused", device_seconds(lambda: g(x)), 8e7, "B", who)
        s = made(f.selu)
        report("selu 1e6, fused, by the host's clock", host_seconds(lambda: s(some)), 8e6, "B", who)
        with torch.enable_grad():
            h = made(normed)
            name = "layer_norm, gelu, dropout 16384 x 1024, fused"
            report(f"{name}, forward", device_seconds(lambda: h(*layer)), 2 * size, "B", who)
            y = h(*layer)
            grad = torch.randn_like(y)
            report(f"{name}, backward",
                   device_seconds(lambda: torch.autograd.grad(y, layer, grad, retain_graph=True)), 3 * size, "B", who)


def own_kernels():
    try:
        import cupy
    except ImportError:
        print("bench/gpu_peer.py: without CuPy, which is not installed", file=sys.stderr)
        return
    line, matrix = torch.randn(10_000_000, device="cuda"), torch.randn(16384, 1024, device="cuda")
    x, rows = cupy.asarray(line), cupy.asarray(matrix)
    circle = cupy.ElementwiseKernel("T x", "T y", "T c = cos(x), s = sin(x); y = c * c + s * s", "circle")
    norm = cupy.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "l2norm")
    report("ElementwiseKernel, cos^2 + sin^2 1e7", device_seconds(lambda: circle(x)), 8e7, "B", "cupy")
    report("ReductionKernel, l2norm of all of 1e7", device_seconds(lambda: norm(x)), 4e7, "B", "cupy")
    report("ReductionKernel, l2norm of rows of 1024", device_seconds(lambda: norm(rows, axis=1)), 4.0 * matrix.numel(),
           "B", "cupy")


def one_query():
    for batch, heads, shared, keys, width in [(16, 32, 8, 4096, 128), (1, 32, 8, 8192, 128), (16, 12, 12, 1024, 64),
                                              (16, 32, 32, 4096, 128)]:
        q, k, v = (torch.randn(batch, count, rows, width, device="cuda", dtype=torch.bfloat16)
                   for count, rows in ((heads, 1), (shared, keys), (shared, keys)))
        seconds = device_seconds(lambda: [torch.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True)
                                          for _ in range(20)])
        report(f"one query of {batch} x {heads} heads, {shared} of keys, {keys} x {width}", seconds / 20,
               4.0 * batch * shared * keys * width, "B")


def attention():
    """PyTorch's attention of 16 bits by flash and by cuDNN, and its memory-efficient one of float32."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    halves = {"flash": SDPBackend.FLASH_ATTENTION, "cuDNN": SDPBackend.CUDNN_ATTENTION}
    shapes = [(64, 6, 256, 64), (8, 12, 1024, 64), (16, 16, 1024, 128), (8, 16, 2048, 128), (4, 16, 2048, 128),
              (4, 16, 4096, 64), (4, 16, 4096, 128), (2, 16, 4096, 128), (2, 16, 8192, 64), (2, 16, 8192, 128),
              (1, 16, 8192, 128), (1, 16, 16384, 128)]
    cases = [("bfloat16", shape, True, halves) for shape in shapes]
    cases += [("bfloat16", shape, False, halves) for shape in [(4, 16, 4096, 64), (2, 16, 4096, 128)]]
    cases += [("float32", (16, 12, length, 64), True, {"memory-efficient": SDPBackend.EFFICIENT_ATTENTION})
              for length in (1024, 4096)]
    for dtype, shape, causal, ways in cases:
        q, k, v, grad = (torch.randn(shape, device="cuda", dtype=getattr(torch, dtype)) for _ in range(4))
        operands = [x.requires_grad_() for x in (q, k, v)]

        def step():
            y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
            torch.autograd.grad(y, operands, grad)

        batch, heads, length, width = shape
        name = f"attention {dtype} {' x '.join(map(str, shape))}, {'causal' if causal else 'full'}"
        flop = (7.0 if causal else 14.0) * batch * heads * length**2 * width
        for way, backend in ways.items():
            with sdpa_kernel(backend):
                report(name, device_seconds(step, 5), flop, "FLOP", f"pytorch, {way}")


def training_steps():
    def time_step(name, model, x, y, loss, steps=200, captured=False):
        sgd = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)

        def step(x, y):
            sgd.zero_grad()
            out = model(x)
            loss(out[0] if isinstance(out, tuple) else out, y).backward()
            sgd.step()

        def measure(name, step):
            times = []
            for round_ in range(12):
                start = time.perf_counter()
                for _ in range(steps):
                    step(x, y)
                torch.cuda.synchronize()
                if round_ > 0:
                    times.append((time.perf_counter() - start) / steps)
            report(name, statistics.median(times), 1, "step")

        measure(name, step)
        if captured:
            measure(f"captured {name}", as_graph(torch, step, x, y))

    models = models_of(torch)
    time_step("step Linear(10, 1) batch 64", torch.nn.Linear(10, 1).cuda(),
              torch.randn(64, 10, device="cuda"), torch.randn(64, 1, device="cuda"),
              torch.nn.MSELoss(), captured=True)
    time_step("step MLP 784-512-10 batch 128", models.mlp().cuda(), torch.randn(128, 784, device="cuda"),
              torch.randint(10, (128,), device="cuda"), torch.nn.CrossEntropyLoss(), captured=True)
    time_step("step LeNet-5 batch 128", models.lenet().cuda(), torch.randn(128, 1, 28, 28, device="cuda"),
              torch.randint(10, (128,), device="cuda"), torch.nn.CrossEntropyLoss(), captured=True)
    nn = torch.nn
    for name, model, shape in [("step LSTM 256x2 64 x batch 32", nn.LSTM(256, 256, num_layers=2), (64, 32, 256)),
                               ("step TransformerEncoderLayer 384 64 x batch 128",
                                nn.TransformerEncoderLayer(384, 6), (64, 128, 384))]:
        time_step(name, model.cuda(), torch.randn(shape, device="cuda"), torch.randn(shape, device="cuda"),
                  nn.MSELoss(), steps=20)
    time_step("step Linear(100000, 10) batch 10000", nn.Linear(100000, 10).cuda(), torch.randn(10000, 100000, device="cuda"),
              torch.randn(10000, 10, device="cuda"), nn.MSELoss(), steps=10)
    time_step("step ResNet-18 batch 128", ResNet18(10).cuda(), torch.randn(128, 3, 32, 32, device="cuda"),
              torch.randint(10, (128,), device="cuda"), torch.nn.CrossEntropyLoss(), steps=10)


torch.manual_seed(1)
groups = {"elementwise": elementwise, "reductions": reductions, "extents": extents, "permutations": permutations,
          "softmaxes": softmaxes, "losses": losses,
          "order": order, "lookups": lookups, "products": products, "conv": convolutions, "half_conv": half_convolutions,
          "small_conv": small_convolutions, "pools": pools,
          "norms": norms, "optimizers": optimizers, "chains": chains,
          "own_kernels": own_kernels, "one_query": one_query, "attention": attention, "steps": training_steps}
for name in sys.argv[1:] or groups:
    with torch.set_grad_enabled(name in ("attention", "steps", "losses")):
        groups[name]()
