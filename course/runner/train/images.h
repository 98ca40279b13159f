// What ./train hands to its programs: images to learn and images to test, and how a program says how far it is.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

namespace train {

struct Images {
  long rows = 0, inputs = 0, classes = 0;
  std::vector<float> x;      // (rows, inputs)
  std::vector<long> labels;  // of each row

  std::vector<float> targets() const {  // (rows, classes): 1 at the label
    std::vector<float> out(static_cast<size_t>(rows * classes));
    for (long r = 0; r < rows; ++r) out[static_cast<size_t>(r * classes + labels[static_cast<size_t>(r)])] = 1;
    return out;
  }
};

struct Task {
  Images learned, tested;
  long epochs = 0, batch = 64;
};

inline void read(void* to, size_t size, size_t count) {
  if (std::fread(to, size, count, stdin) != count) std::exit(2);
}

// From ./train, on standard input.
inline Task read_task() {
  long sizes[5];
  read(sizes, sizeof *sizes, 5);
  Task task;
  task.epochs = sizes[4];
  for (Images* const each : {&task.learned, &task.tested}) {
    each->rows = each == &task.learned ? sizes[0] : sizes[1];
    each->inputs = sizes[2], each->classes = sizes[3];
    each->x.resize(static_cast<size_t>(each->rows * each->inputs));
    each->labels.resize(static_cast<size_t>(each->rows));
    read(each->x.data(), sizeof(float), each->x.size());
    read(each->labels.data(), sizeof(long), each->labels.size());
  }
  return task;
}

// How many of the images have their highest score, of (rows, classes), at their label; in percent.
inline double accuracy(const Images& images, const float* scores) {
  long right = 0;
  for (long r = 0; r < images.rows; ++r) {
    const float* const row = scores + r * images.classes;
    long best = 0;
    for (long c = 1; c < images.classes; ++c)
      if (row[c] > row[best]) best = c;
    right += best == images.labels[static_cast<size_t>(r)];
  }
  return 100.0 * static_cast<double>(right) / static_cast<double>(images.rows);
}

// The accuracy of a linear layer: w (classes, inputs), then b (classes).
inline double linear_accuracy(const Images& images, const float* w) {
  std::vector<float> scores(static_cast<size_t>(images.rows * images.classes));
  for (long r = 0; r < images.rows; ++r)
    for (long c = 0; c < images.classes; ++c) {
      float sum = w[images.classes * images.inputs + c];
      for (long p = 0; p < images.inputs; ++p) sum += images.x[static_cast<size_t>(r * images.inputs + p)] * w[c * images.inputs + p];
      scores[static_cast<size_t>(r * images.classes + c)] = sum;
    }
  return accuracy(images, scores.data());
}

inline void tell(long epoch, double loss, double accuracy) {
  std::printf("  epoch %ld: loss %.4f, %.1f%% of the test images right\n", epoch + 1, loss, accuracy);
  std::fflush(stdout);
}

// What a stage's main() does: body(task), and says what it threw.
template <class Body>
int run(Body body) {
  try {
    body(read_task());
    return 0;
  } catch (const std::exception& error) {
    std::printf("  it ended: %s\n", error.what());
    return 1;
  }
}

}  // namespace train
