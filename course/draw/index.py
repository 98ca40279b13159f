"""Draws how the modules fit together: each stands on those below it."""
from svg import BLUE, GREEN, GREY, ORANGE, PALE, PURPLE, Canvas

TOP = 110  # where the second row begins
picture = Canvas(720, 570 + TOP)


def row(y, height, below=True):
    """A frame around modules that stand side by side, and an arrow to the next one."""
    picture.box(10, y, 700, height, fill="#f7f7f7", line=PALE, dashed=True)
    if below:
        picture.arrow(360, y + height + 2, 360, y + height + 24)


def module(x, y, width, height, title, lines, fill):
    picture.box(x, y, width, height, fill=fill)
    picture.text(x + 14, y + 25, title, 15, bold=True)
    for i, line in enumerate(lines):
        picture.text(x + 14, y + 47 + 18 * i, line, 13)


row(10, 94)
row(10 + TOP, 94)
row(130 + TOP, 112)
row(268 + TOP, 130)
row(424 + TOP, 76)
module(20, 20, 680, 74, "8  A language model", ["Byte-pair encoding, a cache of keys and values, sampling,", "the parts of newer transformers, weights of one byte."], PURPLE)
module(20, 20 + TOP, 325, 74, "5  Several GPUs", ["Parts of the batch, gradients in a ring,", "sent while others are still computed."], PURPLE)
module(375, 20 + TOP, 325, 74, "7  A transformer", ["Embeddings, layer norm, attention, GELU,", "AdamW, and a model that writes text."], PURPLE)
module(20, 140 + TOP, 325, 92, "4  Training", ["A layer, a loss, an optimizer, and the loop:", "forward, backward, step.",
                                       "The same loop on CPU and GPU."], GREEN)
module(375, 140 + TOP, 325, 92, "2  Automatic differentiation", ["The graph of what was computed, walked", "backward: each operation gives its",
                                                         "derivative, and sums join the paths."], GREEN)
picture.arrow(347, 186 + TOP, 373, 186 + TOP)
module(20, 278 + TOP, 216, 110, "1  Loops on a CPU", ["Map, zip, reduce and matrix", "products: over strides, on", "several threads, in blocks", "that fit into a cache."], BLUE)
module(252, 278 + TOP, 216, 110, "3  CUDA kernels", ["The same four as kernels:", "threads, shared memory,", "barriers, tiles, registers."], BLUE)
module(484, 278 + TOP, 216, 110, "6  Extra", ["Kernels of large networks:", "convolution, softmax,", "attention, and your fastest", "matrix product."], BLUE)
module(20, 434 + TOP, 680, 56, "0  Tensors", ["Where an element lies in memory: strides, positions, broadcasting, views, reshaping."], ORANGE)
picture.box(20, 526 + TOP, 216, 30, "CPU", GREY)
picture.box(252, 526 + TOP, 448, 30, "simulated GPU, or GPU", GREY)
picture.text(372, 120 + TOP, "uses", 12, colour=PALE)
picture.save("index")
