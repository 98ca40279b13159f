// The values of a pickle that torch.save wrote: tensors, numbers, texts, lists and dicts. Nothing
// of the file is run: the few functions that a state dict names are known here, any other is
// refused.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "gradus/serialize/safetensors.h"

namespace gradus::serialize {

struct PickleValue;

// Lists and tuples.
struct PickleList {
  std::vector<PickleValue*> items;
};
struct PickleDict {
  std::vector<std::pair<PickleValue*, PickleValue*>> items;
};
// A class or function by its name, such as torch.FloatStorage.
struct PickleGlobal {
  std::string name;
};
// All elements of a storage in a row.
struct PickleStorage {
  Tensor elements;
};

// std::monostate stands for None.
struct PickleValue {
  std::variant<std::monostate, bool, int64_t, double, std::string, PickleList, PickleDict, Tensor,
               PickleGlobal, PickleStorage>
      is;
};

// Values may be named in several places, even within themselves.
struct Pickle {
  std::deque<PickleValue> values;
  const PickleValue* root = nullptr;
};

// The elements of the storage that the file keeps under `key`.
using LoadStorage = std::function<Tensor(const std::string& key, ScalarType dtype, int64_t numel)>;

// Tensors of one storage share its memory. Messages begin with `name`: the function that the user
// called, and the file.
// Errors: ValueError for damaged bytes; NotImplementedError for what no state dict holds.
Pickle parse_pickle(ArrayRef<uint8_t> bytes, std::string_view name, const LoadStorage& load);

// The values of a pickle by their joined names, as load_pt says. Messages begin with `name`.
SafetensorsContents named_values(const Pickle& pickle, size_t pickle_bytes, std::string_view name);

}  // namespace gradus::serialize
