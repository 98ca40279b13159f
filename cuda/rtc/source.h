// Source text of kernels that are compiled at run time, and the error where it does not compile.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "gradus/tensor/base/error.h"

namespace gradus {

// Source text given at run time does not compile. The message holds what the compiler said, with
// the user's file and lines.
class CompileError : public Error {
  using Error::Error;
};

namespace cuda {

// CUDA C++ text, and where its lines stand. It is made from a string literal or a std::string:
// RawKernel and its like take either.
class Source {
 public:
  // A literal: messages name the lines of the program's own file. Where that file cannot be read
  // when the program runs, the literal is taken to end at the end of the call.
  template <size_t N>
  Source(const char (&text)[N], const char* file = __builtin_FILE(), int line = __builtin_LINE())
      : Source(std::string_view(text), file, line) {}
  // Text that was made at run time: its lines count from 1, in "text of FILE:LINE".
  Source(std::string text, const char* file = __builtin_FILE(), int line = __builtin_LINE());
  // Text that was made around another one.
  Source(std::string text, const Source& around);

  const std::string& text() const { return text_; }
  // What messages call the place of the first line.
  const std::string& file() const { return file_; }
  int line() const { return line_; }
  // "FILE:LINE", the place in the program where the text was given.
  std::string place() const;

 private:
  Source(std::string_view literal, const char* file, int line);

  std::string text_, file_;
  int line_;
  std::string given_;
};

}  // namespace cuda
}  // namespace gradus
