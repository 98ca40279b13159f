"""PyTorch on the cases of bench/models/models.cpp, in each of its fast forms, from its weights and batches.

    bench/models/peer.py FOLDER GRADUS.tsv [PART...]

The forms: eager, compiled, each of them also as a graph, compiled for the least overhead, and with the attention of cuDNN.
BENCH_FORMS names some of them, with commas between: "pytorch,compiled".
A first loss that differs from that of GRADUS.tsv is an error.
"""
import contextlib
import os
import sys

import torch
from safetensors.torch import load_file
from torch import nn
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

sys.path.insert(0, __file__.rsplit("/", 2)[0])
from resnet18 import ResNet18, ResNet50  # noqa: E402
from small_models import as_graph, models_of, seconds  # noqa: E402
from table import read  # noqa: E402
from vision import MobileNetV2, UNet, vit  # noqa: E402

TOLERANCE = {"float32": 1e-4, "TF32": 1e-3, "bfloat16": 5e-3}
models = models_of(torch)
GPTBlock, GPT = models.GPTBlock, models.GPT


class PaddedEncoder(GPT):
    """As in bench/models/gpt.h."""

    def __init__(self, *sizes):
        super().__init__(*sizes)
        for block in self.blocks:
            block.causal = False

    def forward(self, tokens):
        return super().forward(tokens, (tokens != 0).view(tokens.size(0), 1, 1, tokens.size(1)))


class LSTMModel(nn.Module):
    """As in bench/models/recurrent.h."""

    def __init__(self, vocabulary, width):
        super().__init__()
        self.token, self.head = nn.Embedding(vocabulary, width), nn.Linear(width, vocabulary)
        self.lstm = nn.LSTM(width, width, 2, batch_first=True)

    def forward(self, tokens):
        return self.head(self.lstm(self.token(tokens))[0])


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(512, 8, 2048, dropout=0.0)

    def forward(self, x):
        return self.layer(x.transpose(0, 1)).transpose(0, 1)


def report(name, who, value, work, unit):
    print(f"{name}\t{who}\t{value:.9g}\t{work:.9g}\t{unit}", flush=True)


# The forms of a function, and how torch.compile makes them.
FORMS = {"pytorch": None, "compiled": "default", "reduce-overhead": "reduce-overhead", "cuDNN attention": "default"}
WANTED = os.environ.get("BENCH_FORMS", ",".join(FORMS)).split(",")
if unknown := [form for form in WANTED if form not in FORMS]:
    sys.exit(f"BENCH_FORMS: there is no form '{unknown[0]}'; give some of {', '.join(FORMS)}")


def attention_of(form):
    return sdpa_kernel(SDPBackend.CUDNN_ATTENTION) if form == "cuDNN attention" else contextlib.nullcontext()


def compiled(function, form):
    return torch.compile(function, mode=FORMS[form]) if FORMS[form] else function


def check_loss(name, dtype, first, expected):
    if expected and not abs(first - expected) <= TOLERANCE[dtype] * abs(expected):
        sys.exit(f"{name}: the first loss is {first} in PyTorch and {expected} in Gradus")


def time_step(name, form, model, x, y, scores, dtype, items, unit, steps, expected):
    adamw = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True, capturable=True)
    run = compiled(model, form)

    def step(x, y):
        adamw.zero_grad(set_to_none=True)
        with torch.autocast("cuda", torch.bfloat16, enabled=dtype == "bfloat16"), attention_of(form):
            loss = F.cross_entropy(run(x).reshape(-1, scores), y.flatten())
        loss.backward()
        adamw.step()
        return loss

    first = step(x, y).item()
    check_loss(name, dtype, first, expected)
    for _ in range(3):
        step(x, y)
    torch.cuda.reset_peak_memory_stats()
    report(name, form, seconds(torch, lambda: step(x, y), steps), items, unit)
    report(name + ", first loss", form, first, 1, "loss")
    if form != "reduce-overhead":  # which makes graphs itself, whose memory PyTorch does not count here
        report(name + ", peak memory", form, torch.cuda.max_memory_allocated(), 1, "bytes")
        graph = as_graph(torch, step, x, y)
        report(name + ", captured", form, seconds(torch, lambda: graph(x, y), steps), items, unit)


class Generation:
    """As in bench/models/generation.h."""

    def __init__(self, model, batch, length):
        weight = model.token.weight
        self.model, self.width = model, weight.size(1)
        self.tokens = torch.zeros(batch, 1, dtype=torch.long, device=weight.device)
        self.place = torch.zeros(1, dtype=torch.long, device=weight.device)
        self.hidden = torch.full((length, length), float("-inf"), dtype=weight.dtype, device=weight.device).triu(1)
        self.caches = [weight.new_zeros(batch, length, 2 * self.width) for _ in model.blocks]

    def scores(self, tokens, place):
        x = self.model.token(tokens) + self.model.place(place)
        mask = self.hidden.index_select(0, place)
        for block, cache in zip(self.model.blocks, self.caches):
            qkv = block.qkv(block.norm1(x))
            cache.index_copy_(1, place, qkv[..., self.width:])
            q, k, v = (part.view(part.size(0), part.size(1), block.heads, -1).transpose(1, 2)
                       for part in (qkv[..., :self.width], cache[..., :self.width], cache[..., self.width:]))
            seen = F.scaled_dot_product_attention(q, k, v, mask)
            x = x + block.proj(seen.transpose(1, 2).reshape(x.shape))
            x = x + block.down(F.gelu(block.up(block.norm2(x))))
        return self.model.head(self.model.norm(x))

    def next(self, tokens, place):
        return self.scores(tokens, place).argmax(-1)

    def step(self, next):
        self.tokens.copy_(next(self.tokens, self.place))
        self.place.add_(1)


@torch.no_grad()
def time_generation(name, form, model, batch, dtype, expected):
    length, steps = 256, 200
    generation = Generation(model, batch, length)
    first = F.cross_entropy(generation.scores(generation.tokens, generation.place).flatten(0, 1).float(),
                            generation.tokens.new_zeros(batch)).item()
    check_loss(name, dtype, first, expected)
    run = compiled(generation.next, form)

    def tokens():
        generation.place.zero_()
        for _ in range(steps):
            generation.step(run)

    report(name, form, seconds(torch, tokens, 1) / steps, batch, "token")
    report(name + ", first loss", form, first, 1, "loss")
    if form != "reduce-overhead":
        generation.place.zero_()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            generation.step(run)

        def replays():
            generation.place.zero_()
            for _ in range(steps):
                graph.replay()

        report(name + ", captured", form, seconds(torch, replays, 1) / steps, batch, "token")


def main():
    folder, ours, parts = sys.argv[1], read([sys.argv[2]]), sys.argv[3:]
    # The model, how many scores it makes, the items of a step, their name, and the steps between two waits.
    cases = {"MLP 784-512-10 batch 128": (models.mlp, 10, 128, "image", 200),
              "LeNet-5 batch 128": (models.lenet, 10, 128, "image", 200),
              "Tiny GPT 4 x 128": (lambda: GPT(65, 64, 4, 4, 128), 65, 12 * 64, "token", 200),
              "GPT 6 x 384": (lambda: GPT(65, 256, 6, 6, 384), 65, 64 * 256, "token", 10),
              "GPT-2 12 x 768": (lambda: GPT(50257, 1024, 12, 12, 768), 50257, 8 * 1024, "token", 10),
              "GPT-2 12 x 768 batch 64": (lambda: GPT(50257, 1024, 12, 12, 768), 50257, 64 * 1024, "token", 10),
              "Generation 12 x 768 batch 1": (lambda: GPT(50257, 1024, 12, 12, 768), 0, 1, "token", 0),
              "Generation 12 x 768 batch 16": (lambda: GPT(50257, 1024, 12, 12, 768), 0, 16, "token", 0),
              "Encoder 512": (Encoder, 512, 32 * 128, "token", 10),
              "BERT 12 x 768 padded": (lambda: PaddedEncoder(30522, 128, 12, 12, 768), 30522, 32 * 128, "token", 10),
              "ResNet-18 batch 128": (lambda: ResNet18(10), 10, 128, "image", 10),
              "ResNet-50 batch 64": (lambda: ResNet50(1000), 1000, 64, "image", 10),
              "ResNet-50 batch 256": (lambda: ResNet50(1000), 1000, 256, "image", 10),
              "MobileNetV2 batch 64": (MobileNetV2, 1000, 64, "image", 10),
              "ViT-S batch 64": (lambda: vit(GPTBlock), 1000, 64, "image", 10),
              "U-Net 128 batch 32": (lambda: UNet(21), 21, 32, "image", 10),
              "LSTM 2 x 512": (lambda: LSTMModel(1000, 512), 1000, 64 * 128, "token", 10)}
    for name, (make, scores, items, unit, steps) in cases.items():
        generates = name.startswith("Generation")
        for dtype in ("float32", "TF32", "bfloat16"):
            label = f"{name}, {dtype}"
            if (parts and not any(part in label for part in parts)) or (generates and dtype == "TF32"):
                continue
            torch.set_float32_matmul_precision("high" if dtype == "TF32" else "highest")
            torch.backends.cudnn.allow_tf32 = dtype == "TF32"
            values = load_file(f"{folder}/{name}.safetensors")
            weights = {key[len("model."):]: value for key, value in values.items() if key.startswith("model.")}
            loss = ours.get(label + ", first loss")
            loss = loss and min(loss["gradus"][0])
            for form in WANTED:
                if form == "cuDNN attention" and (dtype != "bfloat16" or not any(part in name for part in ("GPT", "Encoder", "ViT"))):
                    continue
                torch.compiler.reset()
                model = make()
                model.load_state_dict(weights)
                model.cuda()
                if generates:
                    if dtype == "bfloat16":
                        model.bfloat16()
                    time_generation(label, form, model, items, dtype, loss)
                    continue
                x, y = values["x"].cuda(), values["y"].cuda()
                if x.dim() == 4 and x.size(1) > 1 and dtype != "float32":
                    model, x = model.to(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last)
                time_step(label, form, model, x, y, scores, dtype, items, unit, steps, loss)


main()
