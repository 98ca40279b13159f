#!/bin/bash
# Proves that one wheel serves a fresh machine: a new Debian without a compiler, and several Pythons.
#
#   sudo tests/project/fresh/wheel.sh WHEEL [PYTHON_FOLDER...]
#
#   WHEEL           what scripts/wheel made
#   PYTHON_FOLDER   installations of Python (default: those of ~/.pyenv from 3.10 on); each is shown in the tree
#
# Each Python makes an environment, installs the wheel and trains the linear model of the README, which `import gradus`
# alone must suffice for. The time of the import is printed. Needs root, debootstrap, and pip's network for nanobind-backend.
set -euo pipefail
here=$(cd "$(dirname "$0")/../../.." && pwd)
[ $# -gt 0 ] || { sed -n '2,10s/^# \{0,1\}//p' "$0"; exit 2; }
wheel=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- "$HOME"/.pyenv/versions/3.1[0-9].*
[ "$(id -u)" = 0 ] || { echo "$0: needs root, for debootstrap and chroot" >&2; exit 1; }

work=$(mktemp -d "${TMPDIR:-/tmp}/gradus-wheel.XXXXXX")
trap 'rm -rf --one-file-system "$work"' EXIT
echo "== installing a bare bookworm"
if [ -n "${ROOT:-}" ]; then  # one that is there already
  cp -a --reflink=auto "$ROOT" "$work/root"
else
  debootstrap --variant=minbase bookworm "$work/root" > "$work/log" || { tail -n 20 "$work/log" >&2; exit 1; }
fi
mkdir -p "$work/root/wheels"
cp "$wheel" "$work/root/wheels"
# The program of the README's block of Python.
sed -n '/^```python$/,/^```$/p' "$here/README.md" | sed '/^```/d' > "$work/root/program.py"
cat > "$work/root/check.sh" << 'END'
set -euo pipefail
! command -v gcc g++ cc c++ || { echo "this machine has a compiler" >&2; exit 1; }
"$1/bin/python3" -m venv /v
/v/bin/pip install -q --no-index --find-links /wheels --disable-pip-version-check gradus
cd /
[ "$(/v/bin/python program.py)" = "y = 2.000 x + 1.000" ]
/v/bin/python - << 'PYTHON'
import subprocess, sys
best = min(
    float(subprocess.check_output([sys.executable, "-c",
        "import time; t = time.perf_counter(); import gradus, sys; t = time.perf_counter() - t;"
        "assert 'numpy' not in sys.modules; print(t)"]))
    for _ in range(5))
print(f"{sys.version.split()[0]}: trains the linear model; import gradus takes {best:.3f} s")
PYTHON
rm -rf /v
END
for python in "$@"; do
  # nanobind-backend is the part that differs among Pythons.
  "$python/bin/python3" -m pip download -q --disable-pip-version-check --no-deps --only-binary :all: -d "$work/root/wheels" \
    "nanobind-backend>=1.0"
  unshare --mount --fork bash -c '
      mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && mkdir -p "$1$2" && mount --bind "$2" "$1$2" &&
      exec env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 chroot "$1" bash /check.sh "$2"
    ' _ "$work/root" "$(realpath "$python")" < /dev/null
done
