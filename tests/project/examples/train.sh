#!/bin/sh
# train from end to end, with the linear layer: what it writes, and that whatever goes wrong gives exit code 1, one
# line on stderr and no file.
#
#   train.sh PROGRAM DIGITS    (DIGITS: the repository's folder data/digits)
set -u
program=$1 digits=$2
. "$(dirname "$0")/../../expect.sh"

# succeeds NAME ARGUMENTS...
succeeds() {
  name=$1 && shift
  "$program" "$@" >"$work/stdout" 2>"$work/stderr" || wrong "$name: exit code $?"
  [ ! -s "$work/stderr" ] || wrong "$name: wrote to stderr"
}

# refuses NAME PART-OF-THE-MESSAGE OUT-FOLDER ARGUMENTS...
refuses() {
  name=$1 part=$2 to=$3 && shift 3
  "$program" --device cpu --epochs 1 --out "$to" "$@" >"$work/stdout" 2>"$work/stderr"
  code=$?
  [ $code -eq 1 ] || wrong "$name: exit code $code, expected 1"
  [ "$(wc -l <"$work/stderr")" -eq 1 ] || wrong "$name: expected one line on stderr"
  grep -qF -- "$part" "$work/stderr" || wrong "$name: stderr does not say '$part'"
  [ ! -d "$to" ] || [ -z "$(ls -A "$to")" ] || wrong "$name: left $(ls -A "$to") behind"
}

# A fresh copy of the data set in $work/data.
fresh() {
  rm -rf "$work/data"
  cp -R "$digits" "$work/data"
}
images=train-images-idx3-ubyte.gz labels=train-labels-idx1-ubyte.gz

# --- What works -----------------------------------------------------------------------------------
succeeds digits --device cpu --data "$digits" --epochs 3 --out "$work/new/folder"
head -n 1 "$work/stdout" | grep -q '^Gradus .*, CPU .*, Hopper kernels ' || wrong "stdout: the first line does not say how the library was built"
[ "$(wc -l <"$work/new/folder/train_linear.csv")" -eq 4 ] || wrong "csv: expected 4 lines"
head -n 1 "$work/new/folder/train_linear.csv" | grep -qx device,epoch,seconds,loss,test_accuracy ||
  wrong "csv: header"
tail -n 1 "$work/new/folder/train_linear.svg" | grep -qx '</svg>' || wrong "svg: does not end"
[ "$(ls "$work/new/folder" | wc -l)" -eq 2 ] || wrong "other files than the two results"
grep -qF '1437 training and 360 test images' "$work/stdout" || wrong "the data are not named"

# The same seed gives the same curve, another one another.
curve() { cut -d , -f 1,2,4,5 "$1/train_linear.csv"; }
succeeds again --device cpu --data "$digits" --epochs 3 --out "$work/again"
[ "$(curve "$work/again")" = "$(curve "$work/new/folder")" ] || wrong "the same seed, another curve"
succeeds other --device cpu --data "$digits" --epochs 3 --seed 2 --out "$work/other"
[ "$(curve "$work/other")" != "$(curve "$work/new/folder")" ] || wrong "another seed, the same curve"

succeeds synthetic --device cpu --synthetic --epochs 1 --batch-size 1000 --out "$work/synthetic"
grep -qF 'made-up numbers' "$work/stdout" || wrong "synthetic data are not called so"

# --- Options and output ---------------------------------------------------------------------------
exit_codes "$program" --device cpu --data "$digits" --epochs 1 --out "$work/unheard"
for lr in inf nan 0 -1 1e999 x; do
  exits 2 "--lr $lr" "--lr: expected a finite number above 0, got $lr" "$program" --lr $lr
done
exits 2 "--momentum nan" "--momentum: expected a number from 0 to 1, got nan" "$program" --momentum nan
exits 2 "--epochs 0" "--epochs" "$program" --epochs 0
exits 2 "--device tpu" "--device" "$program" --device tpu
# OpenBLAS starts threads, and takes memory, when it is loaded.
! ldd "$program" | grep openblas || wrong "OpenBLAS is loaded where nobody asks for it"

# --- Data -----------------------------------------------------------------------------------------
out=$work/out
refuses "no folder" "none: there is no such folder" "$out" --data "$work/none"
mkdir "$work/empty"
refuses "no file" "holds no train-images-idx3-ubyte" "$out" --data "$work/empty"

fresh && head -c 20000 "$digits/$images" >"$work/data/$images"
refuses "truncated gzip" "$images: the gzip data end early" "$out" --data "$work/data"
fresh && gzip -dc "$digits/$images" | head -c 50000 >"$work/data/${images%.gz}"
refuses "truncated file" "${images%.gz}: the header declares [1437, 8, 8]" "$out" --data "$work/data"
fresh && : >"$work/data/$labels"
refuses "empty file" "$labels: 0 bytes of data" "$out" --data "$work/data"
fresh && printf 'abcdefgh' | dd of="$work/data/$images" bs=1 seek=9000 conv=notrunc 2>/dev/null
refuses "corrupt gzip" "$images: the gzip data are corrupt" "$out" --data "$work/data"
fresh && printf 'x' >>"$work/data/$images"
refuses "bytes behind gzip" "$images: 1 bytes follow the gzip data" "$out" --data "$work/data"
fresh && cp "$digits/t10k-labels-idx1-ubyte.gz" "$work/data/$labels"
refuses "mismatched" "holds 360 labels" "$out" --data "$work/data"
fresh && cp "$digits/$labels" "$work/data/$images"
refuses "labels as images" "expected three: count, height, width" "$out" --data "$work/data"
fresh && printf 'P5 8 8 255' >"$work/data/$images"
refuses "another format" "this is not an IDX file" "$out" --data "$work/data"
fresh && printf '\000\000\010\003\000\000\000\001\000\000\000\002\000\000\000\002abcd' \
  >"$work/data/t10k-images-idx3-ubyte" &&
  printf '\000\000\010\001\000\000\000\001\003' >"$work/data/t10k-labels-idx1-ubyte"
refuses "other image size" "training images have 64 pixels and test images 4" "$out" \
  --data "$work/data"

# --- Results --------------------------------------------------------------------------------------
refuses "diverged" "try a smaller --lr" "$out" --data "$digits" --lr 1e30
: >"$work/file"
refuses "out is a file" "file is not a folder" "$work/file" --data "$digits"
# Before it trains.
refuses "out in /proc" "cannot write to /proc/none: /proc: " /proc/none --data "$digits"
! grep -q epoch "$work/stdout" || wrong "trained before the results were refused"
mkdir "$work/taken" && mkdir "$work/taken/train_linear.svg"
"$program" --device cpu --epochs 1 --data "$digits" --out "$work/taken" >"$work/stdout" 2>"$work/stderr"
[ $? -eq 1 ] && grep -q 'train_linear.svg: it is there already' "$work/stderr" ||
  wrong "a result that is no regular file"
! grep -q epoch "$work/stdout" || wrong "trained before the results were refused"
# A disk that is full, as a limit of no bytes for every file this shell writes.
message=$(
  trap '' XFSZ
  ulimit -f 0
  "$program" --device cpu --epochs 1 --out "$out" --data "$digits" 2>&1 >/dev/null
)
code=$?
[ $code -eq 1 ] || wrong "full disk: exit code $code, expected 1"
[ "$(printf '%s\n' "$message" | wc -l)" -eq 1 ] || wrong "full disk: expected one line on stderr"
case $message in
  "train: cannot write "*train_linear.csv*) ;;
  *) wrong "full disk: '$message'" ;;
esac
[ ! -d "$out" ] || [ -z "$(ls -A "$out")" ] || wrong "full disk: left $(ls -A "$out") behind"
mkdir -p "$work/closed" && chmod 555 "$work/closed"
if ! touch "$work/closed/try" 2>/dev/null; then # root may write anywhere
  refuses "closed folder" "cannot write to" "$work/closed" --data "$digits"
fi

finish
