"""What inspect.signature() says of classes of C++ and of those that derive from them."""

from __future__ import annotations

import __future__
from typing import Any


class _Signature:
    """The attribute __signature__ of a class: what its __init__() takes, but for self."""

    def __get__(self, object: Any, cls: type[Any]) -> Any:
        import inspect

        if object is not None:
            raise AttributeError("__signature__")
        init = cls.__init__
        texts = getattr(init, "__nb_signature__", None)
        if texts is not None:  # of C++, as nanobind keeps it
            names: dict[str, Any] = {}
            exec(compile(texts[0][0] + ": ...", "<signature>", "exec", __future__.annotations.compiler_flag), names)
            init = names["__init__"]
        signature = inspect.signature(init)
        return signature.replace(parameters=list(signature.parameters.values())[1:], return_annotation=inspect.Signature.empty)


def show_signatures(*classes: Any) -> None:
    """Gives classes of C++, and all that derive from them, a __signature__."""
    for cls in classes:
        cls.__signature__ = _Signature()
