// Where a thread was that crashed, or that the judge ended.
#pragma once

// From now on who crashes, or gets SIGXCPU, writes the addresses of its calls to stderr, and, where it runs a kernel's thread, which:
// the judge reads lines there (judge/process.py).
void tell_where();
