#pragma once
#error "<cub/warp/warp_reduce.cuh> is not simulated: write it with shuffles and shared memory, or use operations of tensors"
