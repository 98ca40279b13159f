// all_reduce, broadcast and the other collectives, with the names and the argument order of
// PyTorch's torch.distributed. All ranks of the job take part where no group is given
// (init_process_group).
//
// All ranks of the group make the same calls in the same order. A call with async_op returns at
// once, and its tensors may be used again after wait(). Otherwise the call waits and returns null.
// Ranks (src, dst) are ranks of the job, as get_rank() returns them. Tensors are contiguous, on one
// device that the backend supports, and results are written into the given tensors.
//
// Errors: Error before init_process_group; ValueError, TypeError for arguments that do not fit, and
// then nothing is sent; DistributedError where the job fails (job/error.h).
#pragma once

#include "gradus/distributed/process_group.h"

namespace gradus::distributed {

// tensor becomes that of rank src.
WorkPtr broadcast(const Tensor& tensor, int src, const Group& group = nullptr,
                  bool async_op = false);
// tensor becomes the combination of all ranks' tensors; all ranks get the same bits.
WorkPtr all_reduce(const Tensor& tensor, ReduceOp op = ReduceOp::SUM, const Group& group = nullptr,
                   bool async_op = false);
// The same at rank dst alone.
WorkPtr reduce(const Tensor& tensor, int dst, ReduceOp op = ReduceOp::SUM,
               const Group& group = nullptr, bool async_op = false);
// tensor_list[r] becomes the tensor of rank r of the group.
WorkPtr all_gather(const Tensors& tensor_list, const Tensor& tensor, const Group& group = nullptr,
                   bool async_op = false);
// The same into one tensor: the output holds the inputs of all ranks one after the other.
WorkPtr all_gather_into_tensor(const Tensor& output_tensor, const Tensor& input_tensor,
                               const Group& group = nullptr, bool async_op = false);
// output at rank r of the group becomes the combination of all ranks' input_list[r].
WorkPtr reduce_scatter(const Tensor& output, const Tensors& input_list, ReduceOp op = ReduceOp::SUM,
                       const Group& group = nullptr, bool async_op = false);
WorkPtr reduce_scatter_tensor(const Tensor& output, const Tensor& input,
                              ReduceOp op = ReduceOp::SUM, const Group& group = nullptr,
                              bool async_op = false);
// gather_list[r] at rank dst becomes the tensor of rank r; other ranks pass no list.
WorkPtr gather(const Tensor& tensor, const Tensors& gather_list = {}, int dst = 0,
               const Group& group = nullptr, bool async_op = false);
// tensor at rank r becomes scatter_list[r] of rank src; other ranks pass no list.
WorkPtr scatter(const Tensor& tensor, const Tensors& scatter_list = {}, int src = 0,
                const Group& group = nullptr, bool async_op = false);
// output_tensor_list[r] becomes the tensor that rank r has for this rank in its input_tensor_list.
WorkPtr all_to_all(const Tensors& output_tensor_list, const Tensors& input_tensor_list,
                   const Group& group = nullptr, bool async_op = false);
// The same for parts of one tensor along dimension 0. The sizes are the rows for each rank; without
// them the parts are equal.
WorkPtr all_to_all_single(const Tensor& output, const Tensor& input,
                          const std::vector<int64_t>& output_split_sizes = {},
                          const std::vector<int64_t>& input_split_sizes = {},
                          const Group& group = nullptr, bool async_op = false);
// Waits until all ranks have called it.
WorkPtr barrier(const Group& group = nullptr, bool async_op = false);

// A message to one rank. Both tensors have one dtype and number of elements. A send meets a recv
// with the same tag.
void send(const Tensor& tensor, int dst, const Group& group = nullptr, int tag = 0);
// src -1: from any rank. Returns the rank that sent.
int recv(const Tensor& tensor, int src = -1, const Group& group = nullptr, int tag = 0);
WorkPtr isend(const Tensor& tensor, int dst, const Group& group = nullptr, int tag = 0);
WorkPtr irecv(const Tensor& tensor, int src = -1, const Group& group = nullptr, int tag = 0);

}  // namespace gradus::distributed
