// NumPy's files: .npy holds one array, .npz several by name.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "gradus/tensor/tensor.h"

namespace gradus::data {

// Reads what numpy.save wrote, of the dtypes bool, uint8, int8 to int64, float16 to float64, in
// either order of bytes and of dimensions. Errors: Error where the file cannot be read;
// NotImplementedError for another dtype, such as pickled objects; ValueError where the header is
// wrong, data are missing or left over.
Tensor load_npy(const std::string& path);
// The same from memory; `name` stands for the file in messages.
Tensor parse_npy(ArrayRef<uint8_t> file, std::string_view name);

// Reads what numpy.savez or savez_compressed wrote: its arrays by name. Errors: as load_npy, and
// ValueError for a damaged zip file.
std::map<std::string, Tensor> load_npz(const std::string& path);
std::map<std::string, Tensor> parse_npz(ArrayRef<uint8_t> file, std::string_view name);

}  // namespace gradus::data
