#!/bin/sh
# job.sh BACKEND RANKS PROGRAM MODE: runs a job by its script of examples/launch, looks at how it
# ended, and that nothing is left of it. Ends with 77 where there are too few GPUs.
backend=$1 ranks=$2 program=$3 mode=$4
case $backend in
  mpi) launch=mpirun.sh ;;
  nccl) launch=ranks.sh ;;
esac
log=$(mktemp)
began=$(date +%s)
OMPI_MCA_mpi_yield_when_idle=1 OMP_NUM_THREADS=1 timeout -k 5 60 \
  "$(dirname "$0")/../../../examples/launch/$launch" "$ranks" "$program" "$mode" > "$log" 2>&1
status=$?
cat "$log"
bad=0
complain() { echo "job.sh: $*"; bad=1; }
# said COUNT PATTERN: so many ranks have said it, or more.
said() { [ "$(grep -c "^[a-z]*: .*$2" "$log")" -ge "$1" ] || complain "not $1 of the ranks have said '$2'"; }

[ "$(grep -c '^pid ' "$log")" = "$ranks" ] || complain "not every rank began"
case $mode in
  collectives | training) [ $status = 0 ] || complain "ended with $status" ;;
  *) [ $status != 0 ] && [ $(($(date +%s) - began)) -lt 50 ] || complain "ended with $status" ;;
esac
# mpirun may end the others before they can say that one was killed, and wakes one that was stopped.
case $backend-$mode in
  *-mismatch)
    said "$ranks" "as operation 4 of group 'world', where rank .* called all_reduce(SUM) float32"
    [ "$(grep '^said: ' "$log" | sort -u | wc -l)" = 1 ] || complain "the messages differ" ;;
  nccl-killed) said $((ranks - 1)) "rank $((ranks - 1)) ended without destroy_process_group" ;;
  nccl-stopped) said $((ranks - 1)) "timed out: " ;;
  mpi-stopped)
    said $((ranks - 1)) "timed out: rank.* in operation 2[0-9] of group 'world', all_reduce(MAX) float32 \[4, 5\]" ;;
  mpi-stopped_in_new_group)
    said $((ranks - 1)) "rank . waited 1.5 s for the other ranks to make group 'group 1'" ;;
  *-same_gpu) said "$ranks" "have the same GPU" ;;
esac
pids=$(sed -n 's/^pid //p' "$log")
for _ in 1 2 3 4 5; do
  left=
  for pid in $pids; do kill -0 "$pid" 2> /dev/null && left="$left $pid"; done
  [ -n "$left" ] || break
  sleep 1
done
for pid in $left; do
  complain "process $pid is left"
  kill -9 "$pid"
done
rm -f "$log"
[ $status != 77 ] || exit 77
exit $bad
