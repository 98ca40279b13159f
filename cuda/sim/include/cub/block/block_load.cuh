#pragma once
#error "<cub/block/block_load.cuh> is not simulated: write it with shuffles and shared memory, or use operations of tensors"
