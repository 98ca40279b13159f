#!/bin/bash
# ranks.sh RANKS PROGRAM [OPTIONS]: one process for each of the first GPUs of this machine, with the
# environment that torchrun gives. `torchrun --no-python --nproc-per-node RANKS PROGRAM ...` is alike.
ranks=${1:?how many ranks} program=${2:?the program, such as build/main/examples/ddp_train}
shift 2
export WORLD_SIZE="$ranks" LOCAL_WORLD_SIZE="$ranks" MASTER_ADDR=127.0.0.1 NCCL_NVLS_ENABLE=0
export MASTER_PORT="${MASTER_PORT:-$((20000 + $$ % 10000))}" OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
for ((rank = 0; rank < ranks; ++rank)); do
  RANK=$rank LOCAL_RANK=$rank "$program" --backend nccl "$@" &
done
trap 'kill $(jobs -p) 2> /dev/null' INT TERM

status=0
for ((rank = 0; rank < ranks && status == 0; ++rank)); do wait -n || status=$?; done
# The first failure counts. The others hear of it and end by themselves, save one that hangs.
for ((tenths = 0; status && tenths < 50; ++tenths)); do
  [ -n "$(jobs -pr)" ] || break
  sleep 0.1
done
jobs -pr | xargs -r kill -9
wait
exit $status
