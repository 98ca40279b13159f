// Errors that leave the thread in which they were thrown.
#pragma once

#include <exception>
#include <string>

#include "gradus/tensor/base/error.h"

namespace gradus {

// Throws the exception with `context` behind its message. One of another library becomes an Error
// that holds it.
[[noreturn]] inline void rethrow_with(const std::exception_ptr& error, const std::string& context) {
  try {
    std::rethrow_exception(error);
  } catch (Error& known) {
    known.add_context(context);
    throw;
  } catch (const std::exception& other) {
    std::throw_with_nested(Error(other.what() + context));
  } catch (...) {
    std::throw_with_nested(Error("an exception of an unknown type" + context));
  }
}

}  // namespace gradus
