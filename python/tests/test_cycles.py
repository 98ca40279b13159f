"""Cycles through modules, hooks, Functions and optimizers are collected, and nothing stays behind."""

import copy
import gc
import os
import subprocess
import sys
import weakref

import pytest

import gradus
from gradus import nn


class Token:
    """An object that can be seen to go."""


def gone_after(make):
    """Whether what make() returned has gone after a collection. It returns one object of a cycle."""
    gc.collect()
    gc.disable()
    try:
        token = Token()
        seen = weakref.ref(token)
        kept = make(token)
        del token
        assert seen() is not None
        del kept
        assert seen() is not None, "no cycle: this case tests nothing"
        gc.collect()
        return seen() is None
    finally:
        gc.enable()


class Scale(gradus.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2, None


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.own = nn.Parameter(gradus.ones(2))
        self.layer = nn.Linear(2, 2)

    def forward(self, x):
        return self.layer(x) * self.own


def leaf(token):
    x = gradus.ones(2, requires_grad=True)
    x.token = token
    return x


def itself(token):
    m = Net()
    m.token, m.self = token, m
    return m


def below_itself(token):
    m = Net()
    m.token, m.layer.parent = token, m
    return m


def in_a_list(token):
    m = nn.Linear(2, 2)
    m.token, m.others = token, [m]
    return m


def shared_child(token):
    m = Net()
    m.token = token
    m.first = m.second = m.layer
    m.all = nn.Sequential(m.layer, nn.ReLU())
    m.layer.parent = m
    return m


def forward_hook(token):
    m = Net()
    m.token = token
    m.register_forward_hook(lambda module, args, output: m)
    return m


def forward_hook_of_cpp(token):
    m = nn.Linear(2, 2)
    m.token = token
    m.register_forward_hook(lambda module, args, output: m and None)
    m.register_forward_pre_hook(lambda module, args: m and None)
    m(gradus.ones(2))
    return m


def hook_of_a_tensor(token):
    x = leaf(token)
    x.register_hook(lambda grad: x and None)
    x.register_post_accumulate_grad_hook(lambda leaf: x and None)
    return x


def hook_of_a_result(token):
    y = leaf(None) * 2
    y.token = token
    y.register_hook(lambda grad: y and None)
    return y


def hook_deep_in_a_graph(token):
    x = leaf(None)
    middle = x * 2
    y = middle
    for _ in range(20000):
        y = y + 1
    y.token = token
    middle.register_hook(lambda grad: y and None)
    return y


def hook_of_a_view(token):
    x = leaf(None) * 2
    y = x[0]
    x.register_hook(lambda grad: y and None)
    y.token = token
    return y


def hook_of_a_parameter(token):
    m = Net()
    m.token = token
    m.own.register_hook(lambda grad: m and None)
    return m


def hook_of_a_parameter_of_cpp(token):
    m = nn.Linear(2, 2)
    m.token = token
    m.weight.register_hook(lambda grad: m and None)
    for p in m.parameters():
        p.module = m
    return m


def hook_of_a_parameter_below(token):
    m = Net()
    m.token = token
    m.layer.weight.register_hook(lambda grad: m and None)
    m(gradus.ones(2)).sum().backward()
    return m


def function_in_a_graph(token):
    ys = [token]
    y = Scale.apply(leaf(None), ys)
    ys.append(y)
    return y


def function_behind_an_operation(token):
    ys = [token]
    y = Scale.apply(leaf(None), ys).exp().sum()
    ys.append(y)
    return y


def optimizer(token):
    m = Net()
    m.token, m.optimizer = token, gradus.optim.Adam(m.parameters(), lr=0.1)
    m.optimizer.model = m
    m.group = m.optimizer.param_groups[0]
    m(gradus.ones(2)).sum().backward()
    m.optimizer.step()
    return m


def optimizer_and_hook(token):
    m = Net()
    m.token, m.optimizer = token, gradus.optim.SGD(m.parameters(), lr=0.1, momentum=0.9)
    m.own.register_hook(lambda grad: m and None)
    m.layer.bias.register_hook(lambda grad: m and None)
    m(gradus.ones(2)).sum().backward()
    m.optimizer.step()
    return m


def scheduler(token):
    sgd = gradus.optim.SGD(nn.Linear(2, 2).parameters(), lr=0.1)
    sgd.token = token
    sgd.scheduler = gradus.optim.lr_scheduler.StepLR(sgd, 2)
    return sgd


def scheduler_of_a_function(token):
    trainer = Token()
    trainer.token = token
    sgd = gradus.optim.SGD(nn.Linear(2, 2).parameters(), lr=0.1)
    trainer.scheduler = gradus.optim.lr_scheduler.LambdaLR(sgd, lambda epoch: 0.5 if trainer else 1)
    sgd.step()
    trainer.scheduler.step()
    return trainer


def loader(token):
    data = gradus.utils.data.TensorDataset(gradus.ones(4, 2))
    loader = gradus.utils.data.DataLoader(data, 2, collate_fn=lambda batch: loader)
    loader.token = token
    for _ in loader:
        pass
    return loader


def deep_copy(token):
    m = copy.deepcopy(Net())
    m.token = token
    m.layer.register_forward_hook(lambda module, args, output: m and None)
    return m


def data_parallel(token):
    m = Net()
    m.token = token
    m.parallel = nn.DataParallel(m, ["cpu"])
    return m


CASES = [itself, below_itself, in_a_list, shared_child, forward_hook, forward_hook_of_cpp,
         hook_of_a_tensor, hook_of_a_result, hook_deep_in_a_graph, hook_of_a_view,
         hook_of_a_parameter, hook_of_a_parameter_of_cpp, hook_of_a_parameter_below,
         function_in_a_graph, function_behind_an_operation, optimizer, optimizer_and_hook,
         scheduler, scheduler_of_a_function, loader, deep_copy, data_parallel]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_a_cycle_is_collected(case):
    assert gone_after(case)


def test_what_is_in_use_is_not_collected():
    seen = []
    x = gradus.ones(2, requires_grad=True)
    middle = x * 2
    middle.name = "middle"
    middle.register_hook(lambda grad, middle=middle: seen.append(middle.name))
    y = middle.sum()
    del middle  # only the hook, which the graph holds, leads to it
    gc.collect()
    y.backward()
    assert seen == ["middle"] and x.grad.tolist() == [2, 2]

    m = nn.Linear(2, 2)
    layers = nn.Sequential(m)
    m.register_forward_hook(lambda module, args, output, m=m: seen.append(m.tag))
    m.tag = "m"
    del m
    gc.collect()
    layers(gradus.ones(1, 2))
    assert seen == ["middle", "m"]

    attention = nn.MultiheadAttention(4, 2)
    part = attention.out_proj  # C++ holds it, and so does this object
    part.register_forward_hook(lambda module, args, output, part=part: seen.append("part"))
    weight = part.weight
    weight.register_hook(lambda grad, part=part: seen.append("weight"))
    del part, weight
    gc.collect()
    x = gradus.ones(2, 1, 4)
    attention.out_proj(x).sum().backward()
    assert seen == ["middle", "m", "part", "weight"]


def test_attributes_of_a_parameter_last_as_long_as_its_module():
    m = nn.Linear(2, 2)
    m.weight.note = "kept"
    gc.collect()
    assert m.weight.note == "kept" and m.weight is next(m.parameters())


def test_a_module_that_leads_back_is_an_attribute_and_no_part():
    m = Net()
    m.self = m
    m.layer.parent = m
    assert m.self is m and m.layer.parent is m
    assert list(m.state_dict()) == ["own", "layer.weight", "layer.bias"]
    assert len(list(m.modules())) == 2 and "Net" in repr(m)


def live():
    gc.collect()
    objects = gc.get_objects()
    return len(objects), sum(issubclass(type(o), gradus.Tensor) for o in objects)  # isinstance() may run an object's code


def test_nothing_stays_behind_after_many_steps():
    m = Net()
    sgd = gradus.optim.SGD(m.parameters(), lr=1e-3, momentum=0.9)
    m.own.register_hook(lambda grad: grad * 2)
    m.layer.register_forward_hook(lambda module, args, output: output + 1)
    x = gradus.ones(1, 2)

    def step(number):
        sgd.zero_grad()
        y = Scale.apply(m(x), number)
        y.register_hook(lambda grad: grad if y is not None else None)  # a cycle
        handle = y.register_hook(lambda grad: None)
        y.sum().backward()
        handle.remove()
        sgd.step()

    for number in range(100):
        step(number)
    before = live()
    for number in range(10000):
        step(number)
    after = live()
    assert after[1] == before[1] and after[0] - before[0] < 20


PROGRAMS = {
    "cycles": """
m = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
m.self = m
m[0].parent = m
m[0].weight.register_hook(lambda grad: m and None)
m.optimizer = gradus.optim.SGD(m.parameters(), lr=0.1)
m.scheduler = gradus.optim.lr_scheduler.LambdaLR(m.optimizer, lambda epoch: 1 if m else 0)
x = gradus.rand(3, 2, requires_grad=True)
x.register_hook(lambda grad: None if x is not None else 0)
loss = m(x).sum()
loss.backward()
kept = x.grad
""",
    "a graph that was not used": """
x = gradus.rand(3, 2, requires_grad=True)
class F(gradus.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        return x * 2
    @staticmethod
    def backward(ctx, grad):
        return grad
y = F.apply(x)
y.register_hook(lambda grad: y and None)
nn.Linear(2, 2).register_forward_hook(lambda m, i, o: y and None)
""",
    "nothing but an import": "",
    "a thread": """
import threading
thread = threading.local()
def work():
    thread.x = gradus.rand(3, requires_grad=True)
    thread.x.register_hook(lambda grad: thread and None)
    (thread.x * 2).sum().backward()
for _ in range(3):
    t = threading.Thread(target=work)
    t.start()
    t.join()
work()
""",
    # Simulated devices tell what nothing gives back.
    **{f"DataParallel on {count} devices": f"""
class Net(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner
    def forward(self, x):
        return self.inner(x)
if gradus.cuda.device_count() >= {count}:
    net = Net(Net(nn.Linear(2, 2))).to("cuda:0")
    parallel = nn.DataParallel(net, list(range({count})))
    parallel(gradus.ones(4, 2, device="cuda:0")).sum().backward()
""" for count in (1, 2)},
    "the class below DataParallel": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(2, 2)
    def forward(self, x):
        return self.inner(x)
if gradus.cuda.device_count() >= 2:
    parallel = gradus._gradus._distributed._DataParallel(Net().to("cuda:0"), [0, 1], None, 0)
    x = gradus.ones(4, 2, device="cuda:0")
    parallel._run([x], lambda replica, module, parts: [module(parts[0])])[0].sum().backward()
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_ends_without_a_message(name):
    program = "import gradus\nfrom gradus import nn\n" + PROGRAMS[name]
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          env={**os.environ, "GRADUS_SIM_DEVICES": "2"})
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
