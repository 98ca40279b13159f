// What each task's runner defines: how the judge's inputs reach the student's function, and its
// results come back. A runner knows no expected value.
#pragma once

#include "runner/message.h"

// Calls the student's code once. What it throws is reported to the judge.
void run(const Message& in, Message& out);
