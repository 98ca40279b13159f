#!/bin/sh
# train from end to end, with LeNet-5: what it learns and writes.
#
#   train_cnn.sh PROGRAM DIGITS    (DIGITS: the repository's folder data/digits)
set -u
program=$1 digits=$2
. "$(dirname "$0")/../../expect.sh"

"$program" cnn --device cpu --data "$digits" --epochs 16 --batch-size 32 --out "$work/out" >"$work/stdout" 2>"$work/stderr" ||
  wrong "exit code $?"
[ ! -s "$work/stderr" ] || wrong "wrote to stderr"
[ "$(ls "$work/out" | wc -l)" -eq 3 ] || wrong "other files than the three results"
for name in train_cnn.svg train_cnn_images.svg; do
  tail -n 1 "$work/out/$name" | grep -qx '</svg>' || wrong "$name: does not end"
done
[ "$(grep -c 'data:image/png' "$work/out/train_cnn_images.svg")" -eq 40 ] || wrong "expected 40 images"
# Nine of ten digits are told apart.
tail -n 1 "$work/out/train_cnn.csv" | awk -F, '$5 < 0.9 { exit 1 }' ||
  wrong "test accuracy: $(tail -n 1 "$work/out/train_cnn.csv")"
exit_codes "$program" cnn --device cpu --data "$digits" --epochs 1 --out "$work/unheard"

finish
