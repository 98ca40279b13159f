// Finds races in a student's file that is compiled with -fsanitize=thread. The chunks of parallel_for run one
// after the other; where two chunks use one address, and one of them writes to it, they race. So the verdict
// depends on no thread's speed.
#pragma once

#include "runner/message.h"

namespace races {

// What parallel_for does from now on, and an array whose reads are counted and that nobody may write to. watched: whether to look for
// races, which takes memory for each byte that chunks use.
void begin(long chunks, bool backwards, bool watched, const float* x, long size);

// Adds "findings" to the reply, as the simulator's: a list of {"kind", "text"} in JSON. Then "calls": how often
// parallel_for was called; "busiest": the most reads of x that one chunk made; "outside": those outside of chunks.
void report(Message& reply);

}  // namespace races
