// The rules of the house, read off the source tree:
// - includes point downward: each folder may include itself and those below it, and so may each
//   room of a folder;
// - nothing above tensor/ includes cpu/ or cuda/, save the public headers of cuda/;
// - a public header, which is one that users include or that such a header includes, includes no
// CUDA
//   header, none of cuda/ that is not for users, and none of a room that is internal;
// - the course's framework stands by itself: course/core and course/wrong include headers of
//   course/core alone, course/runner and course/test the simulator's, course/plug what it likes;
// - no source file has more than 500 lines (of course/core 150), and no folder more than 45 source
//   files (those that the course has for each task are not counted);
// - every source file opens with a comment that says what it holds;
// - what runs on every device does not ask for CUDA, four named files excepted;
// - no line that nvcc reads begins with module, import or export.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

// Every breach in the tree under `root`, sorted, one line each: "FILE:LINE: what and why".
// `public_cuda` are the headers of cuda/ that users may include.
std::vector<std::string> breaches(const std::filesystem::path& root,
                                  const std::vector<std::string>& public_cuda);
