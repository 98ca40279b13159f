#!/bin/sh
# train_linear and train_cnn, which are read alone: what they learn, and an error.
#
#   alone.sh TRAIN_LINEAR TRAIN_CNN DIGITS    (DIGITS: the repository's folder data/digits)
set -u
linear=$1 cnn=$2 digits=$3
. "$(dirname "$0")/../../expect.sh"

# learns PROGRAM PERCENT: it prints ten epochs, the last with at least this test accuracy.
learns() {
  "$1" "$digits" cpu >"$work/stdout" 2>"$work/stderr" || wrong "$1: exit code $?"
  [ "$(wc -l <"$work/stdout")" -eq 10 ] || wrong "$1: expected ten lines"
  tail -n 1 "$work/stdout" | awk -v least="$2" '$NF + 0 < least { exit 1 }' || wrong "$1: learns too little"
}
learns "$linear" 85
learns "$cnn" 85
for program in "$linear" "$cnn"; do
  exits 1 "no folder" "$(basename "$program"): load_idx_folder: $work/none: there is no such folder" "$program" "$work/none"
  # They include the library and the standard library alone.
  ! grep -q '#include "' "$(dirname "$0")/../../../examples/$(basename "$program").cpp" || wrong "$program includes a header beside it"
done

finish
