// Gradus, all of it: #include <gradus/gradus.h>
// The headers stand in the order of reading.
#pragma once

// Tensors, and the functions on them, which record what gradients need.
#include "gradus/tensor/tensor.h"

#include "gradus/tensor/factories.h"
#include "gradus/tensor/indexing.h"

#include "gradus/autograd/fft.h"
#include "gradus/autograd/functions.h"
#include "gradus/autograd/linalg.h"
#include "gradus/tensor/generator.h"

// Gradients: the backward pass, and what is built on it.
#include "gradus/autograd/engine/engine.h"
#include "gradus/autograd/engine/grad_mode.h"

#include "gradus/autograd/engine/anomaly_mode.h"
#include "gradus/autograd/engine/autocast.h"
#include "gradus/autograd/tools/checkpoint.h"
#include "gradus/autograd/tools/function.h"
#include "gradus/autograd/tools/functional.h"
#include "gradus/autograd/tools/gradcheck.h"
#include "gradus/autograd/tools/saved_tensors_hooks.h"

// Training: layers, optimizers, data, files.
#include "gradus/nn/nn.h"

#include "gradus/optim/optim.h"

#include "gradus/data/data.h"
#include "gradus/serialize/checkpoint.h"
#include "gradus/serialize/checkpoints.h"
#include "gradus/serialize/pt.h"
#include "gradus/serialize/save.h"

// Watching: metrics, progress, logs, pictures.
#include "gradus/watch/metrics/accuracy.h"
#include "gradus/watch/metrics/auroc.h"
#include "gradus/watch/metrics/collection.h"
#include "gradus/watch/metrics/mean.h"
#include "gradus/watch/metrics/perplexity.h"
#include "gradus/watch/metrics/precision_recall.h"
#include "gradus/watch/metrics/regression.h"

#include "gradus/watch/csv_logger.h"
#include "gradus/watch/dashboard/dashboard.h"
#include "gradus/watch/early_stopping.h"
#include "gradus/watch/guard/nan_guard.h"
#include "gradus/watch/guard/of_environment.h"
#include "gradus/watch/progress_bar.h"
#include "gradus/watch/stop_signal.h"
#include "gradus/watch/summary.h"

#include "gradus/watch/pictures/history.h"
#include "gradus/watch/pictures/image.h"
#include "gradus/watch/pictures/plot.h"
#include "gradus/watch/profiler/profile.h"
#include "gradus/watch/tensorboard/summary_writer.h"

// Devices: GPUs, functions and kernels of your own on them, several devices, several processes.
#include "gradus/cuda/cuda.h"

#include "gradus/autograd/tools/fuse.h"
#include "gradus/autograd/tools/guvectorize.h"
#include "gradus/autograd/tools/vectorize.h"

#include "gradus/nn/parallel/data_parallel.h"

#include "gradus/distributed/distributed.h"
#include "gradus/tensor/base/precision.h"
#include "gradus/tensor/base/threads.h"
#include "gradus/version.h"
