// blocks_held: how many blocks of operator new nobody has given back.
// bytes_held: their bytes. most_bytes_held: the most of them at one time since forget_most().
#pragma once

// Null in runners that do not count them: those with a simulator, which keeps memory of its own.
[[gnu::weak]] long blocks_held();
[[gnu::weak]] long bytes_held();
[[gnu::weak]] long most_bytes_held();
[[gnu::weak]] void forget_most();
