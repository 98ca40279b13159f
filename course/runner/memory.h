// blocks_held: how many blocks of operator new nobody has given back. limit_blocks: how much it gives.
#pragma once

#include <cstddef>

// Null in runners that do not count them: those with a simulator, which keeps memory of its own.
[[gnu::weak]] long blocks_held();

// From now on operator new gives so many bytes in all, and then throws std::bad_alloc.
void limit_blocks(std::size_t bytes);
