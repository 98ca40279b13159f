// Runs every block of the documents, and reports those that do something else than the document
// says.
#include "blocks.h"

#include <iostream>
#include <sstream>
#include <string>

namespace gradus_docs {
namespace {

int blocks = 0, failures = 0;

void report(std::string_view where, const std::string& problem) {
  ++failures;
  std::cerr << where << ": " << problem << '\n';
}

// What the block prints. Errors: those of the block.
std::string printed_by(const Function& block) {
  ++blocks;
  std::ostringstream out;
  std::streambuf* const before = std::cout.rdbuf(out.rdbuf());
  try {
    block();
  } catch (...) {
    std::cout.rdbuf(before);
    throw;
  }
  std::cout.rdbuf(before);
  return out.str();
}

}  // namespace

void expect(std::string_view where, const Function& block, const char* output) {
  try {
    const std::string printed = printed_by(block);
    if (output && printed != output)
      report(where, "it prints\n" + printed + "and the document says\n" + output);
  } catch (const std::exception& error) {
    report(where, std::string("it throws: ") + error.what());
  }
}

void expect_throw(std::string_view where, const Function& block, std::string_view text,
                  bool (*matches)(const std::exception&)) {
  try {
    printed_by(block);
    report(where, "it throws nothing");
  } catch (const std::exception& error) {
    if (!matches(error) || std::string_view(error.what()).find(text) == std::string_view::npos)
      report(where, std::string("it throws something else: ") + error.what());
  }
}

void check_status(int status) {
  gradus::check<gradus::Error>(status == 0, "the program returned ", status);
}

}  // namespace gradus_docs

int main() {
  gradus_docs::run_all();
  std::cout << gradus_docs::blocks << " blocks, " << gradus_docs::failures << " failures\n";
  return gradus_docs::failures ? 1 : 0;
}
