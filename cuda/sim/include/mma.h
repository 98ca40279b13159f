#pragma once
#error \
    "<mma.h> is not simulated: give what uses tensor cores a readable twin, as docs/simulator.md shows"
