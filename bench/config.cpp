// Prints how the library was built. bench/run puts it above its table.
#include <cstdio>

#include "gradus/version.h"

int main() { std::puts(gradus::show_config().c_str()); }
