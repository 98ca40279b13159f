#!/bin/sh
# ddp_train gives one loss for any number of ranks, goes on from a checkpoint of a killed job with
# fewer of them, and refuses what cannot be.
#
#   ddp_train.sh PROGRAM [MPIRUN_SH]    the second is examples/launch/mpirun.sh, where there is MPI
set -u
program=$1 launch=${2:-}
. "$(dirname "$0")/../../expect.sh"
export OMP_NUM_THREADS=1

loss_of() { printf '%s\n' "$1" | sed -n 's/^step [0-9]*, loss //p'; }
# same NAME A B: two losses, but for rounding.
same() {
  awk -v a="$2" -v b="$3" 'BEGIN { d = a - b; exit !(a > 0 && b > 0 && d < 1e-4 && d > -1e-4) }' ||
    wrong "$1: losses '$2' and '$3'"
}

straight=$(loss_of "$("$program" --ranks 1 --steps 60)")
for ranks in 2 3; do
  same "$ranks ranks" "$straight" "$(loss_of "$("$program" --ranks $ranks --steps 60)")"
done
"$program" --ranks 3 --steps 40 --save-every 20 --checkpoint "$work/threads" > /dev/null
same "3 ranks, then 2" "$straight" \
  "$(loss_of "$("$program" --ranks 2 --steps 60 --checkpoint "$work/threads" --resume)")"

# A rank of four is killed; two go on.
if [ -n "$launch" ]; then
  steps=100000
  timeout 60 sh "$launch" 4 "$program" --steps $steps --save-every 20 --checkpoint "$work/mpi" \
    > "$work/log" 2>&1 &
  job=$!
  for attempt in $(seq 200); do
    [ ! -e "$work/mpi" ] || break
    sleep 0.1
  done
  mpirun=$(pgrep -P $job)
  rank=$(pgrep -P "$mpirun" | tail -n 1)
  kill -9 "$rank" || wrong "there was no rank to kill: $(cat "$work/log")"
  wait $job && wrong "a job with a killed rank ended well"
  resumed=$(sh "$launch" 2 "$program" --steps 1 --checkpoint "$work/mpi" --resume)
  from=$(printf '%s\n' "$resumed" | sed -n 's/.*, from step //p')
  [ "${from:-0}" -ge 20 ] || wrong "resumed from '$from': $resumed"
  to=$((from + 25))
  resumed=$(loss_of "$(sh "$launch" 2 "$program" --steps $to --checkpoint "$work/mpi" --save-every 1000000 --resume)")
  same "4 processes, one of them killed, then 2" "$resumed" \
    "$(loss_of "$("$program" --ranks 4 --steps $to)")"
fi

exit_codes "$program" --ranks 1 --steps 1
exits 2 "--lr nan" "--lr: expected a finite number above 0, got nan" "$program" --lr nan
exits 2 "--timeout nan" "--timeout: expected a number from 0.001 to 1e+06, got nan" "$program" --timeout nan
exits 1 "a checkpoint in /proc" "cannot write to /proc" "$program" --steps 100000000 --checkpoint /proc/none
fails "a batch that does not divide" "does not divide among 7 ranks" "$program" --ranks 7
fails "a backend that is none" "expected threads, mpi or nccl" "$program" --backend gloo
fails "a checkpoint that is none" "$work/none" "$program" --checkpoint "$work/none" --resume
exits 2 "no checkpoint" "checkpoint" "$program" --resume
head -c 100 "$work/threads" > "$work/half"
fails "a truncated checkpoint" "$work/half" "$program" --checkpoint "$work/half" --resume
fails "a folder without data" "$work" "$program" --data "$work"
finish
