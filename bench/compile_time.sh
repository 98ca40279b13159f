#!/bin/bash
# Times how long a one-page program that includes all of gradus takes to compile (goal: under 5 s).
#   bench/compile_time.sh [BUILD_DIR]    after configuring; the folder has include/gradus
cd "$(dirname "$0")/.."
. scripts/lib.sh

include=${1:-$build_dir}/include
[ -e "$include/gradus/gradus.h" ] || die "$include has no gradus/gradus.h; configure first"
for source in tests/project/consumer/project/client.cpp tests/project/consumer/project/torch_client.cpp; do
  for flags in -O0 -O2; do
    best=$(for _ in 1 2 3 4 5; do
      start=$(date +%s%N)
      ${CXX:-g++} -std=c++20 $flags -I"$include" -I"$include/gradus/compat" -c "$source" -o /dev/null
      echo $((($(date +%s%N) - start) / 1000000))
    done | sort -n | head -n 1)
    printf '%-42s %s %5d ms (best of 5)\n' "$source" $flags "$best"
  done
done
