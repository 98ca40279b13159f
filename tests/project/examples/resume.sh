#!/bin/sh
# An example that people run: it trains, draws its pictures, and goes on from a checkpoint as if it had not stopped.
#
#   resume.sh PROGRAM [KILLS]    KILLS: how often it is killed at a random instant, with loader workers running
set -u
program=$1 kills=${2:-0}
. "$(dirname "$0")/../../expect.sh"
root=$(cd "$(dirname "$0")/../../.." && pwd)
export OMP_NUM_THREADS=1

name=$(basename "$program")
pictures=1
case $name in
  char_gpt)
    set -- --text "$root/LICENSE" --steps 8 --evaluate-every 4 --batch-size 4 --context 32 --layers 2 --heads 2 --width 32 \
      --characters 20
    bad=--text ;;
  lstm_text)
    set -- --text "$root/LICENSE" --epochs 2 --batch-size 16 --length 64 --hidden 32 --layers 2 --characters 20
    bad=--text ;;
  mlp_fashion_mnist) set -- --data "$root/data/digits" --epochs 2 --hidden 32 && bad=--data pictures=2 ;;
  cnn_fashion_mnist) set -- --data "$root/data/digits" --epochs 2 && bad=--data ;;
  vae) set -- --data "$root/data/digits" --epochs 2 --hidden 32 && bad=--data pictures=2 ;;
  dcgan) set -- --data "$root/data/digits" --epochs 2 --images 256 --width 4 --batch-size 32 && bad=--data pictures=2 ;;
  regression) set -- --data "$root/data/cars/cars.csv" --epochs 20 && bad=--data ;;
  image_folder) set -- --digits "$root/data/digits" --epochs 2 --side 16 && bad=--data ;;
  resnet_cifar) set -- --images 200 --epochs 2 --depth 8 --width 4 && bad=--data ;;
  autograd_tour) set -- --steps 100 && bad= ;;
  *) wrong "$name is not listed here" && finish ;;
esac
[ -z "$bad" ] || set -- "$@" --device cpu

# run FOLDER [--resume]: what it says lies in $work/stdout and stderr.
arguments=$*
run() {
  folder=$1
  shift
  # shellcheck disable=SC2086
  "$program" $arguments --out "$folder" "$@" > "$work/stdout" 2> "$work/stderr"
}
newest() { ls "$1" | grep '^checkpoint-' | sort -V | tail -n 1; }
# same FOLDER: its newest checkpoint and its pictures are those of the run that was not stopped.
same() {
  for file in $(cd "$work/whole" && ls ./*.svg) $(newest "$work/whole"); do
    cmp "$work/whole/$file" "$1/$file" || wrong "$name: $file differs"
  done
}

run "$work/whole" || wrong "$name: exit code $?"
[ "$(ls "$work/whole" | grep -c 'svg$')" -eq $pictures ] || wrong "$name: expected $pictures pictures"
for picture in "$work"/whole/*.svg; do
  tail -n 1 "$picture" | grep -qx '</svg>' || wrong "$picture: does not end"
done
# It includes the library, the standard library and CLI11 alone.
! grep -q '#include "' "$root/examples/$name.cpp" || wrong "$name includes a header beside it"
[ -n "$bad" ] || finish

cp -R "$work/whole" "$work/parts"
rm "$work"/parts/*.svg "$work/parts/$(newest "$work/whole")"
[ -n "$(newest "$work/parts")" ] || wrong "$name: there is no earlier checkpoint"
run "$work/parts" --resume || wrong "$name --resume: exit code $?"
same "$work/parts"
rm "$work"/parts/*.svg
run "$work/parts" --resume || wrong "$name --resume at the end: exit code $?"
same "$work/parts"

for kill in $(seq "$kills"); do
  rm -rf "$work/killed"
  run "$work/killed" &
  shell=$!
  sleep "$(awk -v seed="$kill$$" 'BEGIN { srand(seed); print 2 * rand() }')"
  pkill -9 -P $shell
  wait $shell
  run "$work/killed" --resume || wrong "$name: exit code $? after it was killed"
  same "$work/killed"
done

fails "nothing to read" "$name: " "$program" "$bad" "$work/none" --out "$work/out"
case $message in
  *"$work/none"*) ;;
  *) wrong "$name: '$message' does not name what is missing" ;;
esac
finish
