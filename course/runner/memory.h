// blocks_held: how many blocks of operator new nobody has given back.
#pragma once

// Null in runners that do not count them: those with a simulator, which keeps memory of its own.
[[gnu::weak]] long blocks_held();
