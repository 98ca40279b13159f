// Checks of arguments that all collectives share. Private to the library.
#pragma once

#include <string>
#include <string_view>

#include "gradus/distributed/process_group.h"

namespace gradus::distributed {

// The group; where it is null, that of all ranks. Errors: Error where there is no process group,
// ValueError where this rank is not in the group.
ProcessGroup& resolve(std::string_view op, const Group& group);
// The rank in the group of a rank of the job. Errors: ValueError where it is not a member.
int place_in(const ProcessGroup& group, std::string_view op, const char* argument, int rank);
// Errors: ValueError, TypeError where the group cannot communicate x.
void check_tensor(const ProcessGroup& group, const char* op, const char* argument, const Tensor& x);
// Also checks that there is one tensor for each rank, of the shape, dtype and device of `like`.
void check_list(const ProcessGroup& group, const char* op, const char* argument,
                const Tensors& list, const Tensor& like);
// Errors: ValueError, TypeError where x is not of the dtype and device of `like`.
void check_pair(const char* op, const char* argument, const Tensor& x, const Tensor& like);
// The number of elements for each rank in an all_to_all of rows. Errors: ValueError where the rows
// do not add up to those of x.
ProcessGroup::Counts split_counts(const ProcessGroup& group, const char* op, const char* argument,
                                  const Tensor& x, const std::vector<int64_t>& rows);
// Errors: TypeError where the reduction does not support the dtype.
void check_reduction(const char* op, ReduceOp reduction, const Tensor& x);
// "Float [2, 3]"
std::string described(const Tensor& x);

}  // namespace gradus::distributed
