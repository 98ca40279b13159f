#pragma once
#error \
    "<cuda_pipeline.h> is not simulated: copy to shared memory by plain loads and stores, and wait by __syncthreads()"
