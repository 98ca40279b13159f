// The calls that run on a thread, for messages that name a line later on.
#pragma once

#include <vector>

namespace gradus {

// The return addresses of the calls that led here, innermost first and 64 at most: what code_places
// and user_line (code_place.h) take. The list stays as it is until this thread calls again.
//
// The first time that a thread comes along some calls, their frames are unwound. Later the words of
// the stack that held the return addresses are compared: a word for each frame instead of a search
// in the tables of exceptions.
const std::vector<void*>& call_stack();

}  // namespace gradus
