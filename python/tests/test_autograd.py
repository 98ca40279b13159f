"""Gradients in Python: modes, hooks, Functions, and functions of functions."""

import gc
import threading
import weakref

import pytest

import gradus
from gradus import func


def test_modes_are_contexts_and_decorators():
    x = gradus.ones(2, requires_grad=True)
    with gradus.no_grad():
        assert not (x * 2).requires_grad
        with gradus.enable_grad():
            assert (x * 2).requires_grad
    assert (x * 2).requires_grad

    @gradus.no_grad()
    def f():
        return x * 2

    @gradus.no_grad
    def g():
        return x * 2

    assert not f().requires_grad and not g().requires_grad
    with gradus.set_grad_enabled(False):
        assert not gradus.is_grad_enabled()
    assert gradus.is_grad_enabled()
    with gradus.inference_mode():
        assert gradus.ones(2).is_inference()


def test_grad_and_backward():
    x = gradus.tensor([1.0, 2.0], requires_grad=True)
    (x ** 2).sum().backward()
    assert x.grad.tolist() == [2, 4]
    x.grad = None
    assert x.grad is None
    (grad,) = gradus.autograd.grad((x ** 3).sum(), x, create_graph=True)
    assert grad.tolist() == [3, 12]
    (second,) = gradus.autograd.grad(grad.sum(), x)
    assert second.tolist() == [6, 12]
    assert (x * 2).grad_fn.name() == "MulBackward0"


def test_saved_tensors_are_packed():
    packed, unpacked = [], []

    def pack(x):
        packed.append(x)
        return len(packed) - 1

    def unpack(place):
        unpacked.append(place)
        return packed[place]

    x = gradus.tensor([1.0, 2.0], requires_grad=True)
    hooks = gradus.autograd.graph.saved_tensors_hooks(pack, unpack)
    with hooks:
        y = x * x
        with gradus.autograd.graph.save_on_cpu():
            z = y * y  # of blocks within one another the innermost counts
    assert len(packed) == 2 and not packed[0].requires_grad and not unpacked
    (z.sum() + (x * x).sum()).backward()
    assert len(packed) == 2 and sorted(unpacked) == [0, 1]
    assert x.grad.tolist() == [6, 36]
    with gradus.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: 1):
        y = x * x
    with pytest.raises(TypeError, match="saved_tensors_hooks: unpack_hook returned an object of type int"):
        y.sum().backward()
    with gradus.autograd.graph.saved_tensors_hooks(lambda x: 1 / 0, lambda x: x), pytest.raises(ZeroDivisionError):
        x * x
    assert gradus.equal((x * x).detach(), x.detach() ** 2) and len(packed) == 2


def test_hooks_change_gradients_and_can_be_removed():
    x = gradus.ones(2, requires_grad=True)
    seen = []
    handle = x.register_hook(lambda grad: seen.append(grad.tolist()))
    other = x.register_hook(lambda grad: grad * 10)
    (x * 3).sum().backward()
    assert seen == [[3, 3]] and x.grad.tolist() == [30, 30]
    handle.remove()
    other.remove()
    (x * 3).sum().backward()
    assert seen == [[3, 3]] and x.grad.tolist() == [33, 33]


def test_hooks_after_accumulation_step_leaf_by_leaf():
    a, b = (gradus.ones(2, requires_grad=True) for _ in range(2))
    optimizers = {x: gradus.optim.SGD([x], lr=0.1) for x in (a, b)}

    def step(leaf):
        optimizers[leaf].step()
        optimizers[leaf].zero_grad()

    handles = [x.register_post_accumulate_grad_hook(step) for x in (a, b)]
    (a * 2 + b * 3).sum().backward()
    assert gradus.allclose(a, gradus.tensor([0.8, 0.8])) and gradus.allclose(b, gradus.tensor([0.7, 0.7]))
    assert a.grad is None and b.grad is None
    for handle in handles:
        handle.remove()
    (a * 2).sum().backward()
    assert a.grad.tolist() == [2, 2]
    with pytest.raises(RuntimeError, match="non-leaf"):
        (a * 2).register_post_accumulate_grad_hook(step)


class Cube(gradus.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x)
        ctx.factor = factor
        return x * x * x * factor

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * x * x * ctx.factor, None


def test_a_function_says_its_own_derivative():
    x = gradus.tensor([1.0, 2.0], requires_grad=True)
    y = Cube.apply(x, 2)
    assert y.tolist() == [2, 16] and y.grad_fn.name() == "CubeBackward"
    y.sum().backward()
    assert x.grad.tolist() == [6, 24]
    assert not Cube.apply(x.detach(), 2).requires_grad


def test_an_error_of_a_hook_arrives():
    x = gradus.ones(2, requires_grad=True)

    def hook(grad):
        raise KeyError("mine")

    x.register_hook(hook)
    with pytest.raises(KeyError, match="mine"):
        (x * 2).sum().backward()


def test_a_hook_may_wait_for_another_thread():
    x = gradus.ones(2, requires_grad=True)
    found = []

    def hook(grad):
        thread = threading.Thread(target=lambda: found.append((gradus.ones(3) + 1).sum().item()))
        thread.start()
        thread.join(60)

    x.register_hook(hook)
    (x * 2).sum().backward()
    assert found == [6]


def test_nothing_stays_behind():
    def step():
        x = gradus.ones(4, requires_grad=True)
        x.register_hook(lambda grad: grad * 2)
        Cube.apply(x, 2).sum().backward()

    for _ in range(10):
        step()
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(1000):
        step()
    gc.collect()
    assert len(gc.get_objects()) - before < 20


def test_functions_of_functions():
    x = gradus.tensor([1.0, 2.0, 3.0])
    assert func.grad(lambda v: (v ** 2).sum())(x).tolist() == [2, 4, 6]
    assert func.grad(func.grad(lambda v: v ** 3))(gradus.tensor(2.0)).item() == 12
    assert func.vmap(lambda v: v * v)(x).tolist() == [1, 4, 9]
    a, b = gradus.rand(5, 3), gradus.rand(5, 3)
    dots = func.vmap(lambda u, v: (u * v).sum())(a, b)
    assert gradus.allclose(dots, (a * b).sum(1))
    assert func.jacrev(lambda v: v * v)(x).tolist() == [[2, 0, 0], [0, 4, 0], [0, 0, 6]]
    per_sample = func.vmap(func.grad(lambda v: (v ** 2).sum()))(a)
    assert gradus.allclose(per_sample, 2 * a)


class Wrong(gradus.autograd.Function):
    """x^2, whose derivative is said to be x."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.saved_tensors[0]


def test_derivatives_are_compared_with_differences():
    autograd = gradus.autograd
    x = gradus.tensor([0.5, -2.0], dtype=gradus.float64, requires_grad=True)
    w = gradus.tensor([[1.0, 3.0]], dtype=gradus.float64, requires_grad=True)
    for check in (autograd.gradcheck, autograd.gradgradcheck):
        assert check(lambda x: x.sin() * x, x) is True
        assert check(lambda x, w: ((w @ x).exp(), x * w), (x, w), eps=1e-6, atol=1e-4)
    assert x.tolist() == [0.5, -2.0]
    with pytest.raises(gradus.Error, match="gradcheck"):
        autograd.gradcheck(Wrong.apply, (x,))
    assert autograd.gradcheck(Wrong.apply, (x,), raise_exception=False) is False
    assert autograd.gradcheck(Wrong.apply, (x,), atol=10)
    with pytest.raises(ZeroDivisionError):
        autograd.gradcheck(lambda x: x / (1 // 0), (x,), raise_exception=False)


def test_a_node_is_of_a_class_of_its_name():
    w = gradus.ones(2, requires_grad=True)
    y, written = Cube.apply(w, 2), gradus.zeros(4)
    written[:2] = w
    cell = gradus.nn.GRUCell(2, 2)(gradus.ones(1, 2))
    for node, name in (((w + 1).grad_fn, "AddBackward0"), (y.grad_fn, "CubeBackward"), (written.grad_fn, "CopySlices"),
                       ((w + 1).grad_fn.next_functions[0][0], "AccumulateGrad")):
        assert type(node).__name__ == name and isinstance(node, gradus._gradus.Node) and repr(node) == f"<{name}>"
    for tensor in (w + 1, y, written, cell):
        name = type(tensor.grad_fn).__name__
        assert name.isidentifier() and repr(tensor).endswith(f"grad_fn=<{name}>)")
    twice = w * 2
    first, second = (twice + twice).grad_fn.next_functions
    assert first[0] == second[0] == twice.grad_fn and len({first[0], second[0], twice.grad_fn}) == 1
    assert twice.grad_fn != y.grad_fn and twice.grad_fn != 1


def test_gradcheck_leaves_what_is_no_tensor():
    x = gradus.tensor([0.5, 2.0], dtype=gradus.float64, requires_grad=True)
    for check in (gradus.autograd.gradcheck, gradus.autograd.gradgradcheck):
        assert check(lambda p, x, flag: x ** p if flag else x.floor(), (3.0, x, True))
