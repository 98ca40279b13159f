#!/bin/sh
# What a program on simulated devices says of its environment, and at its end.
#
#   check.sh PROGRAM WITHOUT_LINES    (made from program.cu and without_lines.cu, which lie beside this script)
set -u
program=$1
without_lines=$2
source=$(dirname "$0")/program.cu
. "$(dirname "$0")/../../expect.sh"
unset GRADUS_SIM_DEVICES GRADUS_SIM_CORES GRADUS_SIM_CHECK GRADUS_SIM_REPORT GRADUS_SIM_PATIENCE \
  GRADUS_SIM_ORDER

# run EXIT-CODE [VARIABLE=VALUE...] MODE
run() {
  expected=$1 && shift
  env "$@" >"$work/stdout" 2>"$work/stderr"
  code=$?
  run="$*"
  [ $code -eq "$expected" ] || wrong "$run: exit code $code, expected $expected"
}
says() { # says STREAM TEXT
  printf '%s\n' "$2" >"$work/expected"
  cmp -s "$work/$1" "$work/expected" || wrong "$run: $1 is not: $2"
}
contains() { # contains STREAM LINE
  grep -qxF -- "$2" "$work/$1" || wrong "$run: $1 has no line: $2"
}
quiet() { [ ! -s "$work/stderr" ] || wrong "$run: wrote to stderr"; }

place() { # place NAME FUNCTION
  line=$(grep -n "// LINE $1\$" "$source" | cut -d : -f 1)
  echo "tests/sim/programs/program.cu:$line in programs::$2"
}
sum='sum 999000'

# --- What is said at the end
run 0 "$program" clean
says stdout "$sum"
quiet

run 0 "$program" static # tensors that live until the end are no leak
quiet

# leak TEXT-FILE: one leak, from its place to main
leak() {
  sed 's/program.cu:[0-9]* in programs::run/program.cu:0 in programs::run/
       s/program.cu:[0-9]* in main/program.cu:0 in main/' "$work/stderr" >"$work/lines"
  mv "$work/lines" "$work/stderr"
  says stderr "leak: 400 bytes of a device were never given back
  allocated at $(place lost leak)
      from tests/sim/programs/program.cu:0 in programs::run
      from tests/sim/programs/program.cu:0 in main"
}
run 1 "$program" leak
says stdout "$sum"
leak
run 3 "$program" status # its own status is kept
leak

message="the address is right after the end of 64 allocated bytes; guard the access by the size"
finding="out of bounds in programs::double_kernel: $message"
run 1 "$program" wrong
says stdout "$sum"
contains stderr "$finding"
thread="block (0, 0, 0), thread (16, 0, 0)"
contains stderr "  reads 4 bytes, $thread at $(place access double_kernel)"
contains stderr "  allocated at $(place made launch_wrong)"
[ "$(wc -l <"$work/stderr")" -eq 5 ] || wrong "$run: expected 5 lines"

run 2 "$program" told # by the error that nobody handled
grep -q "^error: .*cudaErrorIllegalAddress" "$work/stdout" || wrong "$run: the error has no name"
contains stdout "$finding"
says stderr "$finding"

run 0 "$program" taken
contains stdout "taken 1"
quiet

# --- What streams hold at the end is done there
for seed in 1 2 3; do
  run 0 GRADUS_SIM_ORDER=$seed "$program" late
  says stdout "$sum"
  quiet
  run 1 GRADUS_SIM_ORDER=$seed "$program" late_wrong
  contains stderr "  reads 4 bytes, $thread at $(place access double_kernel)"
done

# --- Without -g no finding names a line, be it one of the C library
unknown="an unknown line; compile with -g to see it"
run 1 GRADUS_SIM_REPORT=1 "$without_lines"
contains stderr "out of bounds in write_kernel: the address is right after the end of 124 allocated bytes; \
guard the access by the size"
contains stderr "  writes 4 bytes, block (0, 0, 0), thread (31, 0, 0) at $unknown"
contains stderr "  allocated at $unknown"
contains stderr "leak: 124 bytes of a device were never given back"
grep -q "^  (compile with -g to see lines)  " "$work/stderr" || wrong "$run: no row without a line"
! grep -q "from \|[.][ch]" "$work/stderr" || wrong "$run: a place is named"

# --- GRADUS_SIM_DEVICES
for number in 1 16; do
  run 0 GRADUS_SIM_DEVICES=$number "$program" devices
  contains stdout "$number devices"
  contains stdout "cudaMalloc: cudaSuccess (no error)"
  contains stdout "$sum"
  quiet
done

# refused STATUS REASON VARIABLE=VALUE
refused() {
  run 2 "$3" "$program" devices
  contains stdout "0 devices"
  contains stdout "CUDA is simulated: $2"
  contains stdout "cudaMalloc: $1 ($2)"
  grep -qF "error: " "$work/stdout" || wrong "$run: no error"
  quiet
}
refused cudaErrorNoDevice 'no device: GRADUS_SIM_DEVICES is 0' GRADUS_SIM_DEVICES=0
for value in 17 -1 four 4x 99999999999999999999 ''; do
  refused cudaErrorInvalidDevice \
    "GRADUS_SIM_DEVICES is '$value', expected a number from 0 to 16" "GRADUS_SIM_DEVICES=$value"
done
for value in 0 -1 all 2x ''; do
  refused cudaErrorInvalidDevice "GRADUS_SIM_CORES is '$value', expected a number from 1" "GRADUS_SIM_CORES=$value"
done
for variable in GRADUS_SIM_CHECK GRADUS_SIM_REPORT; do
  for value in yes 2 01 ''; do
    refused cudaErrorInvalidDevice "$variable is '$value', expected 0 or 1" "$variable=$value"
  done
done

for value in soon 5s -1 nan ''; do
  refused cudaErrorInvalidDevice \
    "GRADUS_SIM_PATIENCE is '$value', expected seconds, 0 or more" "GRADUS_SIM_PATIENCE=$value"
done
run 0 GRADUS_SIM_PATIENCE=0.5 "$program" clean
quiet

# --- GRADUS_SIM_CHECK
for mode in clean wrong leak; do
  run 0 GRADUS_SIM_CHECK=0 "$program" $mode
  says stdout "$sum"
  quiet
done
run 1 GRADUS_SIM_CHECK=1 "$program" wrong
contains stderr "$finding"

# --- Faults of the processor
ulimit -c 0
fault="run without GRADUS_SIM_CHECK=0 to learn more"
run 139 GRADUS_SIM_CHECK=0 "$program" null
contains stderr "out of bounds in programs::wild_kernel: address 0x0 is no memory; $fault"
contains stderr "  fails, block (0, 0, 0), thread (0, 0, 0) at $(place wild wild_kernel)"
run 1 "$program" null
contains stderr "  writes 4 bytes, block (0, 0, 0), thread (0, 0, 0) at $(place wild wild_kernel)"

full="the stack of the thread, 512 KiB, is full; use smaller local arrays, or fewer calls within calls"
run 139 "$program" deep
contains stderr "out of bounds in programs::deep_kernel: $full"
contains stderr "      from $(place deeper call_again)"

run 7 "$program" host # which has a handler of its own
quiet

# --- Kernels without end
run 1 GRADUS_SIM_PATIENCE=0.01 "$program" endless
grep -q "^stuck in programs::endless_kernel: the thread has worked for 1 s without a barrier or its end" \
  "$work/stderr" || wrong "$run: nothing is stuck"
contains stderr "  goes on, block (0, 0, 0), thread (0, 0, 0) at $(place endless endless_kernel)"

for check in 0 1; do
  run 134 GRADUS_SIM_PATIENCE=0.01 GRADUS_SIM_CHECK=$check "$program" silent
  grep -q "^stuck in programs::silent_kernel: the thread goes on and on, without a look at memory" \
    "$work/stderr" || wrong "$run: nothing is stuck"
  contains stderr "  fails, block (0, 0, 0), thread (0, 0, 0) at $(place silent silent_kernel)"
done

# --- GRADUS_SIM_REPORT
run 0 GRADUS_SIM_REPORT=0 "$program" clean
quiet
for check in 0 1; do
  run 0 GRADUS_SIM_REPORT=1 GRADUS_SIM_CHECK=$check "$program" clean
  says stdout "$sum"
  # Columns: loads, stores, sectors, times the least, then of shared memory, and atomics.
  sed -n '/^programs::double_kernel/,/^  all/p' "$work/stderr" | sed 's/  */ /g' >"$work/table"
  launch="programs::double_kernel, grid (4, 1, 1), block (256, 1, 1)"
  threads="1024 threads, 24 idle, 0 barriers"
  contains table "$launch, 0 bytes of dynamic shared memory: $threads"
  contains table " loads stores sectors x least sh.loads sh.stores wavefronts x least atomics"
  contains table " $(place access x | sed 's/ in .*//') 1000 0 125 1.00 0 0 0 - 0"
  contains table " $(place access x | sed 's/ in .*//') 0 1000 125 1.00 0 0 0 - 0"
  contains table " all 1000 1000 250 1.00 0 0 0 - 0"
  grep -q '^programs::double_kernel' "$work/stderr" || wrong "$run: no table"
done
run 1 GRADUS_SIM_REPORT=1 "$program" leak # the end is told as well
contains stderr "leak: 400 bytes of a device were never given back"

finish
