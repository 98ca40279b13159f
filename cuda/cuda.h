// CUDA as programs see it: devices, streams, events, memory, counters, kernels of their own. No CUDA
// header is needed.
#pragma once

#include "gradus/cuda/device_status.h"
#include "gradus/cuda/graphed.h"
#include "gradus/cuda/nvtx.h"
#include "gradus/cuda/rtc/elementwise_kernel.h"
#include "gradus/cuda/rtc/raw_kernel.h"
#include "gradus/cuda/rtc/reduction_kernel.h"
#include "gradus/cuda/runtime/allocator.h"
#include "gradus/cuda/runtime/device.h"
#include "gradus/cuda/runtime/event.h"
#include "gradus/cuda/runtime/generator.h"
#include "gradus/cuda/runtime/graph.h"
#include "gradus/cuda/runtime/peer.h"
#include "gradus/cuda/runtime/pinned.h"
#include "gradus/cuda/runtime/stats.h"
#include "gradus/cuda/runtime/stream.h"
