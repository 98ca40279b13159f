#!/bin/sh
# data_parallel proves itself on CPU replicas, writes its picture, and refuses wrong options.
#
#   data_parallel.sh PROGRAM
set -u
program=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failures=0
wrong() {
  echo "FAILED: $1"
  failures=$((failures + 1))
}

small="--in 8 --hidden 16 --classes 3 --batch 5 --steps 2"
table=$("$program" $small --devices cpu cpu cpu --out "$work/picture.svg") || wrong "exit code $?"
for row in '^1 .* yes$' '^2 .* yes$' '^3 .* yes$'; do
  printf '%s\n' "$table" | grep -q "$row" || wrong "no row '$row' in: $table"
done
printf '%s\n' "$table" | grep -q 'NO$' && wrong "not bit for bit: $table"
for phase in scatter forward gather backward reduce; do
  grep -q ">$phase<" "$work/picture.svg" || wrong "the picture has no $phase"
done
[ "$(grep -c '#d55e00' "$work/picture.svg")" -eq 4 ] || wrong "a legend and 3 bars of backward"

# fails NAME MESSAGE OPTION...
fails() {
  name=$1 expected=$2
  shift 2
  message=$("$program" $small "$@" 2>&1 >/dev/null) && wrong "$name: exit code 0"
  case $message in
    *"$expected"*) ;;
    *) wrong "$name: '$message'" ;;
  esac
}
fails "a device of another kind" "tpu" --devices tpu
fails "a GPU that is not there" "data_parallel: " --devices cuda:99 cuda:99
fails "no rows" "--batch" --batch 0
fails "no replicas" "--replicas" --replicas 0
fails "a folder that is a file" "not a folder" --devices cpu cpu --out "$work/picture.svg/a.svg"
mkfifo "$work/pipe"
fails "what is no file" "not a regular file" --devices cpu cpu --out "$work/pipe"
[ -p "$work/pipe" ] || wrong "what is no file was replaced"

[ $failures -eq 0 ] && echo "data_parallel: all as expected"
exit $((failures > 0))
