#pragma once
#error "<cub/cub.cuh> is not simulated: write it with shuffles and shared memory, or use operations of tensors"
