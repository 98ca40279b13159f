#!/bin/sh
# ranks.sh RANKS PROGRAM [OPTIONS]: one process for each of the first GPUs of this machine, with the
# environment that torchrun gives. `torchrun --no-python --nproc-per-node RANKS PROGRAM ...` is alike.
ranks=${1:?how many ranks} program=${2:?the program, such as build/main/examples/ddp_train}
shift 2
export WORLD_SIZE="$ranks" LOCAL_WORLD_SIZE="$ranks" MASTER_ADDR=127.0.0.1 NCCL_NVLS_ENABLE=0
export MASTER_PORT="${MASTER_PORT:-$((20000 + $$ % 20000))}" OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
rank=0 processes= status=0
while [ $rank -lt "$ranks" ]; do
  RANK=$rank LOCAL_RANK=$rank "$program" --backend nccl "$@" &
  processes="$processes $!" rank=$((rank + 1))
done
for process in $processes; do wait "$process" || status=$?; done
exit $status
