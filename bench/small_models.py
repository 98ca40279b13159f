"""Models and clocks of benchmarks in Python, for whichever library is given: models_of(torch), models_of(gradus)."""
import statistics
import time
import types


def models_of(library):
    """The models of bench/small_models.h and bench/models/gpt.h."""
    nn, F = library.nn, library.nn.functional

    def mlp():
        return nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 10))

    def lenet():
        return nn.Sequential(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(),
                             nn.MaxPool2d(2), nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(),
                             nn.Linear(84, 10))

    class GPTBlock(nn.Module):
        def __init__(self, heads, width, sees_all=False):
            super().__init__()
            self.heads, self.causal = heads, not sees_all
            self.norm1, self.qkv = nn.LayerNorm(width), nn.Linear(width, 3 * width)
            self.proj, self.norm2 = nn.Linear(width, width), nn.LayerNorm(width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x, mask=None):
            batch, tokens, width = x.shape
            q, k, v = (part.view(batch, tokens, self.heads, -1).transpose(1, 2)
                       for part in self.qkv(self.norm1(x)).chunk(3, -1))
            seen = F.scaled_dot_product_attention(q, k, v, mask, is_causal=self.causal)
            x = x + self.proj(seen.transpose(1, 2).reshape(batch, tokens, width))
            return x + self.down(F.gelu(self.up(self.norm2(x))))

    class GPT(nn.Module):
        def __init__(self, vocabulary, tokens, layers, heads, width):
            super().__init__()
            self.token, self.place = nn.Embedding(vocabulary, width), nn.Embedding(tokens, width)
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary)
            self.blocks = nn.ModuleList(GPTBlock(heads, width) for _ in range(layers))

        def forward(self, tokens, mask=None):
            x = self.token(tokens) + self.place(library.arange(tokens.size(1), device=tokens.device))
            for block in self.blocks:
                x = block(x, mask)
            return self.head(self.norm(x))

    return types.SimpleNamespace(mlp=mlp, lenet=lenet, GPTBlock=GPTBlock, GPT=GPT)


def seconds(library, run, steps):
    """Of a run, as host_seconds() of bench/timer.h."""
    times = []
    for _ in range(6):
        library.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(steps):
            run()
        library.cuda.synchronize()
        times.append((time.perf_counter() - start) / steps)
    return statistics.median(times[1:])


def as_graph(torch, step, x, y):
    """A step as PyTorch's documents capture it: three to warm up on a side stream, and a copy of each input."""
    static_x, static_y = x.clone(), y.clone()
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step(static_x, static_y)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step(static_x, static_y)

    def replay(x, y):
        static_x.copy_(x)
        static_y.copy_(y)
        graph.replay()

    return replay
