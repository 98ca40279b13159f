#!/bin/sh
# cpu_vs_gpu runs, and its table has a row for each case.
#
#   cpu_vs_gpu.sh PROGRAM
set -u
. "$(dirname "$0")/../../expect.sh"
exit_codes "$1"
table=$("$1" --quick) || wrong "exit code $?"
for row in 'matrix product 1000 x 1000 ' 'matrix product 4000 x 4000 ' 'cos(x)^2 + sin(x)^2' 'SELU' \
  'training step of Linear(100000, 10)'; do
  printf '%s\n' "$table" | grep -F "$row" | grep -q 'op  .*B  .*s\|skipped, it needs' ||
    wrong "no row '$row' in: $table"
done
finish
