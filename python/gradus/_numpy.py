"""The functions of gradus under NumPy's names and rules: what gradus.numpy and gradus.cupy are filled with.

Functions that both have are adapted by their signatures: axis= stands for dim=, keepdims= for
keepdim=; lists, numbers and NumPy's arrays become tensors; floating point numbers of Python are
float64, and a function of integers whose results are no integers computes in float64. Results are of
the class ndarray, whose operators have the same rules.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import re
from typing import TYPE_CHECKING, Any

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
_commons: dict[tuple[Any, ...], Any] = {}  # what _common() returned
_FLOATS = {_gradus.float32: _gradus.float64, _gradus.complex64: _gradus.complex128}
_NAMED_DTYPES = {name: getattr(_gradus, name) for name in (
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64",
    "complex128")}
_PYTHON_DTYPES = {bool: _gradus.bool, int: _gradus.int64, float: _gradus.float64,
                  complex: _gradus.complex128}
_NUMBERS = (bool, int, float, complex)
_CODES = {"?": "bool", "u1": "uint8", "i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64", "f2": "float16",
          "f4": "float32", "f8": "float64", "c8": "complex64", "c16": "complex128", "int": "int64", "float": "float64",
          "complex": "complex128", "half": "float16", "single": "float32", "double": "float64"}
_FLOAT_FOR = {_gradus.uint8: _gradus.float16, _gradus.int8: _gradus.float16, _gradus.int16: _gradus.float32,
              _gradus.int32: _gradus.float64, _gradus.int64: _gradus.float64}  # what holds an integer beside a float
_APART = ("index", "indices", "mask", "condition", "weights", "sorter", "out")  # arguments that keep their own dtype


def dtype_of(dtype):
    """The dtype that a dtype, a type of Python, a name or a dtype of NumPy means; None stays None."""
    if dtype is None or isinstance(dtype, _gradus.dtype):
        return dtype
    if dtype in _PYTHON_DTYPES:
        return _PYTHON_DTYPES[dtype]
    name = dtype.lstrip("<=|") if isinstance(dtype, str) else getattr(dtype, "name", getattr(dtype, "__name__", None))
    name = _CODES.get(name, name)
    if name in _NAMED_DTYPES:
        return _NAMED_DTYPES[name]
    raise _gradus.TypeError(f"dtype: {dtype!r} is no dtype; expected one of {', '.join(_NAMED_DTYPES)}")


def _has_integers(x):
    dtype = x if isinstance(x, _gradus.dtype) else x.dtype
    return not (dtype.is_floating_point or dtype.is_complex)


def _promoted(a, b):
    if _has_integers(a) != _has_integers(b):
        a, b = _FLOAT_FOR.get(a, a), _FLOAT_FOR.get(b, b)
    return _gradus.promote_types(a, b)


def common_dtype(*values):
    """The dtype that NumPy computes with tensors, dtypes and numbers of Python in; of a number only the kind counts."""
    return _common(*(x.dtype if isinstance(x, Tensor) else x if isinstance(x, _gradus.dtype) else type(x) for x in values))


def _common(*kinds):
    if kinds not in _commons:
        out = functools.reduce(_promoted, [each for each in kinds if isinstance(each, _gradus.dtype)])
        number = next((each for each in (complex, float, int) if each in kinds), bool)
        if not _has_integers(out):
            out = _gradus.promote_types(out, _gradus.complex64) if number is complex else out
        elif number in (float, complex) or number is int and out == _gradus.bool:
            out = _PYTHON_DTYPES[number]
        _commons[kinds] = out
    return _commons[kinds]


def alike(args, apart=()):
    """The arguments with tensors of one dtype, also those in lists; those at the places `apart` stay as they are."""
    given = _tensors_in([arg for i, arg in enumerate(args) if i not in apart] if apart else args)
    if all(x.dtype is given[0].dtype for x in given):
        return args
    dtype = _common(*(x.dtype for x in given))
    return [arg if i in apart else _of_dtype(arg, dtype) for i, arg in enumerate(args)]


def _tensors_in(args):
    return [x for arg in args for x in (arg if isinstance(arg, list) else (arg,)) if isinstance(x, Tensor)]


def _of_dtype(x, dtype):
    return [_of_dtype(each, dtype) for each in x] if isinstance(x, list) else \
        x.to(dtype) if isinstance(x, Tensor) else x


if TYPE_CHECKING:  # functions give tensors there
    ndarray = Tensor
else:
    class ndarray(Tensor):
        """A tensor whose operators follow NumPy: they take lists, and give NumPy's dtypes. Its methods are those of a tensor."""

        __slots__ = ()

        def __init__(self, *args: Any) -> None:
            super().__init__(*args[:1])  # what copy and pickle call takes requires_grad, too
            if args[1:] == (True,):
                self.requires_grad_()

        def __format__(self, spec: str) -> str:
            return format(self.item(), spec) if self.dim() == 0 else super().__format__(spec)

        def __iter__(self) -> Any:
            return iter(self.unbind())

        def unique(self, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: Any = None) -> Any:
            return as_arrays(Tensor.unique(self, sorted, return_inverse, return_counts, dim))

        def unique_consecutive(self, return_inverse: bool = False, return_counts: bool = False, dim: Any = None) -> Any:
            return as_arrays(Tensor.unique_consecutive(self, return_inverse, return_counts, dim))


def as_arrays(out, given=()):
    """A result whose tensors are of the class ndarray, but for those that were given."""
    if type(out) is Tensor:
        for each in given:
            if each is out:
                return out
        out.__class__ = ndarray
    elif isinstance(out, (tuple, list)) and out and isinstance(out[0], Tensor):
        for each in out:
            as_arrays(each, given)
    return out


def with_arrays(cls):
    """The class, whose public functions give arrays."""
    def made(function):
        @functools.wraps(function)
        def inner(*args, **kwargs):
            return as_arrays(function(*args, **kwargs), args)
        return inner

    for name, value in list(vars(cls).items()):
        if inspect.isfunction(value) and not name.startswith("_"):
            setattr(cls, name, made(value))
    return cls


def _method(name, of):
    @functools.wraps(of, assigned=("__doc__",), updated=())
    def method(self, *args, **kwargs):
        return as_arrays(of(self, *args, **kwargs), args)

    method.__name__ = method.__qualname__ = name
    return method


def _operator(name, of):
    divides, in_place = "truediv" in name, name.startswith("__i")

    @functools.wraps(of, assigned=("__doc__", "__name__"), updated=())
    def operator(self, other):
        own, kind = self.dtype, type(other)
        if kind not in _PYTHON_DTYPES and not isinstance(other, Tensor) and (
                kind in (list, tuple) or hasattr(other, "__array_interface__")):
            other = Arrays(self.device.type).asarray(other)
        kind = other.dtype if isinstance(other, Tensor) else kind
        if (kind is not own or divides) and not in_place and (isinstance(kind, _gradus.dtype) or kind in _PYTHON_DTYPES):
            dtype = _common(own, kind)
            dtype = _gradus.float64 if divides and _has_integers(dtype) else dtype
            self = self if dtype is own else self.to(dtype)
            other = other if dtype is kind else _of_dtype(other, dtype)
        return as_arrays(of(self, other))

    return operator


def _complete():
    """Gives ndarray its operators, and the methods and properties of a tensor with arrays as results."""
    signs = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()
    operators = {f"__{kind}{sign}__" for kind in ("", "r", "i") for sign in signs}
    operators |= {f"__{sign}__" for sign in ("lt", "le", "gt", "ge", "eq", "ne")}
    for name in dir(Tensor):
        value = getattr(Tensor, name)
        if name in operators:
            setattr(ndarray, name, _operator(name, value))
        elif name in ("T", "mT", "H", "mH", "real", "imag", "data", "grad"):
            setattr(ndarray, name, property(lambda self, of=value: as_arrays(of.__get__(self)), value.__set__))
        elif callable(value) and (not name.startswith("_") or name in ("__getitem__", "__neg__", "__abs__", "__invert__")) and \
                name not in vars(ndarray):
            setattr(ndarray, name, _method(name, value))
    setattr(ndarray, "__hash__", Tensor.__hash__)


_complete()


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
            out = _gradus.stack(alike([self.asarray(each) for each in a]))
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
            """The arguments as tensors, and the places of those that keep their own dtype."""
            args, numbers, apart = list(args), [], [] if function is not _gradus.ldexp else [0, 1]
            for i, (arg, wanted) in enumerate(zip(args, kinds)):
                number = isinstance(arg, _NUMBERS)
                if "tensors" in wanted and isinstance(arg, (list, tuple)):
                    args[i] = [self._of(each) for each in arg]
                elif wanted & {"tensor", "operand", "apart"} and arg is not None and not (
                        number and i > 0 and not wanted <= {"tensor", None}):
                    numbers += [i] * number
                    args[i] = arg if number else self._of(arg)
                apart += [i] * ("apart" in wanted)
            given = [x for x in args if isinstance(x, Tensor)]
            for i in numbers:
                args[i] = self.asarray(args[i], common_dtype(given[0], args[i]) if given else None)
            return args, apart

        @functools.wraps(function, assigned=("__doc__",), updated=())
        def inner(*args, **kwargs):
            kinds, names, keywords = _signatures(function)
            kwargs = {keywords.get(key, key): dtype_of(value) if key == "dtype" else value
                      for key, value in kwargs.items()}
            given, (args, apart) = args, arrays(args, kinds)
            if "dtype" in kwargs and "dtype" not in names:
                dtype = kwargs.pop("dtype")
                args = [_of_dtype(x, dtype) for x in args]
            out = called(function, args, kwargs, has_dtype="dtype" in names, apart=apart)
            return as_arrays(out, (*given, *kwargs.values()))

        inner.__name__ = inner.__qualname__ = name
        return inner


def _signatures(function):
    """What a function takes: the kinds of its arguments by place, all names, and NumPy's keywords for them."""
    if function not in _known:
        overloads = [_parameters(each[0]) for each in function.__nb_signature__ if "*args, axis" not in each[0]]
        kinds = [[_kind(parameter) for parameter in each] for each in overloads]
        names = {parameter.split(":")[0].strip(" *") for each in overloads for parameter in each}
        keywords = {numpy: each for numpy, ours in _KEYWORDS.items() for each in (f"{ours}s", ours) if each in names}
        _known[function] = [set(each) for each in itertools.zip_longest(*kinds)], names, keywords
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
    """Whether a parameter is a tensor, one of another dtype ("apart"), a tensor or a number ("operand"), or several tensors."""
    kind = parameter.partition(":")[2].partition("=")[0].strip().removesuffix(" | None")
    if re.fullmatch(r"(\w+\.)*Tensor", kind):
        return "apart" if parameter.partition(":")[0] in _APART else "tensor"
    if re.match(r"(\w+\.)*Tensor \| ", kind):
        return "operand"
    return "tensors" if re.fullmatch(r"collections.abc.Sequence\[(\w+\.)*Tensor\]", kind) else ""


def called(function, args, kwargs, has_dtype=False, apart=()):
    """function(*args, **kwargs) by NumPy's rules for dtypes.

    Arrays of several dtypes become one dtype, but for those at the places `apart`. Where all arrays hold
    integers, or there are none, and the result does not, it is computed in float64.
    """
    given = _tensors_in(args)
    if len(given) > 1:
        args = alike(args, apart)
        given = _tensors_in(args)
    integers = all(map(_has_integers, given))
    if not given and has_dtype:
        kwargs = {"dtype": _gradus.float64, **kwargs}
    try:
        out = function(*args, **kwargs)
        results = out if isinstance(out, tuple) else (out,)
        if not integers or not given or not any(
                isinstance(x, Tensor) and x.dtype in _FLOATS for x in results):
            return out
    except TypeError:
        if not given or not integers or all(x.dtype == _gradus.float64 for x in given):
            raise
    return function(*_of_dtype(list(args), _gradus.float64), **kwargs)


def fill(scope, arrays, prefix=""):
    """Puts the functions of gradus that begin with a prefix into the dictionary of a module.

    Names that the dictionary has are kept, and so are the methods of `arrays`.
    """
    for name in dir(arrays):
        if name.startswith(prefix) and not name.startswith("_") and callable(getattr(arrays, name)):
            scope[name[len(prefix):]] = getattr(arrays, name)
    for name in dir(_gradus):
        value, short = getattr(_gradus, name), name[len(prefix):]
        if name.startswith(prefix or name[0]) and hasattr(value, "__nb_signature__") and \
                not short.startswith("_") and not short.endswith("_") and not isinstance(value, type):
            scope.setdefault(short, arrays._adapted(short, value))
    if not prefix:
        for name, ours in _RENAMED.items():
            scope.setdefault(name, arrays._adapted(name, getattr(_gradus, ours)))
        for name, reduced in _REDUCED.items():
            for part, function in _parts(arrays, scope[name], *map(scope.get, reduced)).items():
                setattr(scope[name], part, function)


# Functions of two arrays that have parts in NumPy, and what np.add.reduce and np.add.accumulate are.
_REDUCED: dict[str, tuple[str, ...]] = {
    "add": ("sum", "cumsum"), "multiply": ("prod", "cumprod"), "maximum": ("max", "maximum_accumulate"),
    "minimum": ("min", "minimum_accumulate"), "logical_and": ("all",), "logical_or": ("any",), "subtract": (), "divide": (),
    "power": ()}


def _parts(arrays, function, reduced=None, accumulated=None):
    """What is an attribute of a function of two arrays in NumPy."""
    def reduce(array, axis=0, **kwargs):
        return reduced(array, axis=axis, **kwargs)

    def accumulate(array, axis=0):
        return accumulated(array, axis=axis)

    def outer(A, B):
        A, B = arrays._of(A), arrays._of(B)
        return function(A.reshape(*A.shape, *[1] * B.ndim), B)

    def at(a, indices, b):
        a = arrays._of(a)
        indices = tuple(arrays._of(each) for each in (indices if isinstance(indices, tuple) else (indices,)))
        a.index_put_(indices, arrays._of(b).to(a.dtype), accumulate=True)

    out = {"outer": outer, "reduce": reduced and reduce, "accumulate": accumulated and accumulate,
           "at": at if function.__name__ == "add" else None}
    return {name: part for name, part in out.items() if part}


def _scalar(self, value=0):
    """np.float32(1.5): an array of this dtype, without dimensions where the value is a number."""
    return as_arrays(Arrays("cpu").asarray(value).to(self), (value,))


setattr(_gradus.dtype, "__call__", _scalar)
