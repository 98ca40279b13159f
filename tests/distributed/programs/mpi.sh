#!/bin/sh
# mpi.sh MPIRUN RANKS PROGRAM MODE: runs a job, looks at how it ended, and that nothing is left of it.
mpirun=$1 ranks=$2 program=$3 mode=$4
log=$(mktemp)
began=$(date +%s)
OMP_NUM_THREADS=1 OMPI_MCA_btl=self,vader OMPI_MCA_oob_tcp_if_include=lo OMPI_MCA_mpi_yield_when_idle=1 \
  timeout -k 5 60 "$mpirun" --allow-run-as-root --oversubscribe -n "$ranks" "$program" mpi "$mode" > "$log" 2>&1
status=$?
cat "$log"
pids=$(sed -n 's/^pid //p' "$log")
bad=0
complain() { echo "mpi.sh: $*"; bad=1; }

case $mode in
  collectives | training) [ $status = 0 ] || complain "ended with $status" ;;
  *) [ $status != 0 ] && [ $(($(date +%s) - began)) -lt 50 ] || complain "ended with $status" ;;
esac
case $mode in
  mismatch)
    [ "$(grep -c '^said: ' "$log")" = "$ranks" ] || complain "not every rank has said it"
    [ "$(grep '^said: ' "$log" | sort -u | wc -l)" = 1 ] || complain "the messages differ"
    grep -q "as operation 4 of group 'world', where rank .* called all_reduce(SUM) float32" "$log" || complain "no message" ;;
  stopped)
    grep -q "^said: distributed: timed out: rank.* in operation 2[0-9] of group 'world', all_reduce(MAX) float32 \[4, 5\]" "$log" ||
      complain "no message" ;;
esac
[ "$(echo "$pids" | wc -w)" = "$ranks" ] || complain "not every rank began"
for attempt in 1 2 3 4 5; do
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
exit $bad
