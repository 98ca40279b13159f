#!/bin/bash
# A job of a cluster for a program of PyTorch. No line of it is changed.
#SBATCH --job-name=linear
#SBATCH --gres=gpu:1
#SBATCH --cpus-per-task=4
#SBATCH --time=00:10:00
#SBATCH --output=linear-%j.out
set -e
cd "${SLURM_SUBMIT_DIR:-$(dirname "$0")}"
export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1}
echo "job ${SLURM_JOB_ID:-0} on $(hostname)"
python pytorch_linear.py
