// The exception family of the library, and `check`, which raises it.
//
// A message names the operation, the argument, what it was, what was expected, and one fix.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace gradus {

// Base of all exceptions of the library. Every tensor is what it was before the error. The base is
// std::runtime_error, since libtorch throws one for numbers that do not fit a type.
class Error : public std::runtime_error {
 public:
  explicit Error(std::string message) : std::runtime_error(""), message_(std::move(message)) {}
  const char* what() const noexcept override;
  const std::string& msg() const { return message_; }
  // Appends to the message. Functions that catch an error and rethrow it add what they know.
  void add_context(std::string_view text) { message_ += text; }
  const char* what_without_backtrace() const noexcept { return what(); }

 private:
  std::string message_;
};

// An index lies outside the dimension it indexes.
class IndexError : public Error {
  using Error::Error;
};
// A value or a shape is not acceptable.
class ValueError : public Error {
  using Error::Error;
};
// A dtype or a kind of argument is not acceptable.
class TypeError : public Error {
  using Error::Error;
};
// The operation exists in PyTorch, and not (yet) here, for this device, dtype or build.
class NotImplementedError : public Error {
  using Error::Error;
};
// A matrix that cannot be factored, inverted or solved with.
class LinAlgError : public Error {
  using Error::Error;
};
// A device has no room left.
class OutOfMemoryError : public Error {
  using Error::Error;
};

namespace detail {
inline void append(std::string& out, std::string_view text) { out += text; }
inline void append(std::string& out, const char* text) { out += text; }
inline void append(std::string& out, bool value) { out += value ? "true" : "false"; }
void append(std::string& out, double value);
void append_integer(std::string& out, long long value);
void append_integer(std::string& out, unsigned long long value);
template <class T>
requires std::is_integral_v<T>
void append(std::string& out, T value) {
  append_integer(out,
                 std::conditional_t<std::is_signed_v<T>, long long, unsigned long long>(value));
}

// A value in a message: where it is, and the append() of its type. So the code that joins a message
// is compiled once, and not for each of a thousand calls of fail().
class Part {
 public:
  Part(const char* text)
      : value_(text), append_([](std::string& out, const void* value) {
          out += static_cast<const char*>(value);
        }) {}
  template <class T>
  Part(const T& value)
      : value_(&value),
        append_([](std::string& out, const void* of) { append(out, *static_cast<const T*>(of)); }) {
  }
  void append_to(std::string& out) const { append_(out, value_); }

 private:
  const void* value_;
  void (*append_)(std::string& out, const void* value);
};
std::string joined(std::initializer_list<Part> parts);

template <class E>
[[noreturn, gnu::cold, gnu::noinline]] void raise(std::initializer_list<Part> parts) {
  throw E(joined(parts));
}
// Most files use these.
extern template void raise<Error>(std::initializer_list<Part>);
extern template void raise<IndexError>(std::initializer_list<Part>);
extern template void raise<ValueError>(std::initializer_list<Part>);
extern template void raise<TypeError>(std::initializer_list<Part>);
}  // namespace detail

// Throws E with the parts joined. A type with an `append(std::string&, const T&)` beside it, in its
// own namespace, can be a part.
template <class E = ValueError, class... Parts>
[[noreturn, gnu::cold, gnu::noinline]] void fail(const Parts&... parts) {
  detail::raise<E>({parts...});
}

// Throws E with the joined parts unless `ok`. The parts are only formatted on failure.
template <class E = ValueError, class... Parts>
inline void check(bool ok, const Parts&... parts) {
  if (!ok) [[unlikely]]
    fail<E>(parts...);
}

}  // namespace gradus
