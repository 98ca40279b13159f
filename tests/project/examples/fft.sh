#!/bin/sh
# fft runs, its table has a row for each length, and its round trip loses nothing.
#
#   fft.sh PROGRAM
set -u
. "$(dirname "$0")/../../expect.sh"
exit_codes "$1"
table=$("$1" --numbers 5000) || wrong "exit code $?"
for row in 256 1024 4096 5000; do
  printf '%s\n' "$table" | grep -q "^$row  *[0-9].*s" || wrong "no row '$row' in: $table"
done
printf '%s\n' "$table" | grep -q 'the largest error is [0-9.]*e-1[4-6]' || wrong "no small error in: $table"
finish
