"""A linear model: learns y = 2 x + 1 from 64 points."""

import gradus
from gradus import nn


def main() -> None:
    gradus.manual_seed(1)
    x = gradus.rand(64, 1)
    y = 2 * x + 1

    model = nn.Linear(1, 1)
    mse = nn.MSELoss()
    sgd = gradus.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(300):
        sgd.zero_grad()
        mse(model(x), y).backward()
        sgd.step()
    print(f"y = {model.weight.item():.3f} x + {model.bias.item():.3f}")


if __name__ == "__main__":
    main()
