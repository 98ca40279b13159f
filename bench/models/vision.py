"""PyTorch's side of bench/models/vision.h and unet.h."""
import torch
from torch import nn
from torch.nn import functional as F


class InvertedResidual(nn.Module):
    def __init__(self, of, to, stride, wider):
        super().__init__()
        width, layers = of * wider, []
        if wider > 1:
            layers += [nn.Conv2d(of, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU6(True)]
        layers += [nn.Conv2d(width, width, 3, stride, 1, groups=width, bias=False), nn.BatchNorm2d(width), nn.ReLU6(True),
                   nn.Conv2d(width, to, 1, bias=False)]
        self.inner, self.norm, self.adds = nn.Sequential(*layers), nn.BatchNorm2d(to), stride == 1 and of == to

    def forward(self, x):
        y = self.norm(self.inner(x))
        return y + x if self.adds else y


class MobileNetV2(nn.Module):
    def __init__(self):
        super().__init__()
        layers = [nn.Conv2d(3, 32, 3, 2, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU6(True)]
        of = 32
        for wider, to, count, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                         (6, 160, 3, 2), (6, 320, 1, 1)):
            for i in range(count):
                layers.append(InvertedResidual(of, to, stride if i == 0 else 1, wider))
                of = to
        layers += [nn.Conv2d(of, 1280, 1, bias=False), nn.BatchNorm2d(1280), nn.ReLU6(True)]
        self.layers = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, 1000))

    def forward(self, x):
        return self.layers(x)


def vit(block):
    """ViT-S/16 of the block of GPT, which sees all patches."""

    class ViT(nn.Module):
        def __init__(self):
            super().__init__()
            self.patches = nn.Conv2d(3, 384, 16, 16)
            self.first, self.places = nn.Parameter(torch.zeros(1, 1, 384)), nn.Parameter(torch.zeros(1, 197, 384))
            self.norm, self.head = nn.LayerNorm(384), nn.Linear(384, 1000)
            self.blocks = nn.ModuleList(block(6, 384, sees_all=True) for _ in range(12))

        def forward(self, images):
            x = self.patches(images).flatten(2).transpose(1, 2)
            x = torch.cat([self.first.expand(x.size(0), 1, 384), x], 1) + self.places
            for block in self.blocks:
                x = block(x)
            return self.head(self.norm(x)[:, 0])

    return ViT()


class UNet(nn.Module):
    """As in bench/models/unet.h."""

    def __init__(self, classes, width=64):
        super().__init__()
        self.down, self.up, self.joined = nn.ModuleList(), nn.ModuleList(), nn.ModuleList()
        of, to = 3, width
        for level in range(4):
            self.down.append(self.twice(of, to))
            if level > 0:
                self.up.append(nn.ConvTranspose2d(to, of, 2, stride=2))
                self.joined.append(self.twice(to, of))
            of, to = to, 2 * to
        self.head = nn.Conv2d(width, classes, 1)

    @staticmethod
    def twice(of, to):
        layers = []
        for channels in (of, to):
            layers += [nn.Conv2d(channels, to, 3, padding=1, bias=False), nn.GroupNorm(8, to), nn.SiLU()]
        return nn.Sequential(*layers)

    def forward(self, x):
        seen = []
        for level, layers in enumerate(self.down):
            x = layers(F.max_pool2d(x, 2) if level > 0 else x)
            seen.append(x)
        for level in reversed(range(len(self.up))):
            x = self.joined[level](torch.cat([seen[level], self.up[level](x)], 1))
        return self.head(x).permute(0, 2, 3, 1)
