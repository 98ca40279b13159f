// Errors that leave the thread in which they were thrown, or the function that the user did not
// call.
#pragma once

#include <exception>
#include <string>

#include "gradus/tensor/base/error.h"

namespace gradus {

namespace detail {

// The message of an exception. REQUIRES: it is not null.
inline std::string text_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& known) {
    return known.what();
  } catch (...) {
    return "an exception of an unknown type";
  }
}

}  // namespace detail

// Throws the exception with `context` behind its message. One of another library becomes an Error
// that holds it.
[[noreturn]] inline void rethrow_with(const std::exception_ptr& error, const std::string& context) {
  try {
    std::rethrow_exception(error);
  } catch (Error& known) {
    known.add_context(context);
    throw;
  } catch (...) {
    std::throw_with_nested(Error(detail::text_of(error) + context));
  }
}

namespace detail {
template <class E>
void throw_if(const Error& error, const std::string& message) {
  if (dynamic_cast<const E*>(&error)) throw E(message);
}
}  // namespace detail

// Runs f. Errors of the library get `name` and a colon before their messages.
template <class F>
void named(const std::string& name, const F& f) {
  try {
    f();
  } catch (const Error& error) {
    const std::string message = name + ": " + error.msg();
    detail::throw_if<IndexError>(error, message);
    detail::throw_if<ValueError>(error, message);
    detail::throw_if<TypeError>(error, message);
    detail::throw_if<NotImplementedError>(error, message);
    detail::throw_if<LinAlgError>(error, message);
    detail::throw_if<OutOfMemoryError>(error, message);
    throw Error(message);
  }
}

}  // namespace gradus
