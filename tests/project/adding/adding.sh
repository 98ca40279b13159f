#!/bin/bash
# Follows "Adding an operation" of docs/architecture.md on a copy of the sources: adding.sh FOLDER
# [CMAKE_OPTION...] makes the copy and its build in FOLDER, and runs log_cosh.cpp.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
mkdir -p "$1"
cd "$1"
shift

rm -rf source
# Of what stands above autograd/ the headers are enough.
(cd "$root" && find tensor cpu autograd cmake CMakeLists.txt -type f &&
   find gradus.h compat cuda nn optim data serialize distributed -name '*.h' -o -name '*.def' -o -name stub.cpp -o -name absent.cpp -o -path cuda/rtc/source.cpp) > files
(cd "$root" && tar cf - -T "$OLDPWD/files") | tar xf - --one-top-level=source

# The row of the document's code block goes behind that of softsign.
row=$(sed -n 's/^ *\(UNARY( log_cosh,.*)\)$/\1/p' "$root/docs/architecture.md")
[ -n "$row" ] || { echo "docs/architecture.md has no row of log_cosh"; exit 1; }
ROW=$row awk '{ print } /^UNARY\( softsign,/ { print ENVIRON["ROW"] }' \
  "$root/tensor/table/elementwise.def" > source/tensor/table/elementwise.def
grep -q log_cosh source/tensor/table/elementwise.def || { echo "elementwise.def has no row of softsign"; exit 1; }

cat > CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.25)
project(adding CXX)
add_subdirectory(source)
add_executable(log_cosh $here/log_cosh.cpp)
target_link_libraries(log_cosh gradus::gradus)
END
cmake -S . -B build -DGRADUS_CUDA=OFF -DGRADUS_BLAS=OFF -DGRADUS_MPI=OFF -DGRADUS_CPU_SETS=baseline -DCMAKE_UNITY_BUILD=ON -DCMAKE_BUILD_TYPE=None "$@"
cmake --build build --target log_cosh --parallel "$(nproc)"
build/log_cosh
