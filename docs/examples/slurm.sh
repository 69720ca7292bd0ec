#!/bin/sh
# Training on several machines with SLURM, which sets the variables used here:
#
#     sbatch --nodes 2 --gpus-per-node 4 docs/examples/slurm.sh Velocity-G1 --name two
#
# One agent of torchrun on each machine starts a process for each of its GPUs. SLURM sends
# SIGTERM two minutes before the time limit: the iteration is finished and saved. To continue
# the training, submit the job again with `--resume latest`.
#SBATCH --ntasks-per-node=1
#SBATCH --time=24:00:00
#SBATCH --signal=TERM@120
set -eu

# The processes meet at an address of the first machine.
first=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
exec srun torchrun \
  --nnodes "$SLURM_NNODES" \
  --nproc-per-node "${SLURM_GPUS_ON_NODE:-1}" \
  --rdzv-backend c10d \
  --rdzv-endpoint "$first:${PORT:-29500}" \
  --rdzv-id "$SLURM_JOB_ID" \
  -m -- mjlab train "$@"
