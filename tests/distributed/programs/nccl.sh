#!/bin/sh
# nccl.sh RANKS PROGRAM MODE: starts a rank for each of the first GPUs, as torchrun does, looks at
# how they ended, and that nothing is left of them.
ranks=$1 program=$2 mode=$3
folder=$(mktemp -d)
export WORLD_SIZE=$ranks MASTER_ADDR=127.0.0.1 MASTER_PORT=$((20000 + $$ % 20000)) OMP_NUM_THREADS=1
bad=0 skipped=0 pids=
complain() { echo "nccl.sh: $*"; bad=1; }
rank=0
while [ $rank -lt "$ranks" ]; do
  RANK=$rank LOCAL_RANK=$rank timeout -k 5 60 "$program" nccl "$mode" > "$folder/$rank" 2>&1 &
  pids="$pids $!"
  rank=$((rank + 1))
done
last=$((ranks - 1)) rank=0
for pid in $pids; do
  # A stopped process is killed by its `timeout` at the latest.
  [ "$mode" = stopped ] && [ $rank = $last ] && kill -9 $(sed -n 's/^pid //p' "$folder/$rank")
  wait "$pid"
  status=$?
  cat "$folder/$rank"
  case $mode in
    collectives | training) expected=0 ;;
    same_gpu) expected=4 ;;
    *) expected=3 ;;
  esac
  [ $status = 77 ] && skipped=1
  case $mode in
    killed | stopped) [ $rank = $last ] && status=$expected ;;
  esac
  [ $status = $expected ] || complain "rank $rank ended with $status"
  rank=$((rank + 1))
done
case $mode in
  mismatch) [ "$(cat "$folder"/* | grep -c 'said: .*as operation 4 of group .world.')" = "$ranks" ] || complain "no message" ;;
  killed) grep -q "rank $last ended without destroy_process_group" "$folder/0" || complain "no message" ;;
  stopped) grep -q 'timed out: ' "$folder/0" || complain "no message" ;;
  same_gpu) [ "$(cat "$folder"/* | grep -c 'have the same GPU')" = "$ranks" ] || complain "no message" ;;
esac
for pid in $(cat "$folder"/* | sed -n 's/^pid //p'); do
  kill -9 "$pid" 2> /dev/null && complain "process $pid was left"
done
rm -rf "$folder"
[ $skipped = 1 ] && exit 77
exit $bad
