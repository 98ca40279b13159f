#pragma once
#error "<cub/device/device_scan.cuh> is not simulated: write it with shuffles and shared memory, or use operations of tensors"
