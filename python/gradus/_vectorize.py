"""vectorize: a function of numbers, written in Python, over tensors."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import math
import operator
import textwrap
from collections.abc import Callable
from typing import Any

from . import _gradus
from ._fuse import Fused

_OPERATORS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow,
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
    ast.LShift: operator.lshift, ast.RShift: operator.rshift, ast.USub: operator.neg,
    ast.UAdd: operator.pos, ast.Invert: operator.invert, ast.Eq: operator.eq, ast.NotEq: operator.ne,
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}
_MATH = {"fabs": "abs"}
_MOST_DEPTH = 20  # of functions that call each other


def _is_tensor(value):
    return isinstance(value, _gradus.Tensor)


def _choose(condition, yes, no):
    """yes where the condition holds, else no; of numbers and tensors."""
    if not _is_tensor(condition):
        return yes if condition else no
    if yes is no:
        return yes
    return _gradus.where(condition.bool(), yes, no)


def _extreme(number_function, tensor_function):
    def extreme(*values):
        def of_two(a, b):
            if not (_is_tensor(a) or _is_tensor(b)):
                return number_function(a, b)
            x = a if _is_tensor(a) else b
            a, b = (each if _is_tensor(each) else _gradus.full_like(x, each) for each in (a, b))
            return tensor_function(a, b)

        return functools.reduce(of_two, values)

    return extreme


_BUILTINS = {
    builtins.abs: lambda x: abs(x), builtins.max: _extreme(max, _gradus.maximum),
    builtins.min: _extreme(min, _gradus.minimum), builtins.pow: lambda x, y: x ** y,
    builtins.bool: lambda x: x.bool() if _is_tensor(x) else bool(x),
    builtins.int: lambda x: x.trunc().long() if _is_tensor(x) and x.dtype.is_floating_point else
    x.long() if _is_tensor(x) else int(x),
    builtins.float: lambda x: x.double() if _is_tensor(x) else float(x),
    builtins.round: lambda x: x.round() if _is_tensor(x) else round(x),
}


def _returns(statement):
    return any(isinstance(each, ast.Return) for each in ast.walk(statement))


class _Undefined:
    """A name that one branch of an if statement gave no value."""


class _Scalar:
    """The text of a function of numbers, and its names."""

    def __init__(self, function):
        function = inspect.unwrap(function)
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
        except (OSError, TypeError, SyntaxError):
            raise _gradus.TypeError("vectorize: the text of the function is not known; expected a function that "
                                    "a def statement of a file or of a notebook made") from None
        self.tree = tree.body[0]
        if not isinstance(self.tree, ast.FunctionDef):
            raise _gradus.TypeError("vectorize: expected a function that a def statement made, and got a "
                                    f"{type(self.tree).__name__}")
        self.name, self.function = function.__name__, function
        self.place = inspect.getsourcefile(function), function.__code__.co_firstlineno
        self.names = [each.arg for each in self.tree.args.args]
        closure = inspect.getclosurevars(function)
        self.outside = {**closure.builtins, **closure.globals, **closure.nonlocals}

    def __call__(self, *args, depth=0):
        bound = inspect.signature(self.function).bind(*args)
        bound.apply_defaults()
        returned = _Run(self, depth).block(self.tree.body, dict(bound.arguments))
        if returned is None:
            raise _gradus.TypeError(f"vectorize: {self.name} returns nothing on some way through it")
        return returned


class _Run:
    """One pass through a function: each statement is a computation on tensors."""

    def __init__(self, scalar, depth):
        self.scalar, self.depth = scalar, depth

    def fail(self, node, what):
        file, line = self.scalar.place
        raise _gradus.NotImplementedError(f"vectorize: {what}, at {file}:{line + node.lineno - 1}; use an "
                                          "ElementwiseKernel, or operations on tensors")

    def block(self, statements, names):
        """What the statements return; None where they only change the names."""
        for i, statement in enumerate(statements):
            if isinstance(statement, ast.Return):
                return self.value(statement.value, names)
            if not isinstance(statement, ast.If):
                self.statement(statement, names)
                continue
            condition, rest = self.value(statement.test, names), statements[i + 1:]
            ways = statement.body, statement.orelse
            if not _is_tensor(condition):
                return self.block([*ways[0 if condition else 1], *rest], names)
            if _returns(statement):  # all that follows belongs to each way
                results = [self.block([*way, *rest], dict(names)) for way in ways]
                if any(result is None for result in results):
                    return None
                return _choose(condition, *results)
            after = [dict(names), dict(names)]
            for way, inner in zip(ways, after):
                self.block(way, inner)
            for name in {**after[0], **after[1]}:
                values = [inner.get(name, _Undefined) for inner in after]
                known = all(value is not _Undefined for value in values)
                names[name] = _choose(condition, *values) if known else _Undefined
        return None

    def statement(self, node, names):
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            value = self.value(node.value, names)
            for target in targets:
                if not isinstance(target, ast.Name):
                    self.fail(node, "only names are assigned in a function of numbers")
                names[target.id] = value
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            before = self.value(ast.copy_location(ast.Name(node.target.id), node), names)
            names[node.target.id] = _OPERATORS[type(node.op)](before, self.value(node.value, names))
        elif isinstance(node, ast.For) and isinstance(node.target, ast.Name) and not node.orelse:
            if _returns(node):
                self.fail(node, "a return statement within a loop is not known")
            for value in self.value(node.iter, names):
                names[node.target.id] = value
                self.block(node.body, names)
        elif not isinstance(node, ast.Pass) and not (
                isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            self.fail(node, f"a statement of the kind {type(node).__name__} is not known")

    def value(self, node, names):
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            value = names.get(node.id, self.scalar.outside.get(node.id, _Undefined))
            if value is _Undefined:
                self.fail(node, f"the name {node.id} has no value here")
            return value
        if isinstance(node, ast.Attribute):
            return getattr(self.value(node.value, names), node.attr)
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](self.value(node.left, names), self.value(node.right, names))
        if isinstance(node, ast.UnaryOp):
            operand = self.value(node.operand, names)
            if isinstance(node.op, ast.Not):
                return _gradus.logical_not(operand) if _is_tensor(operand) else not operand
            return _OPERATORS[type(node.op)](operand)
        if isinstance(node, ast.IfExp):
            return _choose(self.value(node.test, names), self.value(node.body, names),
                           self.value(node.orelse, names))
        if isinstance(node, ast.BoolOp):
            return functools.reduce(functools.partial(self.both, isinstance(node.op, ast.And)),
                                    [self.value(each, names) for each in node.values])
        if isinstance(node, ast.Compare):
            values = [self.value(each, names) for each in (node.left, *node.comparators)]
            if not all(type(op) in _OPERATORS for op in node.ops):
                self.fail(node, "`in` and `is` are no comparisons of numbers")
            return functools.reduce(functools.partial(self.both, True), [
                _OPERATORS[type(op)](a, b) for op, a, b in zip(node.ops, values, values[1:])])
        if isinstance(node, ast.Call) and not node.keywords:
            return self.call(node, [self.value(each, names) for each in node.args], names)
        return self.fail(node, f"an expression of the kind {type(node).__name__} is not known")

    @staticmethod
    def both(is_and, a, b):
        if not (_is_tensor(a) or _is_tensor(b)):
            return (a and b) if is_and else (a or b)
        a, b = (each.bool() if _is_tensor(each) else bool(each) for each in (a, b))
        return a & b if is_and else a | b

    def call(self, node, args, names):
        function = self.value(node.func, names)
        if not any(map(_is_tensor, args)):
            return function(*args)
        if isinstance(function, Vectorized):
            function = function.__wrapped__
        if getattr(function, "__module__", None) == "math":
            ours = getattr(_gradus, _MATH.get(function.__name__, function.__name__), None)
            if ours is None:
                self.fail(node, f"math.{function.__name__} of tensors is not known")
            x = next(filter(_is_tensor, args))
            return ours(*(each if _is_tensor(each) or i else _gradus.full_like(x, each)
                          for i, each in enumerate(args)))
        if function in _BUILTINS:
            return _BUILTINS[function](*args)
        if inspect.isfunction(function) and not function.__module__.startswith("gradus"):
            if self.depth > _MOST_DEPTH:
                self.fail(node, f"{function.__name__} calls itself without end")
            return _Scalar(function)(*args, depth=self.depth + 1)
        return function(*args)


class Vectorized(Fused):
    """A function made by vectorize()."""

    def __init__(self, function: Callable[..., Any]) -> None:
        scalar = _Scalar(function)
        super().__init__(functools.wraps(function)(lambda *args: scalar(*args)))
        self.__wrapped__ = function

    def __call__(self, *args: Any, out: _gradus.Tensor | None = None) -> Any:
        """The function of each element of tensors, or arrays, that broadcast. out: a tensor for the results."""
        given = [_gradus.as_tensor(each) if hasattr(each, "__array_interface__") and not _is_tensor(each) and
                 getattr(each, "ndim", None) else each for each in args]
        result = super().__call__(*given)
        if out is None:
            return result
        if out.shape != result.shape:
            raise _gradus.ValueError(f"vectorize: out has shape {tuple(out.shape)}; expected "
                                     f"{tuple(result.shape)}, that of the result")
        return out.copy_(result)
