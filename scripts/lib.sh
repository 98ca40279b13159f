# What the scripts share. They source it with the repository's root as the current folder.
set -euo pipefail

build_dir=${BUILD_DIR:-build/main}
# nproc would count the threads that OpenMP may use.
jobs=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)

say() { printf '== %s\n' "$*"; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }
have() { command -v "$1" > /dev/null; }

# Whether the compiler finds a header.
has_header() {
  have "${CXX:-g++}" && echo "#include <$1>" | "${CXX:-g++}" -E -x c++ - > /dev/null 2>&1
}

missing=() wished=()
# need PACKAGE CHECK...: without what CHECK looks for, the work cannot be done.
need() { "${@:2}" || missing+=("$1"); }
# wish PACKAGE CHECK...: without it the work goes on, with less.
wish() { "${@:2}" || wished+=("$1"); }

have_maker() { have ninja || have make; }

# Notes what building the library lacks.
need_compiler() {
  need g++ have "${CXX:-g++}"
  need cmake have cmake
  need ninja-build have_maker
  need zlib1g-dev has_header zlib.h
  need nlohmann-json3-dev has_header nlohmann/json.hpp
  wish ccache have ccache
  wish libopenblas-dev has_header openblas_config.h
  wish libpng-dev has_header png.h
  wish libjpeg-dev has_header jpeglib.h
}

# Notes what the package of Python lacks. The Python is PYTHON's, python3 by default.
python=${PYTHON:-python3}
has_module() { have "$python" && "$python" -c "import $1" 2> /dev/null; }
has_python_header() {
  have "$python" && [ -e "$("$python" -c 'import sysconfig; print(sysconfig.get_paths()["include"])')/Python.h" ]
}
need_python() {
  need python3-venv has_module ensurepip
  need python3-dev has_python_header
}

# python_environment FOLDER PACKAGE...: an environment of that Python which has these packages.
python_environment() {
  if [ ! -x "$1/bin/python" ]; then
    say "setting up $1"
    "$python" -m venv "$1"
  fi
  "$1/bin/python" -c 'import sys, importlib.metadata as m; [m.version(p.split(">")[0]) for p in sys.argv[1:]]' \
    "${@:2}" 2> /dev/null || "$1/bin/pip" install -q "${@:2}"
}

# Drops the wishes that the package lists of this system, where it has any, do not know.
drop_unknown_wishes() {
  local known=() package
  apt-cache show g++ > /dev/null 2>&1 || return 0
  for package in "${wished[@]}"; do
    if apt-cache show "$package" > /dev/null 2>&1; then known+=("$package")
    else say "going on without $package, which this system does not offer"; fi
  done
  wished=("${known[@]}")
}

# Installs what need and wish have noted; says what is lacking and how to get it where it may not.
install_missing() {
  drop_unknown_wishes
  [ ${#missing[@]} -gt 0 ] || [ ${#wished[@]} -gt 0 ] || return 0
  local as_root=()
  if [ "$(id -u)" != 0 ]; then
    as_root=(sudo)
    if ! have sudo || ! { [ -t 0 ] || sudo -n true 2> /dev/null; }; then as_root=(no); fi
  fi
  if ! have apt-get || [ "${as_root[*]}" = no ]; then
    local how="as root: apt-get install --no-install-recommends"
    have apt-get || how="with this system's package manager; on Debian and Ubuntu they are called:"
    [ ${#missing[@]} = 0 ] || die "these packages are missing: ${missing[*]}
Install them $how ${missing[*]} ${wished[*]}"
    say "going on without ${wished[*]}, which can be installed $how ${wished[*]}"
    return 0
  fi

  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q)
  say "installing ${missing[*]} ${wished[*]}"
  "${apt[@]}" update || say "apt-get update failed; trying with the package lists that are here"
  drop_unknown_wishes
  local packages=("${missing[@]}" "${wished[@]}")
  [ ${#packages[@]} = 0 ] ||
    "${apt[@]}" install -y --no-install-recommends "${packages[@]}" ||
    [ ${#missing[@]} = 0 ] || die "the package manager could not install ${missing[*]}; see above"
}

# A container may have the devices and the driver's libraries alone.
has_gpu() { { have nvidia-smi && nvidia-smi -L > /dev/null 2>&1; } || [ -e /dev/nvidia0 ]; }
has_nvcc() { have nvcc || [ -x /usr/local/cuda/bin/nvcc ]; }
# Whether programs for CUDA could not run here; not where CMAKE_ARGS says what to build.
cuda_is_of_no_use() { [[ ${CMAKE_ARGS:-} != *GRADUS_CUDA=* ]] && ! has_gpu; }

# One architecture is enough here, and quicker to build: this machine's, or a current one.
cuda_architecture() { if has_gpu; then echo native; else echo 90; fi; }

# configure DIR OPTION... (CMAKE_ARGS of the environment come last, as in CMAKE_ARGS=-DGRADUS_CUDA=OFF)
configure() {
  local dir=$1 generator=()
  shift
  if ! have nvcc && [ -x /usr/local/cuda/bin/nvcc ]; then
    export CUDACXX=/usr/local/cuda/bin/nvcc
  fi
  if [ ! -e "$dir/CMakeCache.txt" ] && have ninja; then generator=(-G Ninja); fi
  cmake -S . -B "$dir" "${generator[@]}" -DCMAKE_BUILD_TYPE=Release -DGRADUS_CUDA=AUTO \
    -DCMAKE_CUDA_ARCHITECTURES="$(cuda_architecture)" "$@" ${CMAKE_ARGS:-}
}

# configure_measured DIR OPTION...: the build whose speed is measured, with what .carry/ has.
configure_measured() {
  local options=(-DGRADUS_BENCH=ON -DGRADUS_WERROR=OFF)
  [ ! -d .carry ] || options+=(-DCMAKE_PREFIX_PATH="$PWD/.carry")
  ! cuda_is_of_no_use || options+=(-DGRADUS_CUDA=OFF)
  configure "$1" "${options[@]}" "${@:2}"
}
