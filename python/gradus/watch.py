"""What surrounds a training: progress, logs, early stopping, a live page, pictures, a summary of layers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from . import _gradus
from ._gradus import _watch
from ._gradus._watch import *  # noqa: F403


class ProgressBar(_watch._ProgressBar):
    """How far a loop is, with its rate, the time left and other figures, on stderr.

    iterable: what the loop goes through, or the number of steps; 0 where nobody knows it. The bar is
    a context that closes it, and an iterator over `iterable` that counts its steps.

        for x, y in (bar := gradus.watch.ProgressBar(loader, desc="train")):
            bar.set_postfix(loss=step(x, y))
    """

    def __init__(self, iterable: Any = 0, desc: str = "", total: int | None = None, unit: str = "it",
                 initial: int = 0, mininterval: float = 0.1, leave: bool = True, disable: bool = False) -> None:
        if total is None:
            total = iterable if isinstance(iterable, int) else \
                len(iterable) if hasattr(iterable, "__len__") else 0
        super().__init__(total, desc, unit, initial, mininterval, leave, disable)
        self._iterable = iterable

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Any]:
        steps = range(self._iterable) if isinstance(self._iterable, int) else self._iterable
        for each in steps:
            yield each
            self.update()
        self.close()


class NanGuard(_watch._NanGuard):
    """Finds the first NaN or infinity of a training, by module and operation.

    From the start of the `with` block to its end, the results of every operation are looked at: in forward and backward
    passes and in the steps of optimizers, of all threads. What is found raises NanError, whose `report` is a NanReport.

    callback: called with the report instead, once; then the guard rests until reset(). It may run on another thread.
    The CPU tells at once. A GPU tells where the host next waits for it, at check() and at the end of the block.

    >>> import gradus
    >>> with gradus.watch.NanGuard():
    ...     gradus.zeros(3).log()
    Traceback (most recent call last):
    gradus.NanError: NanGuard: log, forward, ...: 3 of 3 outputs are infinite, first at [0]; ...
    """

    def __init__(self, callback: Callable[[NanReport], Any] | None = None) -> None:  # noqa: F405
        super().__init__(callback)

    def __enter__(self) -> NanGuard:
        return self

    def __exit__(self, *error: object) -> None:
        self._end()


class Svg(str):
    """A picture as SVG text, which a notebook shows."""

    def _repr_svg_(self) -> str:
        return self


def plot_curves(title: str, x_label: str, panels: Mapping[str, Any]) -> Svg:
    """Curves as an SVG picture. panels: {"loss": {"train": [...], "test": [...]}}, side by side.

    >>> import gradus
    >>> gradus.watch.plot_curves("LeNet", "epoch", {"loss": {"train": [3, 2, 1], "test": [3, 2.5, 2]}})[:4]
    '<svg'
    """
    panels = {name: curves if isinstance(curves, dict) else {name: curves} for name, curves in panels.items()}
    return Svg(_watch._plot_curves(title, x_label, {
        name: {each: [float(y) for y in ys] for each, ys in curves.items()} for name, curves in panels.items()}))


def plot_confusion_matrix(title: str, matrix: _gradus.Tensor, class_names: Sequence[str] = ()) -> Svg:
    """What ConfusionMatrix.compute() returns, as an SVG picture."""
    return Svg(_watch._plot_confusion_matrix(title, matrix, list(class_names)))


def summary(model: Any, *inputs: Any) -> Any:
    """The layers of a model, with shapes, parameters and multiply-adds: it is called once with the inputs."""
    size = sum(x.nbytes for x in inputs if isinstance(x, _gradus.Tensor))
    return _watch._summary(model, lambda: model(*inputs), size)
