"""A multilayer perceptron: tells two spirals apart, with batches, a schedule of the rate and a file at the end."""

import math
import pathlib
import tempfile

import gradus
from gradus import Tensor, nn
from gradus.optim.lr_scheduler import CosineAnnealingLR
from gradus.utils.data import DataLoader, TensorDataset


def spirals(points: int) -> tuple[Tensor, Tensor]:
    """Points (n, 2) of two spirals, and which spiral each is of (n)."""
    turn = gradus.linspace(0.25, 1.25, points // 2) * (2 * math.pi)
    arm = gradus.stack([turn * turn.cos(), turn * turn.sin()], dim=1) / 8
    labels = gradus.cat([gradus.zeros(points // 2), gradus.ones(points // 2)])
    return gradus.cat([arm, -arm]), labels.long()


def accuracy(model: nn.Module, inputs: Tensor, labels: Tensor) -> float:
    with gradus.no_grad():
        right = model(inputs).argmax(1) == labels
    return float(right.float().mean())


def main() -> None:
    gradus.manual_seed(1)
    inputs, labels = spirals(256)
    loader = DataLoader(TensorDataset(inputs, labels), batch_size=32, shuffle=True)

    model = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 2))
    loss_of = nn.CrossEntropyLoss()
    adam = gradus.optim.Adam(model.parameters(), lr=0.02)
    epochs = 60
    schedule = CosineAnnealingLR(adam, T_max=epochs)
    for _ in range(epochs):
        for batch, targets in loader:
            adam.zero_grad()
            loss = loss_of(model(batch), targets)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            adam.step()
        schedule.step()
    print(f"{accuracy(model, inputs, labels):.1%} of the points are told apart")

    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "spirals.safetensors"
        gradus.save(model.state_dict(), path)
        again = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 2))
        again.load_state_dict(gradus.load(path))
        assert gradus.equal(again(inputs), model(inputs))


if __name__ == "__main__":
    main()
