#!/bin/bash
# The scripts of examples/launch for torchrun-like environments and for SLURM: the ranks that they
# start find each other, and nothing is left where one fails. SLURM's own programs are replaced.
#
#   launch.sh LAUNCHED_RANK
program=$(realpath "$1")
launch=$(cd "$(dirname "$0")/../../../examples/launch" && pwd)
. "$(dirname "$0")/../../expect.sh"
cd "$work" || exit 1
# are RANKS LINE: every rank has said its line, RANK and LOCAL in it replaced, $per_node on a machine.
are() {
  for ((rank = 0; rank < $1; ++rank)); do
    line=${2//RANK/$rank}
    grep -q "^pid [0-9]*, ${line//LOCAL/$((rank % per_node))}\$" log || wrong "no line '${line}'"
  done
  [ "$(grep -c '^pid ' log)" = "$1" ] || wrong "not $1 ranks"
}
none_left() {
  for pid in $(sed -n 's/^pid \([0-9]*\),.*/\1/p' log); do
    ! kill -9 "$pid" 2> /dev/null || wrong "process $pid is left"
  done
}

# --- ranks.sh
unset MASTER_PORT GRADUS_JOB_TOKEN
for ranks in 1 3; do
  per_node=$ranks
  timeout 60 "$launch/ranks.sh" $ranks "$program" --steps 5 > log 2>&1 || wrong "ranks.sh: exit code $?"
  are $ranks "rank RANK of $ranks, local LOCAL, token '': --backend nccl --steps 5"
  none_left
done
# One fails, and another hangs, which the launcher ends.
timeout 60 "$launch/ranks.sh" 3 "$program" --fail 2 --hang 1 > log 2>&1
code=$?
[ $code = 7 ] || wrong "ranks.sh: exit code $code where a rank ended with 7"
none_left
timeout 60 "$launch/ranks.sh" 2 "$work/none" > log 2>&1
[ $? = 127 ] || wrong "ranks.sh starts what is not there"
"$launch/ranks.sh" > log 2>&1 && wrong "ranks.sh without arguments"

# --- one_gpu.sbatch
bash -n "$launch/one_gpu.sbatch" || wrong "one_gpu.sbatch is no script"
(
  module() { echo "module $*"; }
  export -f module
  SLURM_CPUS_PER_TASK=8 bash "$launch/one_gpu.sbatch" sh -c 'echo "$* on $OMP_NUM_THREADS"' sh --out x > log 2>&1
)
printf 'module load cuda\n--out x --device cuda --resume on 8\n' | cmp - log || wrong "one_gpu.sbatch runs something else"
bash "$launch/one_gpu.sbatch" > log 2>&1 && wrong "one_gpu.sbatch without a program"

# --- slurm.sbatch, on two nodes of four tasks
bash -n "$launch/slurm.sbatch" || wrong "slurm.sbatch is no script"
for option in nodes=2 ntasks-per-node=4 gpus-per-task=1 gpu-bind=none cpus-per-task=8; do
  grep -qx "#SBATCH --$option" "$launch/slurm.sbatch" || wrong "slurm.sbatch asks for no $option"
done
mkdir bin
cat > bin/scontrol << 'END'
#!/bin/sh
[ "$*" = "show hostnames node[1-2]" ] && printf '127.0.0.1\nnode2\n'
END
cat > bin/srun << 'END'
#!/bin/bash
echo "srun $1 $2"
shift 2
for ((rank = 0; rank < 8; ++rank)); do
  SLURM_PROCID=$rank SLURM_LOCALID=$((rank % 4)) SLURM_NTASKS=8 SLURM_NNODES=2 "$@" &
done
status=0
for ((rank = 0; rank < 8; ++rank)); do wait -n || status=$?; done
exit $status
END
chmod +x bin/*
batch() {
  PATH=$work/bin:$PATH SLURM_JOB_ID=$$ SLURM_JOB_NODELIST='node[1-2]' SLURM_CPUS_PER_TASK=8 \
    timeout 60 bash "$launch/slurm.sbatch" "$@" > log 2>&1
}
per_node=4
checkpoint=$PWD/ddp_train.safetensors tokens=
for resume in '' ' --resume'; do
  batch "$program" --steps 5 || wrong "slurm.sbatch: exit code $?"
  token=$(sed -n "s/.* rank 0 .* token '\([0-9a-f]\{32\}\)':.*/\1/p" log)
  [ -n "$token" ] && [ "$token" != "$tokens" ] || wrong "no token of its own: '$token'"
  are 8 "rank RANK of 8, local LOCAL, token '$token': --backend nccl --checkpoint $checkpoint --steps 5$resume"
  grep -qx 'srun --cpus-per-task=8 --kill-on-bad-exit=1' log || wrong "srun is asked for something else"
  tokens=$token
  touch "$checkpoint"
done
none_left
batch "$work/none" && wrong "slurm.sbatch: a program that is not there gives exit code 0"
printf '#!/bin/sh\nexit 1\n' > bin/scontrol
batch "$program" && wrong "slurm.sbatch goes on without a node"

finish
