// CUDA as programs see it: devices, streams, events, memory, counters. No CUDA header is needed.
#pragma once

#include "gradus/cuda/allocator.h"
#include "gradus/cuda/device.h"
#include "gradus/cuda/event.h"
#include "gradus/cuda/generator.h"
#include "gradus/cuda/peer.h"
#include "gradus/cuda/stats.h"
#include "gradus/cuda/stream.h"
