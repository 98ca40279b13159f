"""The samples of every operation (tests/conformance/ops), through Python: PyTorch's recorded answers."""

import functools
import math
import pathlib
import re

import pytest

import gradus

SAMPLES = pathlib.Path(__file__).resolve().parents[2] / "tests/conformance/ops/samples"
FACTORIES = [SAMPLES.parents[3] / f"tensor/table/functions/{name}.def" for name in ("creation", "random")]
ROW = re.compile(r'^(SAMPLE|SAMPLE_PY|REFUSED|MADE|NOT_MADE)\((\w+), "([^"]*)", (.*)\)$')
FIRST_STRING = re.compile(r'^"((?:[^"\\]|\\.)*)", (.*)$')
DTYPES = {"kBool": "bool", "kByte": "uint8", "kChar": "int8", "kShort": "int16", "kInt": "int32",
          "kLong": "int64", "kHalf": "float16", "kBFloat16": "bfloat16", "kFloat": "float32",
          "kDouble": "float64", "kComplexFloat": "complex64", "kComplexDouble": "complex128"}
# Vectors have no fixed sign in these.
FREE_SIGNS = {"qr", "svd", "linalg_qr", "linalg_eigh", "linalg_svd"}


def as_python(arguments):
    """C++ arguments as those of Python: {1, 2} is (1, 2,), kFloat is gradus.float32."""
    out = arguments.replace("TensorList{", "{").replace("IntArrayRef()", "{}").replace("Tensor()", "None")
    out = out.replace("{}", "()").replace("{", "(").replace("}", ",)")
    out = re.sub(r"\btrue\b", "True", out)
    out = re.sub(r"\bfalse\b", "False", out)
    out = out.replace('"..."', "...").replace("std::nullopt", "None").replace("INFINITY", "inf")
    return re.sub(r"\bk[A-Z]\w*", lambda m: f"gradus.{DTYPES[m[0]]}", out)


def parse(text):
    """"float64 [2,3] 1 2 3 4 5 6" as a tensor."""
    dtype, shape, *numbers = text.split()
    shape = [int(size) for size in shape[1:-1].split(",") if size]
    kind = getattr(gradus, dtype)
    if kind.is_complex:
        values = [complex(float(re_), float(im)) for re_, im in zip(numbers[::2], numbers[1::2])]
    elif kind.is_floating_point:
        values = [float(number) for number in numbers]
    else:
        values = [int(float(number)) for number in numbers]
    if kind is gradus.bool:
        values = [bool(value) for value in values]
    if not values:
        return gradus.zeros(shape, dtype=kind)
    return gradus.tensor(values).to(kind).reshape(shape) if kind.is_complex or not \
        kind.is_floating_point else gradus.tensor(values, dtype=gradus.float64).to(kind).reshape(shape)


def recorded():
    """The tensors of all samples, by NAME | INPUTS | ARGUMENTS | in0."""
    out = {}
    for path in sorted(SAMPLES.glob("*.txt")):
        for line in path.read_text().splitlines():
            head, equals, text = line.partition(" = ")
            if equals and head.count(" | ") >= 3:
                out[head] = text
    return out


def samples():
    for path in sorted(SAMPLES.glob("*.def")):
        for line in path.read_text().splitlines():
            row = ROW.match(line)
            if row:
                yield row.groups()


def flat(result):
    if isinstance(result, (tuple, list)):
        return [x for each in result for x in flat(each)]
    return [result if isinstance(result, gradus.Tensor) else gradus.tensor(result)]


def close(a, b):
    if a.dtype.is_complex and not b.dtype.is_complex:  # PyTorch's parts were written as pairs
        a = gradus.view_as_real(a)
    if tuple(a.shape) != tuple(b.shape):
        return False
    if a.dtype.is_complex or b.dtype.is_complex:
        return gradus.allclose(a.to(gradus.complex128), b.to(gradus.complex128), 1e-5, 1e-7, True)
    narrow = gradus.float16 in (a.dtype, b.dtype) or gradus.bfloat16 in (a.dtype, b.dtype)
    rtol, atol = (1e-2, 1e-2) if narrow else (1e-5, 1e-6)
    return gradus.allclose(a.double(), b.double(), rtol, atol, True)


@pytest.mark.filterwarnings("ignore:index")
def test_samples():
    answers = recorded()
    # Their options are keywords in Python.
    factories = {name for path in FACTORIES for name in re.findall(r"^FACTORY\((\w+)", path.read_text(), re.MULTILINE)}
    run, refused, wrong, not_python = 0, 0, [], []
    for kind, name, inputs, rest in samples():
        text = None
        if kind != "SAMPLE":
            text, rest = FIRST_STRING.match(rest).groups()
        head = f"{name} | {inputs} | {rest}"
        names = {"gradus": gradus, "inf": math.inf, "nan": math.nan}
        for i, letter in enumerate("abcd"):
            if f"{head} | in{i}" in answers:
                names[letter] = parse(answers[f"{head} | in{i}"])
        try:
            arguments = list(eval(f"({as_python(rest)},)", names))
        except (SyntaxError, NameError, KeyError, TypeError):
            not_python.append(head)
            continue
        if name == "bincount":
            arguments = [None if each == () else each for each in arguments]
        function = getattr(gradus, name)
        if name in factories and isinstance(arguments[-1], gradus.dtype):
            function = functools.partial(function, dtype=arguments.pop())
        if kind in ("REFUSED", "NOT_MADE"):
            refused += 1
            try:
                result = function(*arguments)
            except gradus.Error as error:
                said = re.sub(r"\bk[A-Z]\w*", lambda m: f"gradus.{DTYPES[m[0]]}" if m[0] in DTYPES else m[0][1:].lower(), text)
                if said.replace('\\"', '"') not in str(error):
                    wrong.append(f"{head}: {error}")
            except (TypeError, ValueError, IndexError):
                pass  # Python's own check of the arguments
            else:
                wrong.append(f"{head}: not refused")
            continue
        expected = []
        while f"{head} | out{len(expected)}" in answers:
            expected.append(parse(answers[f"{head} | out{len(expected)}"]))
        try:
            results = flat(function(*arguments))
        except Exception as error:
            wrong.append(f"{head}: {type(error).__name__}: {str(error)[:300]}")
            continue
        run += 1
        if name in FREE_SIGNS:
            results, expected = [x.abs() for x in results], [x.abs() for x in expected]
        for i, (a, b) in enumerate(zip(results, expected)):
            if not close(a, b):
                wrong.append(f"{head} | out{i}: {a} instead of {b}")
    print(f"{run} samples run, {refused} refused, {len(not_python)} with arguments of C++ alone")
    assert not wrong, f"{len(wrong)} wrong:\n" + "\n".join(wrong[:40])
    assert run > 1200 and refused > 100 and len(not_python) < 60
