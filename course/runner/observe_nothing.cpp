// Observation where there is no simulator: tasks without kernels, and tests on a GPU.
#include "runner/observe.h"

KernelThread kernel_thread() { return {}; }

struct Observation::Parts {};
Observation::Observation() = default;
Observation::~Observation() = default;
void Observation::prepare() {}
void Observation::report(Message&) {}
