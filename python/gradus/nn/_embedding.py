"""Embeddings of given vectors."""

from __future__ import annotations

from typing import Any

from .. import _gradus
from .._gradus import Tensor, _nn


def from_pretrained(cls: Any, embeddings: Tensor, freeze: bool = True, *places: Any, **options: Any) -> Any:
    """A layer whose weight shares the memory of a matrix. freeze: it is not trained. The rest: options of the layer."""
    if embeddings.dim() != 2:
        raise _gradus.ValueError(f"{cls.__name__}.from_pretrained: embeddings has shape {list(embeddings.shape)}, "
                                 "expected a row for each word; reshape it")
    out = cls(*embeddings.shape, *places, _weight=embeddings, **options)
    out.weight.requires_grad_(not freeze)
    return out


for _class in (_nn.Embedding, _nn.EmbeddingBag):
    setattr(_class, "from_pretrained", classmethod(from_pretrained))
