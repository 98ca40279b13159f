# The headers of libtorch whose names programs include and whose content torch/torch.h has: each is made here and includes it.
# compat/ holds the others.
set(GRADUS_COMPAT_INCLUDE ${PROJECT_BINARY_DIR}/compat)
set(names
  ATen/ATen ATen/ArrayRef ATen/autocast_mode ATen/CPUGeneratorImpl ATen/Device ATen/Functions ATen/Generator ATen/Layout ATen/Scalar
  ATen/ScalarType ATen/Tensor ATen/Version ATen/TensorIndexing ATen/TensorOptions
  ATen/cuda/CUDAContext ATen/cuda/CUDAEvent c10/cuda/CUDAFunctions c10/cuda/CUDAStream
  ATen/core/Generator ATen/core/Tensor ATen/core/TensorAccessor c10/core/Device c10/core/DeviceType
  c10/core/InferenceMode c10/core/Layout c10/core/MemoryFormat c10/core/Scalar c10/core/TensorOptions
  c10/util/BFloat16 c10/util/Half torch/all torch/autograd torch/cuda torch/data torch/data/dataloader torch/data/dataloader_options torch/data/datasets
  torch/data/datasets/base torch/data/datasets/chunk torch/data/datasets/map torch/data/datasets/shared torch/data/datasets/stateful
  torch/data/datasets/tensor torch/data/detail/data_shuttle torch/data/detail/queue torch/data/detail/sequencers torch/data/example
  torch/data/iterator torch/data/samplers torch/data/transforms torch/data/transforms/base torch/data/transforms/collate
  torch/data/transforms/lambda torch/data/transforms/stack torch/data/transforms/tensor torch/data/worker_exception torch/enum torch/fft torch/linalg torch/nn
  torch/optim torch/ordered_dict torch/script torch/serialize torch/special torch/types torch/utils
  torch/csrc/autograd/autograd torch/csrc/autograd/custom_function torch/csrc/autograd/function
  torch/csrc/autograd/grad_mode torch/csrc/autograd/variable torch/nn/cloneable torch/nn/functional torch/nn/init
  torch/nn/module torch/nn/modules torch/nn/parallel/data_parallel torch/nn/utils
  torch/nn/utils/clip_grad torch/nn/utils/convert_parameters torch/optim/optimizer torch/optim/sgd torch/optim/adagrad
  torch/optim/adam torch/optim/adamw torch/optim/lbfgs torch/optim/rmsprop
  torch/optim/schedulers/lr_scheduler torch/optim/schedulers/reduce_on_plateau_scheduler torch/optim/schedulers/step_lr
  torch/serialize/archive torch/serialize/input-archive torch/serialize/output-archive torch/serialize/tensor)
foreach(name IN LISTS names)
  file(CONFIGURE OUTPUT ${GRADUS_COMPAT_INCLUDE}/${name}.h
       CONTENT "// All of gradus under libtorch's names.\n#pragma once\n\n#include \"gradus/compat/torch/torch.h\"\n")
endforeach()
