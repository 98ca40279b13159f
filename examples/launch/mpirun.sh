#!/bin/sh
# mpirun.sh RANKS PROGRAM [OPTIONS]: ranks on this machine's CPU, by Open MPI, over loopback alone.
ranks=${1:?how many ranks} program=${2:?the program, such as build/cpu/examples/ddp_train}
shift 2
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}" OMPI_MCA_btl=self,vader OMPI_MCA_oob_tcp_if_include=lo
[ "$(id -u)" != 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
exec mpirun --oversubscribe -n "$ranks" "$program" --backend mpi "$@"
