// The checks that all collectives share. Private to the library.
#pragma once

#include <string>
#include <string_view>

#include "gradus/distributed/process_group.h"

namespace gradus::distributed {

// The group, or that of all ranks. Errors: Error where there is none, ValueError where this rank is
// not in it.
ProcessGroup& resolve(std::string_view op, const Group& group);
// The place in the group of a rank of the job. Errors: ValueError where it has none.
int place_in(const ProcessGroup& group, std::string_view op, const char* argument, int rank);
// Errors: ValueError, TypeError where the group cannot communicate x.
void check_tensor(const ProcessGroup& group, const char* op, const char* argument, const Tensor& x);
// Also that there is one for each rank, all like `like`.
void check_list(const ProcessGroup& group, const char* op, const char* argument,
                const Tensors& list, const Tensor& like);
// Errors: ValueError, TypeError where x is not of the dtype and device of `like`.
void check_pair(const char* op, const char* argument, const Tensor& x, const Tensor& like);
// The elements for each rank of an all_to_all of rows. Errors: ValueError where they do not add up.
ProcessGroup::Counts split_counts(const ProcessGroup& group, const char* op, const char* argument,
                                  const Tensor& x, const std::vector<int64_t>& rows);
// Errors: TypeError where the op does not combine the dtype.
void check_reduction(const char* op, ReduceOp reduction, const Tensor& x);
// "Float [2, 3]"
std::string described(const Tensor& x);

}  // namespace gradus::distributed
