// blocks_held: how many blocks of operator new nobody has given back.
// bytes_held: their bytes. most_bytes_held: the most of them at one time since forget_most().
// limit_blocks: how much operator new gives.
#pragma once

#include <cstddef>

// Null in runners that do not count them: those with a simulator, which keeps memory of its own.
[[gnu::weak]] long blocks_held();
[[gnu::weak]] long bytes_held();
[[gnu::weak]] long most_bytes_held();
[[gnu::weak]] void forget_most();

// From now on operator new gives so many bytes in all, and then throws std::bad_alloc.
void limit_blocks(std::size_t bytes);
