#!/usr/bin/env python3
"""Makes docs/api.md from the public headers.

    docs/make/api.py            writes it
    docs/make/api.py --check    says whether it is up to date

Headers are read as clang-format leaves them: a declaration, with the comment before or beside it. The
first sentence of the comment is what the page says. Private members, operators and what stands in a
namespace `detail` are left out.
"""
import glob
import os
import re
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))

# Title, what stands below it, and the headers (globs, in this order).
SECTIONS = [
    ("Tensors", "The functions on tensors, and the methods of `Tensor` of the same names, are the rows of "
     "[operators](operators.md). Here is the rest.",
     ["tensor/tensor.h", "tensor/factories.h", "tensor/options.h", "tensor/base/scalar.h", "tensor/base/device.h",
      "tensor/indexing.h", "tensor/dlpack.h", "tensor/generator.h", "tensor/generator_scope.h", "tensor/base/error.h", "tensor/base/warning.h",
      "tensor/base/threads.h", "tensor/base/cpu_memory.h", "tensor/base/precision.h", "tensor/base/ordered_dict.h", "version.h"]),
    ("Autograd", "[Autograd](autograd.md) is the guide.",
     ["autograd/engine/engine.h", "autograd/engine/grad_mode.h", "autograd/engine/autocast.h",
      "autograd/engine/anomaly_mode.h", "autograd/tools/*.h"]),
    ("nn", "", ["nn/module.h", "nn/layer.h", "nn/modules/*.h", "nn/sequential.h", "nn/containers.h",
                "nn/parameter_containers.h", "nn/any_module.h", "nn/any_value.h", "nn/cloneable.h"]),
    ("nn::init", "", ["nn/init.h"]),
    ("nn::utils", "", ["nn/utils/*.h"]),
    ("optim", "", ["optim/*.h", "optim/schedulers/*.h", "nn/update_bn.h"]),
    ("data", "[Data](data.md) is the guide.", ["data/loader/data_loader.h", "data/loader/options.h", "data/loader/make_data_loader.h",
                    "data/loader/stateless.h", "data/loader/stateful.h", "data/loader/base.h",
                    "data/loader/iterator.h", "data/loader/worker_exception.h",
                    "data/example.h", "data/datasets/base.h", "data/datasets/tensor.h", "data/datasets/subset.h",
                    "data/datasets/map.h", "data/datasets/shared.h", "data/datasets/stateful.h",
                    "data/datasets/chunk_options.h", "data/datasets/chunk.h", "data/datasets/image_dataset.h",
                    "data/datasets/mnist.h", "data/datasets/cifar.h", "data/datasets/image_folder.h",
                    "data/datasets/text.h", "data/datasets/idx.h", "data/readers/csv.h", "data/readers/image.h",
                    "data/readers/npy.h", "data/transforms/*.h", "data/samplers/*.h"]),
    ("serialize", "Files. `save` and `load` are in the namespace `gradus`.",
     ["serialize/save.h", "serialize/checkpoint.h", "serialize/checkpoints.h", "serialize/archive.h", "serialize/safetensors.h", "serialize/pt.h"]),
    ("metrics", "[Watching a training](watching.md) is the guide, also for the next section.",
     ["watch/metrics/metric.h", "watch/metrics/accuracy.h", "watch/metrics/confusion_matrix.h",
      "watch/metrics/precision_recall.h", "watch/metrics/auroc.h", "watch/metrics/perplexity.h", "watch/metrics/mean.h",
      "watch/metrics/regression.h"]),
    ("watch", "", ["watch/progress_bar.h", "watch/log_value.h", "watch/csv_logger.h", "watch/early_stopping.h",
                   "watch/summary.h", "watch/dashboard/dashboard.h", "watch/tensorboard/summary_writer.h", "watch/pictures/history.h", "watch/pictures/image.h", "watch/pictures/svg.h",
                   "watch/pictures/plot.h", "watch/guard/nan_guard.h"]),
    ("profiler", "[Profiling](profiling.md) is the guide.", ["watch/profiler/profile.h"]),
    ("cuda", "", ["cuda/runtime/device.h", "cuda/device_status.h", "cuda/nvtx.h", "cuda/runtime/stream.h", "cuda/runtime/event.h",
                  "cuda/runtime/allocator.h", "cuda/runtime/graph.h", "cuda/graphed.h", "cuda/runtime/stats.h",
                  "cuda/runtime/generator.h", "cuda/runtime/peer.h", "cuda/runtime/pinned.h", "cuda/ops/matmul.h", "cuda/ops/convolution.h",
                  "cuda/rtc/source.h",
                  "cuda/rtc/raw_kernel.h", "cuda/rtc/elementwise_kernel.h", "cuda/rtc/reduction_kernel.h",
                  "cuda/rtc/program.h"]),
    ("nn::parallel", "[Data parallel training](data-parallel.md) is the guide.", ["nn/parallel/data_parallel*.h"]),
    ("distributed", "[Several ranks](distributed.md) is the guide.",
     ["distributed/init.h", "distributed/collectives.h", "distributed/work.h", "distributed/reduce_op.h",
      "distributed/job/error.h", "distributed/environment.h", "distributed/threads/spawn.h",
      "distributed/ddp/distributed_data_parallel.h", "distributed/ddp/sync_batchnorm.h", "distributed/ddp/model_parallel.h"]),
]

SHORTER = [(r"const (Tensor|Scalar|TensorOptions|Generator|Group|Tensors|Stream|Device|std::string)&", r"\1"),
           (r"ArrayRef<Tensor>", "TensorList"), (r"std::optional<", "optional<"), (r"std::nullopt", "nullopt"),
           (r"\bint64_t\b", "int"), (r"std::string_view|std::string", "string"), (r"std::vector<", "vector<"),
           (r"std::shared_ptr<", "shared_ptr<"), (r"std::function<", "function<")]
# What the library needs in public headers, and users do not.
HIDDEN = {"append", "warns_again", "make_generator", "pretty_print", "clone_", "share_group", "readable_name",
          "FunctionNodeBase", "FunctionNode", "ForwardCall", "SourceLocation", "QueuedWork", "AskedWork", "FinishedWork",
          "ScaledPass", "module_of_call", "keeps_places", "keep_places_for_guard", "State",
          "name_of", "requires", "graph_of", "GRADUS_ACTIVATION", "class_name", "short_class_name"}
WORDS = re.compile(r"^(?:\[\[[^]]*\]\]\s*|inline |constexpr |constinit |explicit |virtual |static |friend )+")


class Entity:
    def __init__(self, kind, name, text, doc, scope):
        self.kind, self.name, self.text, self.doc, self.scope = kind, name, text, doc, scope
        self.members = []


def end_of(text, at, opening, closing):
    """The place behind the bracket that closes the one at `at`."""
    depth = 0
    while at < len(text):
        if text[at] in "\"'":
            quote = text[at]
            at += 1
            while text[at] != quote:
                at += 2 if text[at] == "\\" else 1
        elif text.startswith("//", at):
            at = text.index("\n", at)
        elif text[at] == opening:
            depth += 1
        elif text[at] == closing:
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    raise ValueError("a bracket is not closed: " + text[:60])


def sentence(comment):
    """The first sentence of a comment's lines, without examples (indented) and contracts."""
    words = []
    for line in comment:
        if line.startswith("  ") or line.startswith("---"):
            break
        words.append(line.strip())
    text = " ".join(words).strip()
    text = re.split(r"\b(?:Errors|REQUIRES|Complexity)\b(?: of| at)?[^:.]*:", text)[0].strip()
    text = re.sub(r"\s*NOLINT.*", "", text)
    found = re.match(r"(.*?[^.A-Z ])\.(?= |$)", text)
    return (found[1] if found else text).rstrip(":. ")


def declarations(text, scope, public):
    """The entities of a namespace or class body."""
    at, comment, out = 0, [], []
    while True:
        blank = re.compile(r"[ \t]*\n").match(text, at)
        if blank:
            if text[at:blank.end()].strip() == "" and at and text[at - 1] == "\n":
                comment = []
            at = blank.end()
            continue
        at += len(re.compile(r"\s*").match(text, at)[0])
        if at >= len(text):
            return out
        line = re.compile(r"//[ ]?(.*)\n?").match(text, at)
        if line:
            comment.append(line[1])
            at = line.end()
            continue
        if text[at] == "#":  # a directive, with its continued lines
            at = re.compile(r"(?:[^\n]*\\\n)*[^\n]*\n?").match(text, at).end()
            comment = []
            continue
        access = re.compile(r"(public|private|protected):").match(text, at)
        if access:
            public = access[1] == "public"
            at = access.end()
            comment = []
            continue
        macro = re.compile(r"[A-Z]+_[A-Z_]+(?=\()").match(text, at)
        after = end_of(text, macro.end(), "(", ")") if macro else at
        if macro and re.compile(r"\s*(\n|$)").match(text, after):  # an expansion without a semicolon
            at = after
            continue
        start = at
        body = None
        while text[at] not in ";{":
            if text[at] == "(":
                at = end_of(text, at, "(", ")")
            elif text.startswith("//", at):
                at = text.index("\n", at)
            else:
                at += 1
        head = text[start:at]
        assigned = re.search(r"(?<![=<>!])=(?!=)", re.sub(r"\(.*\)|<[^>]*>|operator\s*\S+", "", head, flags=re.S))
        while text[at] == "{":
            begin = at
            at = end_of(text, at, "{", "}")
            if assigned or re.search(r"requires\s*$", head):
                initializer = assigned and text[at:at + 1] == ";" and ";" not in text[begin:at]
                while text[at] not in ";{":
                    at = end_of(text, at, "(", ")") if text[at] == "(" else at + 1
                if not assigned or initializer:
                    head += text[begin:at]
                continue
            body = text[begin + 1:at - 1]
            break
        if text[at:at + 1] == ";":
            at += 1
        elif body is not None and re.match(r"(?:template.*?>\s*)?(struct|class|enum|union)\b", head, re.S):
            at = text.index(";", at) + 1
        beside = re.compile(r"[ \t]*// ?(.*)").match(text, at)
        if beside:
            at = beside.end()
            if not comment and "NOLINT" not in beside[1].split(":")[0]:
                comment = [beside[1]]
        if public:
            out += entities(head, body, sentence(comment), scope)
        if not head.startswith("using"):  # the comment is about what follows as well
            comment = []


def entities(head, body, doc, scope):
    head = re.sub(r"\s*//.*", "", head)
    head = " ".join(head.split())
    if head.startswith("namespace"):
        name = head[len("namespace"):].strip()
        inner = scope + "::" + name if scope else name
        return [] if not name or "detail" in name or body is None else declarations(body, inner, True)
    option = re.match(r"GRADUS_OPTION\((\w+), (.*), (\w+)\)(?: = ?(.*))?$", head)
    if option:
        default = f" = {option[4]}" if option[4] else ""
        return [Entity("option", option[3], f"{option[3]}({option[2]}{default})", doc, scope)]
    if head.startswith("GRADUS_OPTIONS("):
        return options(arguments(head[len("GRADUS_OPTIONS("):-1]))
    if head.startswith("GRADUS_FIELDS("):
        return options(arguments(head[len("GRADUS_FIELDS("):-1]))[1:]
    module = re.match(r"GRADUS_(MODULE|LAYER)\((.*)\)$", head)
    if module:  # one of GRADUS_LAYER has the members and, without a comment or a function, the meaning of its base
        name, *base = arguments(module[2])
        if base and base[-1].startswith("functional::"):
            doc = doc or f"The module of `{base[-1]}`"
        made = [Entity("module", name, "", doc, scope)]
        return made + ([Entity("struct", name + "Impl", base[0], doc, scope)] if base else [])
    kind = re.match(r"(?:template ?<.*?> ?(?:requires ?.*? )?)?(struct|class|enum class|enum) (\w+)(?!.*\)$)", head)
    if kind and body is not None and not re.search(kind[2] + "::", head):  # no specialization for std
        found = Entity(kind[1], kind[2], head, doc, scope)
        if kind[1].startswith("enum"):
            found.text = ", ".join(" ".join(re.sub(r"//.*", "", body).split()).rstrip(",").split(", "))
        else:
            found.members = declarations(body, "", kind[1] == "struct")
        return [found]
    if kind or head.startswith(("friend", "extern", "static_assert", "enum")):
        return []
    alias = re.match(r"using (\w+) = (.*)", head)
    if alias:
        return [Entity("alias", alias[1], alias[2], doc, scope)]
    if head.startswith("using"):
        return []
    return function(head, body, doc, scope)


def options(rows):
    """The constructor and the options of GRADUS_OPTIONS(rows...) or GRADUS_FIELDS(rows...)."""
    found = [(row.split("(")[0], *arguments(row[row.index("(") + 1:-1])) for row in rows[1:]]
    taken = ", ".join(" ".join(row[1:3]) + (f" = {row[3]}" if row[3:] else "") for row in found if row[0] == "ARGUMENT")
    return [Entity("function", rows[0], f"{rows[0]}({taken})", "", "")] + \
        [Entity("option", row[2], f"{row[2]}({row[1]}{' = ' + ', '.join(row[3:]) if row[3:] else ''})", "", "")
         for row in found]


def without_template(head):
    """The declaration behind `template <...>` and `requires ...`."""
    while head.startswith("template"):
        head = head[end_of(head, head.index("<"), "<", ">"):].strip()
    if head.startswith("requires"):
        rest = head[len("requires"):].strip()
        rest = rest[end_of(rest, 0, "(", ")"):] if rest[0] == "(" else re.sub(r"^[\w:]+(?:<(?:[^<>]|<[^<>]*>)*>)?", "", rest)
        head = rest.strip()
    return head


def function(head, body, doc, scope):
    head = WORDS.sub("", without_template(head))
    if "= delete" in head or "operator" in head or head.startswith("~") or "(" not in head:
        if "(" not in head and scope == "" and re.fullmatch(r"[\w:<>,* ]+ [\w, ]+(?: = .*)?", head):
            if head.split("=")[0].rstrip().endswith("_"):
                return []
            return [Entity("field", head.split("=")[0].split()[-1], head, doc, scope)]
        return []
    name = re.match(r"(?:.*?[\s&*])??(\w+)\(", head)
    if not name:
        return []
    opening = name.end() - 1
    head = head[:opening + 1] + head[opening + 1:].lstrip()
    closing = end_of(head, opening, "(", ")")
    if "->" in head[closing:]:  # how a class guesses its template arguments
        return []
    result = head[:name.start(1)].strip()
    params = head[opening + 1:closing - 1]
    if name[1] in HIDDEN or (not result and re.fullmatch(rf"(const )?{name[1]}(<\w+>)?&&?( \w+)?", params)):
        return []
    return [Entity("function", name[1], f"{name[1]}({params})" + (f" -> {result}" if result not in ("", "void") else ""),
                   doc, scope)]


def shortened(text):
    for pattern, to in SHORTER:
        text = re.sub(pattern, to, text)
    return text


def cell(text):
    return shortened(text).replace("|", "\\|")


def rows(entries):
    """A row for each name; its overloads share it."""
    texts, docs = {}, {}
    for e in entries:
        texts.setdefault(e.name, []).append(f"`{cell(e.text)}`")
        docs.setdefault(e.name, []).append(e.doc.replace("|", "\\|"))
    return [f"| {'<br>'.join(dict.fromkeys(texts[name]))} | {'; '.join(filter(None, dict.fromkeys(docs[name])))} |"
            for name in texts]


def read_section(patterns):
    out = []
    for pattern in patterns:
        files = sorted(glob.glob(os.path.join(ROOT, pattern)))
        if not files and "*" not in pattern:
            sys.exit(f"docs/make/api.py: there is no {pattern}; change SECTIONS")
        for path in files:
            text = re.sub(r"#pragma once", "", open(path).read())
            head = re.match(r"(?://.*\n)*", text)[0]  # says what the file holds
            out += declarations(text[len(head):], "", True)
    return out


def row_docs():
    """What docs/operators.md says of its rows, by name; the first row of a name counts."""
    docs = {}
    elementwise, functions = open(os.path.join(ROOT, "docs/operators.md")).read().split("\n## Functions\n")
    for text, column in ((elementwise, 2), (functions, 3)):
        for line in re.findall(r"^\| `.*", text, re.M):
            cells = re.split(r" ?(?<!\\)\| ?", line)
            docs.setdefault(re.match(r"`(\w+)", cells[1])[1], cells[column].replace("\\|", "|"))
    return docs


def reached(header, seen):
    """The headers that a header includes, and itself."""
    seen.add(header)
    for name in re.findall(r'^#include "gradus/(.*?)"', open(os.path.join(ROOT, header)).read(), re.M):
        if name not in seen:
            reached(name, seen)
    return seen


def arguments(text):
    """The arguments between a macro's brackets, of which some hold brackets, braces or quotes themselves."""
    out, at, start = [], 0, 0
    while at < len(text):
        if text[at] in "({":
            at = end_of(text, at, text[at], ")" if text[at] == "(" else "}")
        elif text[at] == '"':
            at = re.compile(r'"(?:[^"\\]|\\.)*"').match(text, at).end()
        else:
            if text[at] == ",":
                out.append(text[start:at].strip())
                start = at + 1
            at += 1
    return out + [text[start:].strip()]


def option_text(row):
    """`OPTION(double, alpha, 1)` as `alpha = 1`."""
    _, name, *default = arguments(row[row.index("(") + 1:-1])
    return f"`{name} = {default[0]}`" if default else f"`{name}`"


def nn_rows(file):
    """Module, function, meaning and options of the rows of nn/FILE.def."""
    text = open(os.path.join(ROOT, f"nn/{file}.def")).read()
    out = []
    for row in re.finditer(r"^(SWITCH|IN_PLACE|ACTIVATION|PLAIN|LOSS|LOSS_OF|MODULE_LOSS)\((?!\.\.\.)", text, re.M):
        columns = arguments(text[row.end():end_of(text, row.end() - 1, "(", ")") - 1])
        name, function, *rest = columns[2:] if row[1] == "LOSS_OF" else columns
        meaning = next(a for a in rest if a.startswith('"'))
        options = [option_text(a) for a in rest if a.startswith(("OPTION", "ARGUMENT", "SHOWN"))]
        options += ["`inplace = false`"] if row[1] in ("SWITCH", "IN_PLACE") else []
        out.append((name, function, meaning[1:-1].replace('\\"', '"'), options))
    return out


def written_activations():
    """What nn/modules/activation.h declares outside of the rows, below a comment that gives the meaning."""
    text = open(os.path.join(ROOT, "nn/modules/activation.h")).read()
    out = []
    for row in re.finditer(r"^// (.*?)[.] Errors.*\nGRADUS_ACTIVATION\(", text, re.M):
        name, function, _, *options = arguments(text[row.end():end_of(text, row.end() - 1, "(", ")") - 1])
        out.append((name, function, row[1], [option_text(a) for a in options]))
    return out


def nn_tables():
    lines = []
    for file, title in (("activations", "Activations"), ("losses", "Losses")):
        lines += [f"### {title}", "", f"The rows of `nn/{file}.def`.", "", "| module | function | options | meaning |", "|---|---|---|---|"]
        for name, function, meaning, options in nn_rows(file) + (written_activations() if file == "activations" else []):
            space = "" if "::" in function else "functional::"
            lines.append(f"| `{name}` | `{space}{function}` | {', '.join(options)} | {cell(meaning)} |")
        lines.append("")
    return lines


def section(title, intro, patterns):
    entries = read_section(patterns)
    if title == "nn::functional":
        meanings = row_docs()
        for e in entries:
            if e.kind == "function" and not e.doc:
                e.doc = meanings.get(e.name, "")
    modules = {e.name for e in entries if e.kind == "module"}
    structs = {e.name: e for e in entries if e.kind == "struct"}
    for e in entries:
        if e.kind == "struct" and e.text in structs:  # made by GRADUS_LAYER
            e.doc, e.members = e.doc or structs[e.text].doc, structs[e.text].members
    headers = [os.path.relpath(path, ROOT) for pattern in patterns for path in sorted(glob.glob(os.path.join(ROOT, pattern)))]
    included = reached("gradus.h", set())
    listed = [f"`{h}`" + ("" if h in included else " (not in `gradus.h`)") for h in headers]
    lines = [f"## {title}", ""] + ([intro, ""] if intro else []) + ["Headers: " + ", ".join(listed) + ".", ""]
    functions = [e for e in entries if e.kind == "function"]
    for e in functions:  # under the name of its namespace, where that is not the section's
        space = e.scope.removeprefix("gradus").removeprefix("::")
        if space and not (title == space or title.endswith("::" + space)):
            e.text = space + "::" + e.text
    if functions:
        lines += ["| function | meaning |", "|---|---|"] + rows(functions) + [""]
    for e in entries:
        if e.kind.startswith("enum"):
            lines += [f"`enum {e.name}`: {', '.join(f'`{v}`' for v in e.text.split(', '))}.", ""]
    lines += nn_tables() if title == "nn" else []
    for e in entries:
        if e.kind not in ("class", "struct") or e.name in HIDDEN:
            continue
        name = e.name[:-4] if e.name.endswith("Impl") and e.name[:-4] in modules else e.name
        members = [m for m in e.members if m.kind in ("function", "option", "field")]
        for m in members:
            if m.name == e.name:
                m.text = name + m.text[len(e.name):]
        space = e.scope.removeprefix("gradus").removeprefix("::")
        if space and not (title == space or title.endswith("::" + space) or space.endswith(title)):
            name = space + "::" + name
        elif not space and title.islower():
            name = "gradus::" + name
        lines += [f"### {name}", ""]
        if e.doc:
            lines += [e.doc.replace("<", "&lt;") + ".", ""]
        if members:
            lines += ["| member | meaning |", "|---|---|"] + rows(members) + [""]
    aliases = [f"`{e.name}` is `{shortened(e.text)}`" for e in entries
               if e.kind == "alias" and e.name != shortened(e.text)]
    if aliases:
        lines += ["Other names: " + ", ".join(dict.fromkeys(aliases)) + ".", ""]
    return lines


def page():
    lines = ["# API reference", "",
             "Made from the headers by `docs/make/api.py`; a test fails while it is out of date. Names stand in the namespace",
             "`gradus`, within the namespace of their section unless the entry says otherwise. A meaning is the first sentence of the comment in the header; the",
             "header has the rest, errors among it. `int` stands for `int64_t`, `string` for `std::string` and its view, `Tensor` for a",
             "reference to a constant one. `gradus/gradus.h` includes all headers but those that say so.", ""]
    links = [f"[{title}](#{re.sub('[^a-z]', '', title.lower())})" for title, _, _ in SECTIONS]
    lines += [" | ".join(links), ""]
    for one in SECTIONS:
        lines += section(*one)
    return "\n".join(lines).rstrip() + "\n"


def main():
    path = os.path.join(ROOT, "docs/api.md")
    old = open(path).read() if os.path.exists(path) else ""
    text = page()
    if "--check" not in sys.argv:
        open(path, "w").write(text)
    elif old != text:
        print("docs/api.md is out of date; run docs/make/api.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
