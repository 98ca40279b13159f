// Where in the source a call stands, for messages.
#pragma once

#include <string>
#include <vector>

namespace gradus {

// One line for each return address: "file:line program(+0x1234) function". The line needs addr2line
// of GNU binutils and debug information (-g); the function's name needs -rdynamic. Calls inside
// this library are left out where their names show it. Slow: for errors.
std::vector<std::string> code_places(const std::vector<void*>& returns);
// The innermost call outside of this library, "file.cpp:41"; empty where it is not known. Needs
// what code_places needs for a line. Slow, too.
std::string user_line(const std::vector<void*>& returns);

}  // namespace gradus
