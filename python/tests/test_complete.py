"""Whatever the tables of the library have, Python has: a row that is missing fails here."""

import inspect
import pathlib
import re

import gradus

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / "tensor/table"


def rows(path):
    """(kind, result, name) of each row."""
    text = re.sub(r"//.*", "", path.read_text())
    kinds = "METHOD|FUNCTION|IN_PLACE|UPDATE|PAIR|FREE|FREE_OUT"
    for kind, name in re.findall(rf"^({kinds})\([^,]+,\s*(\w+),", text, re.MULTILINE):
        yield kind, name
    for kind, name in re.findall(r"^(FACTORY|UNARY|BINARY|INTEGER|COMPARISON|PREDICATE|LOGICAL)\(\s*(\w+),",
                                 text, re.MULTILINE):
        yield kind, name


def test_every_row_is_a_function_and_a_method():
    found = list(rows(TABLE / "elementwise.def"))
    for path in sorted((TABLE / "functions").glob("*.def")):
        found += rows(path)
    assert len(found) > 650
    missing = []
    for kind, name in found:
        wanted = [(gradus, name)]
        if kind not in ("FREE", "FREE_OUT", "FACTORY"):
            wanted.append((gradus.Tensor, name))
        if kind in ("IN_PLACE", "UPDATE", "UNARY", "BINARY", "INTEGER", "COMPARISON", "LOGICAL"):
            wanted.append((gradus.Tensor, name + "_"))
        missing += [f"{home.__name__}.{each}" for home, each in wanted if not hasattr(home, each)]
    assert not missing
    undocumented = [name for _, name in found if not getattr(gradus, name).__doc__]
    assert not undocumented


# What only C++ needs: memory by type, handles, and names that Python spells in another way.
ONLY_CPP = set("""Tensor accessor packed_accessor packed_accessor32 packed_accessor64 generic_packed_accessor
    at const_data_ptr mutable_data_ptr storage has_storage is_alias_of is_non_overlapping_and_dense
    defined reset use_count is_same handle impl impl_ptr operand unsafeGetTensorImpl
    sizes strides scalar_type options suggest_memory_format is_view is_variable name print toString
    mutable_grad set_requires_grad set_data tensor_data variable_data toBackend toType
    remove_hook""".split())


def test_every_method_of_a_tensor_is_one():
    text = re.sub(r"//.*", "", (ROOT / "tensor/tensor.h").read_text())
    text = text[text.index("class Tensor"):]
    text = text[:text.index("\n private:")]
    names = set(re.findall(r"^  (?:const |static |\[\[\w+\]\] )*[\w:]+(?:<[^;(]*?>)?[&*]? ?[&*]?(?<![.\w])(\w+)\(",
                           text, re.MULTILINE))
    assert len(names) > 100 and ONLY_CPP <= names
    assert not [name for name in sorted(names - ONLY_CPP) if not hasattr(gradus.Tensor, name)]


def test_every_function_of_a_layer_is_one():
    names = set()
    for path in (ROOT / "nn/modules").glob("*.h"):
        for block in re.findall(r"namespace (?:gradus::nn::)?functional \{(.*?)\}  // namespace (?:gradus::nn::)?functional",
                                path.read_text(), re.DOTALL):
            names |= set(re.findall(r"^(?:inline )?(?:Tensor|TensorPair|std::tuple<[^>]*>) (\w+)\(",
                                    re.sub(r"//.*", "", block), re.MULTILINE))
    assert len(names) > 65
    names -= {"max_unpool", "sync_batch_norm", "multi_head_attention_forward"}  # max_unpool2d, SyncBatchNorm, ...
    assert not [name for name in sorted(names) if not hasattr(gradus.nn.functional, name)]


def options_of_cpp():
    """The names of the options of each struct, with what the structs are also called."""
    text = "".join(re.sub(r"//.*", "", path.read_text()) for path in sorted((ROOT / "nn/modules").rglob("*.h")))
    entry = r"(?:ARGUMENT|OPTION|NAMED|HIDDEN)\((?:[^()<>]|<(?:[^<>]|<[^<>]*>)*>)*?,\s*(\w+)\s*[,)]"
    options = {name: re.findall(entry, body) for name, body in re.findall(r"GRADUS_OPTIONS\((\w+)(.*?)\);\s", text, re.DOTALL)}
    other = dict(re.findall(r"using (\w+) = (?:\w+::)*(\w+)(?:<[^;]*>)?;", text))
    for name in other:
        found = name
        while found in other:
            found = other[found]
        options.setdefault(name, options.get(found, []))
    return text, options


def test_every_option_of_a_function_is_a_keyword():
    text, options = options_of_cpp()
    checked = 0
    for name, struct in set(re.findall(r"(\w+)\([^;{]*?const (\w+)& options(?: = \{\})?\)", text)):
        function = getattr(gradus.nn.functional, name, None)
        if function is None:
            continue
        if name == "interpolate":  # a function of Python that passes keywords on
            function = gradus._gradus._nn.functional.interpolate
        signature = getattr(function, "__nb_signature__", None)
        keywords = " ".join(str(each[0]) for each in signature) if signature else str(inspect.signature(function))
        missing = [option for option in options[struct] if not re.search(rf"\b{option}:", keywords)]
        assert not missing, f"{name}: {missing}"
        checked += len(options[struct])
    assert checked > 150


def test_every_layer_is_a_class():
    text = ""
    for path in [*(ROOT / "nn/modules").glob("*.h"), ROOT / "nn/sequential.h", ROOT / "nn/containers.h",
                 ROOT / "nn/parameter_containers.h"]:
        text += re.sub(r"//.*", "", path.read_text())
    names = set(re.findall(r"^GRADUS_MODULE\((\w+)\)", text, re.MULTILINE))
    names |= set(re.findall(r"^GRADUS_LAYER\((\w+),", text, re.MULTILINE))
    for table, kinds in (("activations", "ACTIVATION|IN_PLACE|SWITCH|PLAIN"), ("losses", "LOSS|MODULE_LOSS")):
        names |= set(re.findall(rf"^({kinds})\((\w+),", (ROOT / f"nn/{table}.def").read_text(), re.MULTILINE)
                     and [name for _, name in re.findall(rf"^({kinds})\((\w+),",
                          (ROOT / f"nn/{table}.def").read_text(), re.MULTILINE)])
    names -= {"Name", "Functional"}  # a function of Python needs no class to be called
    assert len(names) > 100
    assert not [name for name in sorted(names) if not hasattr(gradus.nn, name)]


def test_every_optimizer_is_a_class():
    names = set()
    for path in [*(ROOT / "optim").glob("*.h"), *(ROOT / "optim/schedulers").glob("*.h")]:
        names |= set(re.findall(r"^(?:struct|class) (\w+) : (?:public )?(?:TableOptimizer|Optimizer|"
                                r"ClosedFormLR|LRScheduler)\b", path.read_text(), re.MULTILINE))
    names -= {"ClosedFormLR", "TableOptimizer"}
    home = {**vars(gradus.optim), **vars(gradus.optim.lr_scheduler)}
    assert len(names) > 15
    assert not [name for name in sorted(names) if name not in home]


def test_no_signature_names_a_type_that_python_cannot_give():
    found, todo = set(), [gradus._gradus]
    while todo:
        home = todo.pop()
        for name, value in vars(home).items():
            if "std::" in str(getattr(value, "__nb_signature__", "")):
                found.add(f"{home.__name__}.{name}")
            inner = isinstance(value, type) or type(value) is type(gradus)
            if inner and value.__name__.startswith(home.__name__.split(".")[0]) and value is not home:
                todo.append(value)
            elif isinstance(value, type) and value.__module__.startswith("gradus"):
                todo.append(value)
    assert not found
