// What the ranks of a group do together, with the names and the argument order of PyTorch's
// torch.distributed. Without a group all ranks take part (init_process_group).
//
// All ranks of the group make the same calls in the same order. With async_op a call returns at
// once; its tensors may be used again after wait(). Otherwise it returns null when they may be.
// Ranks (src, dst) are those in the job, as get_rank() gives them. Tensors are contiguous, on one
// device that the backend communicates, and results are written into the memory given.
//
// Errors: Error before init_process_group; ValueError, TypeError for arguments that do not fit, of
// which nothing is sent; DistributedError where the job fails (error.h).
#pragma once

#include "gradus/distributed/process_group.h"

namespace gradus::distributed {

// tensor becomes that of rank src.
WorkPtr broadcast(const Tensor& tensor, int src, const Group& group = nullptr,
                  bool async_op = false);
// tensor becomes the combination of everyone's; all ranks get the same bits.
WorkPtr all_reduce(const Tensor& tensor, ReduceOp op = ReduceOp::SUM, const Group& group = nullptr,
                   bool async_op = false);
// The same at rank dst alone.
WorkPtr reduce(const Tensor& tensor, int dst, ReduceOp op = ReduceOp::SUM,
               const Group& group = nullptr, bool async_op = false);
// tensor_list[r] becomes the tensor of rank r of the group.
WorkPtr all_gather(const Tensors& tensor_list, const Tensor& tensor, const Group& group = nullptr,
                   bool async_op = false);
// The same one after the other: output has as many elements as all inputs together.
WorkPtr all_gather_into_tensor(const Tensor& output_tensor, const Tensor& input_tensor,
                               const Group& group = nullptr, bool async_op = false);
// output becomes the combination of everyone's input_list[r] at rank r of the group.
WorkPtr reduce_scatter(const Tensor& output, const Tensors& input_list, ReduceOp op = ReduceOp::SUM,
                       const Group& group = nullptr, bool async_op = false);
WorkPtr reduce_scatter_tensor(const Tensor& output, const Tensor& input,
                              ReduceOp op = ReduceOp::SUM, const Group& group = nullptr,
                              bool async_op = false);
// gather_list[r] at rank dst becomes the tensor of rank r; other ranks give no list.
WorkPtr gather(const Tensor& tensor, const Tensors& gather_list = {}, int dst = 0,
               const Group& group = nullptr, bool async_op = false);
// tensor at rank r becomes scatter_list[r] of rank src; other ranks give no list.
WorkPtr scatter(const Tensor& tensor, const Tensors& scatter_list = {}, int src = 0,
                const Group& group = nullptr, bool async_op = false);
// output_tensor_list[r] becomes what rank r has in its input_tensor_list at this rank.
WorkPtr all_to_all(const Tensors& output_tensor_list, const Tensors& input_tensor_list,
                   const Group& group = nullptr, bool async_op = false);
// The same for parts of one tensor along dimension 0: so many rows for each rank, or equal parts
// where the sizes are left out.
WorkPtr all_to_all_single(const Tensor& output, const Tensor& input,
                          const std::vector<int64_t>& output_split_sizes = {},
                          const std::vector<int64_t>& input_split_sizes = {},
                          const Group& group = nullptr, bool async_op = false);
// Until all ranks are here.
WorkPtr barrier(const Group& group = nullptr, bool async_op = false);

// From rank to rank; the tensors have as many elements and one dtype, and meet by their tag.
void send(const Tensor& tensor, int dst, const Group& group = nullptr, int tag = 0);
// src -1: from any rank. Returns the rank that sent.
int recv(const Tensor& tensor, int src = -1, const Group& group = nullptr, int tag = 0);
WorkPtr isend(const Tensor& tensor, int dst, const Group& group = nullptr, int tag = 0);
WorkPtr irecv(const Tensor& tensor, int src = -1, const Group& group = nullptr, int tag = 0);

}  // namespace gradus::distributed
