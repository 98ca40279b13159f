// Where a thread was that crashed, or that the judge ended.
#pragma once

// From now on a thread that crashes or gets SIGXCPU says first where it is: it writes the addresses
// of its calls to stderr, and which thread of a kernel it runs. judge/process.py makes lines of
// them.
void tell_where();
