"""The record of what has passed: course/.checked has a line `NAME HASH` for each task, and one for what tasks share."""
import hashlib
import os
import re

from . import common

PATH = os.path.join(common.HOME, ".checked")
SHARED = "shared"
# No score depends on these: what students and staff read, the page's parts, and tests of the course's own programs.
UNGRADED = re.compile(r"(\.checked|README\.md|check|checks/record\.py|train|wrong/equivalent\.txt|staff/(?!hidden/).*|.*\.pyc|"
                      r"(draw|judge/web|judge/formats|plug|test|text)/.*)$")


def _files():
    """(path, name of its task or SHARED) of each file that a score depends on."""
    for root, kept in ((common.HOME, lambda name: not UNGRADED.match(name)),
                       (os.path.join(os.path.dirname(common.HOME), "cuda", "sim"), lambda name: True)):
        for folder, _, names in os.walk(root):
            for each in names:
                path = os.path.join(folder, each)
                name = os.path.relpath(path, root)
                task = re.search(r"(?:^|/)(\d\.\d)[_/]", name)
                if kept(name):
                    yield path, task.group(1) if task else SHARED


def now():
    """name -> hash of its files, as they are; that of a task holds what tasks share, too."""
    digests = {}
    for path, name in sorted(_files()):
        with open(path, "rb") as file:
            text = file.read()
        digests.setdefault(name, hashlib.sha256()).update(os.path.basename(path).encode() + b"\0" + text + b"\0")
    shared = digests[SHARED].digest()
    for name, digest in digests.items():
        if name != SHARED:
            digest.update(shared)
    return {name: digest.hexdigest() for name, digest in digests.items()}


def _passed():
    if not os.path.exists(PATH):
        return {}
    with open(PATH) as file:
        return dict(line.split() for line in file)


def changed(hashes):
    """The names among these hashes that have not passed as they are, tasks first."""
    passed = _passed()
    return sorted(name for name, each in hashes.items() if passed.get(name) != each)


def passes(name, each):
    """Notes that what the hash is of has passed."""
    passed = {**_passed(), name: each}
    with open(PATH, "w") as file:
        file.writelines(f"{name} {each}\n" for name, each in sorted(passed.items()))
