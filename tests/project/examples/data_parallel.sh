#!/bin/sh
# data_parallel proves itself on CPU replicas, and refuses wrong options.
#
#   data_parallel.sh PROGRAM
set -u
program=$1
. "$(dirname "$0")/../../expect.sh"

small="--in 8 --hidden 16 --classes 3 --batch 5 --steps 2"
table=$("$program" $small --devices cpu cpu cpu) || wrong "exit code $?"
for row in '^1 .* yes$' '^2 .* yes$' '^3 .* yes$'; do
  printf '%s\n' "$table" | grep -q "$row" || wrong "no row '$row' in: $table"
done
printf '%s\n' "$table" | grep -q 'NO$' && wrong "not bit for bit: $table"

exit_codes "$program" $small --devices cpu
exits 1 "a device of another kind" "tpu" "$program" $small --devices tpu
fails "a GPU that is not there" "data_parallel: " "$program" $small --devices cuda:99 cuda:99
exits 2 "no rows" "--batch" "$program" $small --batch 0
exits 2 "no replicas" "--replicas" "$program" $small --replicas 0

finish
