// Part of every test program. A sanitizer ends the program at an allocation of an impossible size
// unless it is told to refuse it, as malloc does; tests of OutOfMemoryError ask for such sizes.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
extern "C" const char* __tsan_default_options() { return "allocator_may_return_null=1"; }
