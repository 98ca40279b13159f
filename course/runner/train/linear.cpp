// A stage of ./train: a linear layer and the loop of task 4.4, on the CPU; with TRAIN_ON_GPU on a GPU.
#include "core/devices.h"
#include "runner/train/images.h"

int main() {
  return train::run([](const train::Task& task) {
#ifdef TRAIN_ON_GPU
    course::Device& device = course::gpu_device();
#else
    course::Device& device = course::host_device();
#endif
    const train::Images& images = task.learned;
    const std::vector<float> y = images.targets();
    course::LinearModel model(device, std::vector<float>(static_cast<size_t>(images.classes * images.inputs)),
                              std::vector<float>(static_cast<size_t>(images.classes)), task.batch, {0.1f, 0.9f, 0});
    for (long epoch = 0; epoch < task.epochs; ++epoch) {
      const float loss = course::train(device, model, {images.x.data(), y.data(), images.rows}, task.batch, 1).at(0);
      train::tell(epoch, loss, train::linear_accuracy(task.tested, model.parameters().data()));
    }
  });
}
