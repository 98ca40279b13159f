#pragma once
#error "<cub/device/device_radix_sort.cuh> is not simulated: write it with shuffles and shared memory, or use operations of tensors"
