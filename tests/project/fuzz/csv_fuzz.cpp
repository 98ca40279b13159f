// Any bytes as a table of CSV: an Error, or columns of as many values as there are rows.
#include <cstdlib>

#include "gradus/data/readers/csv.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count) {
  try {
    const auto table =
        gradus::data::parse_csv({reinterpret_cast<const char*>(bytes), count}, "input");
    for (const auto& column : table.columns())
      if (static_cast<int64_t>(table.text(column).size()) != table.rows()) std::abort();
  } catch (const gradus::Error&) {
  }
  return 0;
}
