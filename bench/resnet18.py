"""PyTorch's side of bench/resnet.h: ResNet-18 for pictures of 32 x 32, and ResNet-50 for those of 224 x 224."""
import torch
from torch import nn


class ResidualBlock(nn.Module):
    def __init__(self, of, to, stride):
        super().__init__()
        self.inner = nn.Sequential(nn.Conv2d(of, to, 3, stride, 1, bias=False), nn.BatchNorm2d(to), nn.ReLU(True),
                                   nn.Conv2d(to, to, 3, 1, 1, bias=False))
        self.norm = nn.BatchNorm2d(to)
        self.shortcut = nn.Identity()
        if stride != 1 or of != to:
            self.shortcut = nn.Sequential(nn.Conv2d(of, to, 1, stride, bias=False), nn.BatchNorm2d(to))

    def forward(self, x):
        return torch.relu(self.norm(self.inner(x)) + self.shortcut(x))


class ResNet18(nn.Module):
    def __init__(self, classes):
        super().__init__()
        layers = [nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU(True)]
        of = 64
        for stage in range(4):
            to = 64 << stage
            layers += [ResidualBlock(of, to, 1 if stage == 0 else 2), ResidualBlock(to, to, 1)]
            of = to
        self.layers = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, classes))

    def forward(self, x):
        return self.layers(x)


class Bottleneck(nn.Module):
    def __init__(self, of, width, stride):
        super().__init__()
        to = 4 * width
        self.inner = nn.Sequential(nn.Conv2d(of, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(True),
                                   nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width),
                                   nn.ReLU(True), nn.Conv2d(width, to, 1, bias=False))
        self.norm = nn.BatchNorm2d(to)
        self.shortcut = nn.Identity()
        if stride != 1 or of != to:
            self.shortcut = nn.Sequential(nn.Conv2d(of, to, 1, stride, bias=False), nn.BatchNorm2d(to))

    def forward(self, x):
        return torch.relu(self.norm(self.inner(x)) + self.shortcut(x))


class ResNet50(nn.Module):
    def __init__(self, classes):
        super().__init__()
        layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(True), nn.MaxPool2d(3, 2, 1)]
        of, width = 64, 64
        for blocks in (3, 4, 6, 3):
            for i in range(blocks):
                layers.append(Bottleneck(of, width, 2 if i == 0 and width > 64 else 1))
                of = 4 * width
            width *= 2
        self.layers = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, classes))

    def forward(self, x):
        return self.layers(x)
