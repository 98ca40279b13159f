// What the source of blocks.py calls: runs a block of a document, and compares what it prints or
// throws.
#pragma once

#include <gradus/gradus.h>

#include <functional>
#include <string_view>

namespace gradus_docs {

// Defined by the source that blocks.py writes.
void run_all();

using Function = std::function<void()>;
// Runs a block; `output` is all that it prints, or null where the document does not show it.
void expect(std::string_view where, const Function& block, const char* output);
// `matches` is true for an exception of the type that the document names.
void expect_throw(std::string_view where, const Function& block, std::string_view text,
                  bool (*matches)(const std::exception&));
template <class E>
void expect_throw(std::string_view where, const Function& block, std::string_view text) {
  expect_throw(where, block, text,
               [](const std::exception& e) { return dynamic_cast<const E*>(&e) != nullptr; });
}
// Errors: Error where a program's status says that it failed.
void check_status(int status);

}  // namespace gradus_docs
