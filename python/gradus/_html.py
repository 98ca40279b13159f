"""What notebooks show: an image tensor as a picture, a module as a table, a history as curves."""

from __future__ import annotations

from typing import Any

from . import _gradus
from ._gradus import Tensor, _watch
from ._gradus._nn import Module

_LEAST_SIDE, _MOST_SIDE = 16, 2048  # of what is taken for an image, in pixels
_SHOWN_SIDE = 256


def _is_image(x: Tensor) -> bool:
    """(H, W) or (C, H, W) with 1, 3 or 4 channels, of uint8 or of fractions from 0 to 1, to rounding."""
    shape = x.shape if x.dim() == 3 else (1, *x.shape)
    if len(shape) != 3 or shape[0] not in (1, 3, 4) or x.is_meta:
        return False
    if not all(_LEAST_SIDE <= side <= _MOST_SIDE for side in shape[1:]):
        return False
    if x.dtype == _gradus.uint8:
        return True
    return x.dtype.is_floating_point and bool((x >= -1e-4).all()) and bool((x <= 1 + 1e-4).all())


def tensor_html(self: Tensor) -> str:
    """The tensor as HTML: a picture where it is an image, otherwise its text."""
    import base64
    import html

    x = self.detach()
    if not _is_image(x):
        return f"<pre>{html.escape(repr(self))}</pre>"
    x = x.cpu() if x.dtype == _gradus.uint8 else x.cpu().float()
    data = base64.b64encode(_watch.encode_png(x)).decode()
    height, width = x.shape[-2:]
    scale = max(1, _SHOWN_SIDE // max(height, width))
    caption = f"{' x '.join(map(str, x.shape))}, {self.dtype!r}"
    return (f'<figure style="margin: 0"><img src="data:image/png;base64,{data}" width="{width * scale}" '
            f'style="image-rendering: pixelated" alt="{caption}"><figcaption>{caption}</figcaption></figure>')


def module_html(self: Module) -> str:
    """The modules of a model as a table, each with its options and the number of its own parameters."""
    import html

    rows, total = [], 0
    for name, module in self.named_modules():
        own = sum(p.numel() for p in module.parameters(recurse=False))
        total += own
        indent = "&nbsp;" * 4 * (name.count(".") + 1 if name else 0)
        label = f"{html.escape(name.rpartition('.')[2])}: " if name else ""
        kind = html.escape(f"{type(module).__name__}({module.extra_repr()})")
        rows.append(f'<tr><td style="text-align: left">{indent}{label}<code>{kind}</code></td>'
                    f'<td>{f"{own:,}" if own else ""}</td></tr>')
    return ('<table><tr><th style="text-align: left">module</th><th>parameters</th></tr>' + "".join(rows) +
            f'<tr><th style="text-align: left">all</th><th>{total:,}</th></tr></table>')


def history_html(self: Any) -> str:
    """The figures of a history as curves."""
    columns = {name: values.tolist() for name, values in self.state_dict().items()}
    return str(_watch._plot_curves("", "row", {name: {name: values} for name, values in columns.items()})) if columns else ""


setattr(Tensor, "_repr_html_", tensor_html)
setattr(Module, "_repr_html_", module_html)
setattr(_watch.History, "_repr_html_", history_html)
