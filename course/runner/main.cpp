// The runner's process: answers each request of the judge by one call of the student's code.
#include <cxxabi.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <typeinfo>

#include "core/types.h"
#include "runner/memory.h"
#include "runner/observe.h"
#include "runner/runner.h"
#include "runner/sandbox.h"
#include "runner/where.h"

namespace {

constexpr int kRequests = 3, kReplies = 4;  // open files, which the judge hands over

std::string name_of(const std::type_info* type) {
  if (type == nullptr) return "what has no type";
  char* const readable = abi::__cxa_demangle(type->name(), nullptr, nullptr, nullptr);
  const std::string name = readable != nullptr ? readable : type->name();
  std::free(readable);
  return name;
}

// The names of what was thrown: its type, then those of Types that it is derived from.
template <class... Types>
std::string types_of(const std::exception& error) {
  std::string names = name_of(&typeid(error));
  ((names += dynamic_cast<const Types*>(&error) != nullptr ? "\n" + name_of(&typeid(Types)) : ""), ...);
  return names;
}

void answer(const Message& request, Message& reply) {
  std::string problem, text, types;
  {
    Observation observation;
    try {
      run(request, reply);
    } catch (const course::NotImplemented& error) {
      problem = "not implemented", text = error.what();
    } catch (const std::exception& error) {
      problem = "exception", text = error.what();
      types = types_of<std::invalid_argument, std::out_of_range, std::length_error, std::domain_error,
                       std::runtime_error>(error);
    } catch (...) {
      problem = "exception", text = "what was thrown is no std::exception";
      types = name_of(abi::__cxa_current_exception_type());
    }
    observation.report(reply);
  }
  reply.text("problem", problem);
  reply.text("problem text", text);
  reply.text("problem types", types);
}

}  // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IONBF, 0);  // what was printed is not lost when the process ends early
#ifndef COURSE_GPU
  Observation::prepare();
  tell_where();
  close_files();
#endif
  Message request;
  while (Message::read(kRequests, request)) {
    const long held = blocks_held != nullptr ? blocks_held() : 0;
    {
      Message reply;
      answer(request, reply);
      std::fflush(stdout);
      reply.write(kReplies);
    }
    // All that is left now is what the student's code did not give back.
    const long left = blocks_held != nullptr ? blocks_held() - held : 0;
    Message more;
    more.number("blocks left", left);
    more.write(kReplies);
  }
  return 0;
}
