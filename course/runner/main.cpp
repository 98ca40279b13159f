// The runner's process: answers each request of the judge by one call of the student's code.
#include <cstdio>
#include <exception>
#include <string>

#include "core/types.h"
#include "runner/observe.h"
#include "runner/runner.h"

namespace {

constexpr int kRequests = 3, kReplies = 4;  // open files, which the judge hands over

void answer(const Message& request, Message& reply) {
  std::string problem, text;
  {
    Observation observation;
    try {
      run(request, reply);
    } catch (const course::NotImplemented& error) {
      problem = "not implemented", text = error.what();
    } catch (const std::exception& error) {
      problem = "exception", text = error.what();
    } catch (...) {
      problem = "exception", text = "what was thrown is no std::exception";
    }
    observation.report(reply);
  }
  reply.text("problem", problem);
  reply.text("problem text", text);
}

}  // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // what was printed is not lost when the process ends early
  Message request;
  while (Message::read(kRequests, request)) {
    Message reply;
    answer(request, reply);
    std::fflush(stdout);
    reply.write(kReplies);
  }
  return 0;
}
