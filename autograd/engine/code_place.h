// Where in the source a call stands, for messages.
#pragma once

#include <string>
#include <vector>

namespace gradus {

// For each address that a call returns to, "file:line program(+0x1234) function": the line where
// addr2line of GNU binutils is installed and the program has debug information (-g), the function
// where the program exports its names (-rdynamic). Calls inside of this library are left out, as
// far as names tell. Slow: for errors.
std::vector<std::string> code_places(const std::vector<void*>& returns);

}  // namespace gradus
