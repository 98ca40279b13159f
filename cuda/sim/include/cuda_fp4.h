#pragma once
#error "<cuda_fp4.h> is not simulated: use float, or the types of cuda_fp16.h and cuda_bf16.h"
