"""Functions of functions: jacobians forward and backward, products, calls with other parameters."""

import pytest

import gradus
from gradus import func, nn


def f(x):
    return gradus.stack([x[0] * x[1], x[0] ** 3, x[1].exp()])


X = gradus.tensor([2.0, 0.5])
JACOBIAN = gradus.tensor([[0.5, 2.0], [12.0, 0.0], [0.0, gradus.tensor(0.5).exp().item()]])


@pytest.mark.parametrize("transform", [func.jacrev, func.jacfwd])
def test_jacobians(transform):
    assert gradus.allclose(transform(f)(X), JACOBIAN)
    assert not transform(f)(X).requires_grad
    matrix = gradus.rand(2, 3)
    assert transform(lambda v: v * 2)(matrix).shape == (2, 3, 2, 3)
    assert transform(lambda v: v.sum())(matrix).tolist() == gradus.ones(2, 3).tolist()
    assert transform(lambda v: gradus.ones(2))(X).tolist() == [[0, 0], [0, 0]]
    out, aux = transform(lambda v: (f(v), "aux"), has_aux=True)(X)
    assert gradus.allclose(out, JACOBIAN) and aux == "aux"


@pytest.mark.parametrize("transform", [func.jacrev, func.jacfwd])
def test_jacobians_of_several_arguments_and_results(transform):
    a, b = gradus.tensor([1.0, 2.0]), gradus.tensor([3.0, 4.0])
    of_b = transform(lambda x, y: x * y, argnums=1)(a, b)
    assert of_b.tolist() == [[1, 0], [0, 2]]
    both = transform(lambda x, y: x * y, argnums=(0, 1))(a, b)
    assert [each.tolist() for each in both] == [[[3, 0], [0, 4]], [[1, 0], [0, 2]]]
    first, second = transform(lambda x: (x * 2, x.sum()))(a)
    assert first.tolist() == [[2, 0], [0, 2]] and second.tolist() == [1, 1]


def test_forward_and_backward_compose():
    def g(x):
        return (x ** 3).sum() + x[0] * x[1]

    expected = [[12.0, 1.0], [1.0, 3.0]]
    for second in (func.hessian(g), func.jacfwd(func.jacrev(g)), func.jacrev(func.jacfwd(g)),
                   func.jacfwd(func.jacfwd(g)), func.jacrev(func.grad(g))):
        assert gradus.allclose(second(X), gradus.tensor(expected))
    third = func.jacfwd(func.hessian(lambda x: (x ** 4).sum()))(X)
    assert gradus.allclose(third.sum((0, 1)), 24 * X)
    x = X.clone().requires_grad_()
    func.jacfwd(f)(x).sum().backward()
    assert gradus.allclose(x.grad, gradus.tensor([1 + 12.0, 1 + gradus.tensor(0.5).exp().item()]))


def test_products():
    v, w = gradus.tensor([1.0, -1.0]), gradus.tensor([1.0, 2.0, 3.0])
    out, along = func.jvp(f, (X,), (v,))
    assert gradus.allclose(out, f(X)) and gradus.allclose(along, JACOBIAN @ v)
    out, pulled = func.vjp(f, X)
    assert gradus.allclose(out, f(X)) and gradus.allclose(pulled(w)[0], w @ JACOBIAN)
    assert not out.requires_grad and not pulled(w)[0].requires_grad
    (first, second), along = func.jvp(lambda x: (x * 2, x.sum()), (X,), (v,))
    assert along[0].tolist() == [2, -2] and along[1].item() == 0
    _, pulled, aux = func.vjp(lambda x: (x * 2, 5), X, has_aux=True)
    assert aux == 5 and pulled(v)[0].tolist() == [2, -2]


@pytest.mark.parametrize("make", [lambda: nn.Linear(2, 2), lambda: nn.Sequential(nn.Linear(2, 2))])
def test_a_module_is_called_with_other_parameters(make):
    m = make()
    before = {name: p.clone() for name, p in m.named_parameters()}
    ones = {name: gradus.ones(p.shape, requires_grad=True) for name, p in m.named_parameters()}
    x = gradus.ones(1, 2)
    out = func.functional_call(m, ones, x)
    assert out.tolist() == [[3, 3]]
    out.sum().backward()
    assert all(p.grad is not None for p in ones.values())
    assert all(p.grad is None and gradus.equal(p, before[name]) for name, p in m.named_parameters())

    def loss(parameters, x):
        return func.functional_call(m, parameters, (x,)).sum()

    with pytest.raises(ValueError, match="none"):
        func.functional_call(m if isinstance(m, nn.Linear) else m[0], {"none": x}, (x,))
    assert all(gradus.equal(p, before[name]) for name, p in m.named_parameters())


def test_a_parameter_of_python_is_exchanged():
    class Scale(nn.Module):
        def __init__(self):
            super().__init__()
            self.factor = nn.Parameter(gradus.ones(1))

        def forward(self, x):
            return x * self.factor

    m = Scale()
    assert func.functional_call(m, {"factor": gradus.full((1,), 5.0)}, gradus.ones(1)).item() == 5
    assert m(gradus.ones(1)).item() == 1 and isinstance(m.factor, nn.Parameter)


TREES = [  # a function of trees, and its arguments as lists
    (lambda p: p[0] * 2, ([[1.0, 2.0]],)),
    (lambda p: p[0].sum() * p[1], ([[1.0, 2.0], [1.0, 2.0, 3.0]],)),
    (lambda p: p["a"] ** 2 * p["b"][0], ({"a": [1.0, 2.0], "b": ([3.0, 4.0],)},)),
    (lambda x: {"sum": x.sum(), "powers": [x ** 2, (x ** 3,)]}, ([1.0, 2.0],)),
    (lambda p, q: [p["a"] * q[0] ** 2], ({"a": [1.0, 2.0]}, ([2.0, 3.0],))),
]


def tree(value, make):
    """The value with make(x) in the place of what is neither a container nor a list of numbers."""
    if isinstance(value, dict):
        return {key: tree(each, make) for key, each in value.items()}
    if isinstance(value, (list, tuple)) and not isinstance(value[0], float):
        return type(value)(tree(each, make) for each in value)
    return make(value)


@pytest.mark.parametrize("f, args", TREES)
@pytest.mark.parametrize("name", ["jacrev", "jacfwd", "hessian"])
@pytest.mark.filterwarnings("ignore:`torch.jit.script`")
def test_jacobians_of_trees_are_those_of_pytorch(name, f, args):
    torch = pytest.importorskip("torch")
    for argnums in [0, (0,)] + [1, (1, 0)] * (len(args) > 1):
        found, expected = (tree(getattr(m.func, name)(f, argnums)(*tree(args, m.tensor)), lambda x: x.tolist())
                           for m in (gradus, torch))
        assert found == expected


@pytest.mark.parametrize("f, args", TREES)
@pytest.mark.filterwarnings("ignore:`torch.jit.script`")
def test_products_of_trees_are_those_of_pytorch(f, args):
    torch = pytest.importorskip("torch")

    def products(m):
        given = tree(args, m.tensor)
        out, pulled = m.func.vjp(f, *given)
        return tree((out, pulled(out), m.func.jvp(f, given, given)), lambda x: x.tolist())

    assert products(gradus) == products(torch)


def test_jacobians_take_the_options_of_pytorch():
    assert func.jacrev(lambda x: x * 2, chunk_size=1)(X).tolist() == func.jacfwd(lambda x: x * 2, randomness="same")(X).tolist()


def test_weights_and_tangents_are_matched_by_name():
    _, pulled = func.vjp(lambda x: {"a": x, "b": 2 * x}, X)
    one, two = gradus.ones(2), gradus.full((2,), 2.0)
    assert pulled({"b": two, "a": one})[0].tolist() == [5, 5]
    with pytest.raises(ValueError, match="'c'.*expected the same structure"):
        pulled({"a": one, "c": one})
    with pytest.raises(ValueError, match="tangents.*Tensor in the place of a dict"):
        func.jvp(lambda p: p["a"], ({"a": X},), (X,))


def test_what_is_no_tensor_has_no_derivative():
    for transform in (func.jacrev, func.jacfwd, func.hessian, func.grad):
        with pytest.raises(ValueError, match="argument.*got type int"):
            transform(lambda p: p["x"].sum())({"x": X, "n": 3})
    for transform in (func.jacrev, func.jacfwd, func.hessian, lambda f: lambda x: func.vjp(f, x)):
        with pytest.raises(ValueError, match="only return Tensors, got type float"):
            transform(lambda x: x.sum().item())(X)


def test_kernels_of_the_tangent_of_a_module():
    m = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    parameters = {name: p.detach() for name, p in m.named_parameters()}
    x, y = gradus.rand(3, 3), gradus.rand(2, 3)

    def f(parameters, x):
        return func.functional_call(m, parameters, (x.unsqueeze(0),)).squeeze(0)

    def kernel(x, y):
        _, pulled = func.vjp(lambda p: f(p, x), parameters)
        return func.vmap(lambda w: func.jvp(lambda p: f(p, y), (parameters,), pulled(w))[1])(gradus.eye(2))

    first, second = (func.vmap(func.jacrev(f), (None, 0))(parameters, each) for each in (x, y))
    assert list(first) == list(parameters)
    contracted = sum(gradus.einsum("Naf,Mbf->NMab", first[name].flatten(2), second[name].flatten(2)) for name in first)
    assert contracted.shape == (3, 2, 2, 2)
    assert gradus.allclose(contracted[1, 0], kernel(x[1], y[0]), atol=1e-5)


@pytest.mark.parametrize("f", [lambda v: 0.5, lambda v: v.shape[0], lambda v: None, lambda v: {"a": v, "n": [3]}])
def test_vmap_returns_tensors_alone(f):
    with pytest.raises(ValueError, match="vmap: `func` must only return Tensors, got type"):
        func.vmap(f)(gradus.ones(2, 3))
    assert func.vmap(lambda v: v.shape[0], out_dims=None)(gradus.ones(2, 3)) == 3
