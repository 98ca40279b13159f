// A kernel, and what starts it.
#pragma once

constexpr int kCount = 8;

// Queues the kernel that writes the array backwards, or the one that forgets its barrier.
void reverse_on_device(int* data, bool forgetful);
