// Observation where there is no simulator: tasks without kernels, and tests on a GPU.
#include "runner/observe.h"

struct Observation::Parts {};
Observation::Observation() = default;
Observation::~Observation() = default;
void Observation::prepare() {}
void Observation::report(Message&) {}
