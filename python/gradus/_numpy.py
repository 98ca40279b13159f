"""The functions of gradus under NumPy's names and rules: what gradus.numpy and gradus.cupy are filled with.

Functions that both have are adapted by their signatures: axis= stands for dim=, keepdims= for
keepdim=; lists, numbers and NumPy's arrays become tensors; floating point numbers of Python are
float64, and a function of integers whose results are no integers computes in float64.
"""

from __future__ import annotations

import functools
import re
from typing import Any

from . import _gradus
from ._gradus import Tensor

_KEYWORDS = {"axis": "dim", "axes": "dim", "keepdims": "keepdim", "ddof": "correction"}
# NumPy's names, and those of the array API standard, of functions that have another one here.
_RENAMED = {
    "around": "round", "bitwise_invert": "bitwise_not", "cumulative_sum": "cumsum", "degrees": "rad2deg",
    "cumulative_prod": "cumprod", "expand_dims": "unsqueeze", "fabs": "abs", "invert": "bitwise_not",
    "left_shift": "bitwise_left_shift", "rint": "round", "take_along_axis": "take_along_dim",
    "mod": "remainder", "permute_dims": "permute", "power": "pow", "radians": "deg2rad",
    "right_shift": "bitwise_right_shift",
}
_known: dict[Any, Any] = {}  # what _signatures() returned
_FLOATS = {_gradus.float32: _gradus.float64, _gradus.complex64: _gradus.complex128}
_NAMED_DTYPES = {name: getattr(_gradus, name) for name in (
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64",
    "complex128")}
_PYTHON_DTYPES = {bool: _gradus.bool, int: _gradus.int64, float: _gradus.float64,
                  complex: _gradus.complex128}


def dtype_of(dtype):
    """The dtype that a dtype, a type of Python, a name or a dtype of NumPy means; None stays None."""
    if dtype is None or isinstance(dtype, _gradus.dtype):
        return dtype
    if dtype in _PYTHON_DTYPES:
        return _PYTHON_DTYPES[dtype]
    name = dtype if isinstance(dtype, str) else getattr(dtype, "name", getattr(dtype, "__name__", None))
    if name in _NAMED_DTYPES:
        return _NAMED_DTYPES[name]
    raise _gradus.TypeError(f"dtype: {dtype!r} is no dtype; expected one of {', '.join(_NAMED_DTYPES)}")


def _has_integers(x):
    return not (x.dtype.is_floating_point or x.dtype.is_complex)


class Arrays:
    """How arrays are made on a device: "cpu", or "cuda" for the current GPU."""

    def __init__(self, device):
        self.device = device

    def asarray(self, a: Any, dtype: Any = None, copy: bool | None = None) -> Tensor:
        """The data as an array on the device of this module; what is one already is not copied."""
        dtype = dtype_of(dtype)
        if isinstance(a, Tensor):
            out = a
        elif hasattr(a, "__array_interface__") or hasattr(a, "__cuda_array_interface__"):
            out = _gradus.as_tensor(a)
        elif isinstance(a, (list, tuple)) and any(isinstance(each, Tensor) for each in a):
            out = _gradus.stack([self.asarray(each) for each in a])
        elif isinstance(a, (list, tuple, range)):
            a = list(a) if isinstance(a, range) else a
            if any(hasattr(each, "__array_interface__") for each in a):
                return self.asarray([self.asarray(each) for each in a], dtype)
            out = _gradus.tensor(a)
            if out.dtype in _FLOATS:
                out = _gradus.tensor(a, dtype=_FLOATS[out.dtype])
        elif isinstance(a, (bool, int, float, complex)):
            out = _gradus.tensor(a, dtype=_PYTHON_DTYPES[type(a)])
        else:
            raise _gradus.TypeError(f"asarray: an object of type {type(a).__name__} is no array; expected "
                                    "numbers, lists of them, a tensor or an array of NumPy")
        moved = out.to(self.device) if out.device.type != self.device else out
        moved = moved if dtype is None else moved.to(dtype)
        return moved.clone() if copy and moved is out else moved

    def _of(self, a):
        """The argument of a function: a tensor stays where it is, other data go to the device."""
        return a if isinstance(a, Tensor) else self.asarray(a)

    def _adapted(self, name, function):
        """A function of gradus that takes NumPy's keywords, and whatever asarray() takes for tensors."""

        def arrays(args, kinds):
            for i, arg in enumerate(args):
                wanted = {kind[i] for kind in kinds if i < len(kind)}
                number = isinstance(arg, (bool, int, float, complex))
                if "tensors" in wanted and isinstance(arg, (list, tuple)):
                    yield [self._of(each) for each in arg]
                elif wanted & {"tensor", "operand"} and arg is not None and not (
                        number and i > 0 and wanted != {"tensor"}):
                    yield self._of(arg)
                else:
                    yield arg

        @functools.wraps(function, assigned=("__doc__",), updated=())
        def inner(*args, **kwargs):
            kinds, names, keywords = _signatures(function)
            kwargs = {keywords.get(key, key): dtype_of(value) if key == "dtype" else value
                      for key, value in kwargs.items()}
            args = list(arrays(args, kinds))
            if "dtype" in kwargs and "dtype" not in names:
                dtype = kwargs.pop("dtype")
                args = [x.to(dtype) if isinstance(x, Tensor) else x for x in args]
            return called(function, args, kwargs, has_dtype="dtype" in names)

        inner.__name__ = inner.__qualname__ = name
        return inner


def _signatures(function):
    """What a function takes: the kinds of its arguments by overload, all names, and NumPy's keywords for them."""
    if function not in _known:
        overloads = [_parameters(each[0]) for each in function.__nb_signature__ if "*args, axis" not in each[0]]
        kinds = [[_kind(parameter) for parameter in each] for each in overloads]
        names = {parameter.split(":")[0].strip(" *") for each in overloads for parameter in each}
        _known[function] = kinds, names, {numpy: each for numpy, ours in _KEYWORDS.items()
                                          for each in (f"{ours}s", ours) if each in names}
    return _known[function]


def _parameters(signature):
    """The parameters of "def name(a: type, b: type = default) -> type", each with its type."""
    depth, out = 0, [""]
    for letter in re.sub(r"^def \w+\((.*)\) -> .*$", r"\1", signature, flags=re.DOTALL):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            out.append("")
        else:
            out[-1] += letter
    return [each.strip() for each in out if each.strip() not in ("", "*", "/")]


def _kind(parameter):
    """Whether a parameter is a tensor, a tensor or a number ("operand"), or several tensors."""
    kind = parameter.partition(":")[2].partition("=")[0].strip().removesuffix(" | None")
    if re.fullmatch(r"(\w+\.)*Tensor", kind):
        return "tensor"
    if re.match(r"(\w+\.)*Tensor \| ", kind):
        return "operand"
    return "tensors" if re.fullmatch(r"collections.abc.Sequence\[(\w+\.)*Tensor\]", kind) else ""


def called(function, args, kwargs, has_dtype=False):
    """function(*args, **kwargs) by NumPy's rules for dtypes.

    Where arrays of several dtypes are refused they become one dtype. Where all arrays hold integers,
    or there are none, and the result does not, it is computed in float64.
    """
    given = [x for arg in args for x in (arg if isinstance(arg, list) else [arg]) if isinstance(x, Tensor)]
    integers = all(map(_has_integers, given))
    if not given and has_dtype:
        kwargs = {"dtype": _gradus.float64, **kwargs}
    try:
        out = function(*args, **kwargs)
        results = out if isinstance(out, tuple) else (out,)
        if not integers or not given or not any(
                isinstance(x, Tensor) and x.dtype in _FLOATS for x in results):
            return out
        dtype = _gradus.float64
    except TypeError:
        if not given:
            raise
        dtype = functools.reduce(_gradus.promote_types, [x.dtype for x in given])
        dtype = _gradus.float64 if integers else dtype
        if all(x.dtype == dtype for x in given):
            raise

    def of_dtype(x):
        return [of_dtype(each) for each in x] if isinstance(x, list) else \
            x.to(dtype) if isinstance(x, Tensor) else x

    return function(*map(of_dtype, args), **kwargs)


def fill(scope, arrays, prefix=""):
    """Puts the functions of gradus that begin with a prefix into the dictionary of a module.

    Names that the dictionary has are kept, and so are the methods of `arrays`.
    """
    for name in dir(arrays):
        if not prefix and not name.startswith("_") and callable(getattr(arrays, name)):
            scope[name] = getattr(arrays, name)
    for name in dir(_gradus):
        value, short = getattr(_gradus, name), name[len(prefix):]
        if name.startswith(prefix or name[0]) and hasattr(value, "__nb_signature__") and \
                not short.startswith("_") and not short.endswith("_") and not isinstance(value, type):
            scope.setdefault(short, arrays._adapted(short, value))
    if not prefix:
        for name, ours in _RENAMED.items():
            scope.setdefault(name, arrays._adapted(name, getattr(_gradus, ours)))
