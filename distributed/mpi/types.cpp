// MPI's names for dtypes and reductions.
#include "gradus/distributed/mpi/mpi_group.h"

namespace gradus::distributed {

MPI_Datatype moved_type(const Tensor& x) {
  switch (x.itemsize()) {
    case 1:
      return MPI_UINT8_T;
    case 2:
      return MPI_UINT16_T;
    case 4:
      return MPI_UINT32_T;
    default:
      return MPI_UINT64_T;
  }
}

// Bools are bytes of 0 and 1. Half precision is combined as float (mpi_group.cpp).
MPI_Datatype combined_type(const Tensor& x) {
  switch (x.scalar_type()) {
    case kFloat:
      return MPI_FLOAT;
    case kDouble:
      return MPI_DOUBLE;
    case kBool:
    case kByte:
      return MPI_UINT8_T;
    case kChar:
      return MPI_INT8_T;
    case kShort:
      return MPI_INT16_T;
    case kInt:
      return MPI_INT32_T;
    case kLong:
      return MPI_INT64_T;
    default:
      fail<TypeError>("mpi: dtype ", x.dtype(), " cannot be combined");
  }
}

MPI_Op combination(ReduceOp op, const Tensor& x) {
  const bool is_bool = x.scalar_type() == kBool;
  switch (op) {
    case ReduceOp::SUM:
    case ReduceOp::AVG:
      return is_bool ? MPI_MAX : MPI_SUM;
    case ReduceOp::MIN:
      return MPI_MIN;
    case ReduceOp::MAX:
      return MPI_MAX;
    default:
      return is_bool ? MPI_MIN : MPI_PROD;
  }
}

int counted(int64_t elements) {
  check(elements <= INT32_MAX, "mpi: ", elements, " elements in one call; MPI counts to ",
        INT32_MAX, "; send parts");
  return static_cast<int>(elements);
}

}  // namespace gradus::distributed
