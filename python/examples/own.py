"""Classes of one's own: a module, a function with its derivative, a dataset."""

from __future__ import annotations

from typing import Any

import gradus
from gradus import Tensor, nn
from gradus.utils.data import DataLoader, Dataset


class Cube(gradus.autograd.Function):
    """x^3, with its derivative by hand."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x ** 3

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        x: Tensor = ctx.saved_tensors[0]
        return grad * 3 * x ** 2


class Scaled(nn.Module):
    """scale * layer(x)^3: a parameter, a layer and a buffer become part of the module when they are assigned."""

    calls: Tensor

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.layer = nn.Linear(inputs, outputs)
        self.scale = nn.Parameter(gradus.ones(outputs))
        self.register_buffer("calls", gradus.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        out: Tensor = self.scale * Cube.apply(self.layer(x))
        return out


class Cubes(Dataset["tuple[Tensor, Tensor]"]):
    """Numbers from -1 to 1 and their cubes."""

    def __len__(self) -> int:
        return 64

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        x = gradus.tensor([index / 32 - 1])
        return x, x ** 3


def main() -> None:
    gradus.manual_seed(1)
    x = gradus.tensor([2.0], requires_grad=True)
    Cube.apply(x).backward()
    print(f"the derivative of x^3 at 2 is {x.grad.item() if x.grad is not None else 0:.0f}")

    model = Scaled(1, 1)
    print(model)
    print(sorted(model.state_dict()))
    sgd = gradus.optim.SGD(model.parameters(), lr=0.05)
    losses = []
    for _ in range(20):
        for batch, targets in DataLoader(Cubes(), batch_size=16, shuffle=True):
            sgd.zero_grad()
            loss = nn.functional.mse_loss(model(batch), targets)
            loss.backward()
            sgd.step()
            losses.append(loss.item())
    print(f"loss {losses[-1]:.4f} after {int(model.calls.item())} calls")


if __name__ == "__main__":
    main()
