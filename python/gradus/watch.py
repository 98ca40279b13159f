"""What surrounds a training: progress, logs, early stopping, a live page, pictures, a summary of layers."""

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

    def __init__(self, iterable=0, desc="", total=None, unit="it", initial=0, mininterval=0.1, leave=True,
                 disable=False):
        if total is None:
            total = iterable if isinstance(iterable, int) else \
                len(iterable) if hasattr(iterable, "__len__") else 0
        super().__init__(total, desc, unit, initial, mininterval, leave, disable)
        self._iterable = iterable

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def __iter__(self):
        steps = range(self._iterable) if isinstance(self._iterable, int) else self._iterable
        for each in steps:
            yield each
            self.update()
        self.close()


def plot_curves(title, x_label, panels):
    """Curves as an SVG picture. panels: {"loss": {"train": [...], "test": [...]}}, side by side."""
    panels = {name: curves if isinstance(curves, dict) else {name: curves} for name, curves in panels.items()}
    return _watch._plot_curves(title, x_label, {
        name: {each: [float(y) for y in ys] for each, ys in curves.items()} for name, curves in panels.items()})


def _curves_html(self):
    """The curves of all figures, for a notebook."""
    return plot_curves("", "row", {name: values.tolist() for name, values in self.state_dict().items()})


_watch.History._repr_html_ = _curves_html


def plot_confusion_matrix(title, matrix, class_names=()):
    """What ConfusionMatrix.compute() returns, as an SVG picture."""
    return _watch._plot_confusion_matrix(title, matrix, list(class_names))


def summary(model, *inputs):
    """The layers of a model, with shapes, parameters and multiply-adds: it is called once with the inputs."""
    size = sum(x.nbytes for x in inputs if isinstance(x, _gradus.Tensor))
    return _watch._summary(model, lambda: model(*inputs), size)
