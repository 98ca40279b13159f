#!/bin/sh
# model_parallel computes the right product on CPU replicas, and on what GPUs there are, and refuses
# wrong options.
#
#   model_parallel.sh PROGRAM
set -u
program=$1
. "$(dirname "$0")/../../expect.sh"
export OMP_NUM_THREADS=1

# has_rows TABLE COUNT...: each with an error that rounding explains.
has_rows() {
  table=$1
  shift
  for count; do
    error=$(printf '%s\n' "$table" | sed -n "s/^$count .* ms .* //p")
    awk -v e="${error:-1}" 'BEGIN { exit !(e + 0 > 0 && e + 0 < 1e-5) }' ||
      wrong "$count devices: error '$error' in: $table"
  done
}
table=$("$program" --size 60 --rounds 2 --devices cpu cpu cpu) || wrong "exit code $?"
has_rows "$table" 1 2 3
printf '%s\n' "$table" | grep -q 'the times say nothing' || wrong "it hides what it ran on: $table"
table=$("$program" --size 64 --rounds 1 --devices cpu cpu cpu) || wrong "exit code $?"
has_rows "$table" 1 2
printf '%s\n' "$table" | grep -q '^3 devices: left out' || wrong "64 columns on 3 devices: $table"
table=$("$program" --size 64 --rounds 1 --replicas 2) || wrong "exit code $?"
has_rows "$table" 1
# The same GPU, or simulated device, twice.
if "$program" --size 1 --rounds 1 --devices cuda:0 > /dev/null 2>&1; then
  has_rows "$("$program" --size 64 --rounds 1 --devices cuda:0 cuda:0)" 1 2
fi

exit_codes "$program" --size 8 --rounds 1 --devices cpu
exits 1 "a device of another kind" "tpu" "$program" --size 8 --devices tpu
fails "a GPU that is not there" "model_parallel: " "$program" --size 8 --devices cuda:99 cuda:99
exits 2 "no rounds" "--rounds" "$program" --size 8 --rounds 0
exits 2 "no replicas" "--replicas" "$program" --size 8 --replicas 0

finish
