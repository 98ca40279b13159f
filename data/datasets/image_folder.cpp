// Finding and reading the pictures of a folder.
#include "gradus/data/datasets/image_folder.h"

#include <algorithm>
#include <filesystem>

#include "gradus/autograd/functions.h"
#include "gradus/tensor/factories.h"

namespace gradus::data::datasets {

namespace {

// Names of a folder's entries of which `take` is true, sorted.
template <class Take>
std::vector<std::string> names_in(const std::filesystem::path& folder, const Take& take) {
  std::vector<std::string> out;
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator(folder, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    std::string name = entry->path().filename().string();
    if (!name.starts_with('.') && take(*entry)) out.push_back(std::move(name));
  }
  check<Error>(!error, "ImageFolder: ", folder.string(), ": ", error.message(),
               "; give a folder that can be read");
  std::sort(out.begin(), out.end());
  return out;
}

bool is_picture(const std::filesystem::directory_entry& entry) {
  std::string ending = entry.path().extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::error_code error;
  return (ending == ".png" || ending == ".jpg" || ending == ".jpeg") &&
         entry.is_regular_file(error);
}

}  // namespace

ImageFolder::ImageFolder(const std::string& root, ImageMode mode) : mode_(mode) {
  classes_ = names_in(root, [](const auto& entry) {
    std::error_code error;
    return entry.is_directory(error);
  });
  check<Error>(!classes_.empty(), "ImageFolder: ", root,
               " holds no folders, expected one for each class; put the pictures into such");
  for (size_t i = 0; i < classes_.size(); ++i) {
    const std::filesystem::path folder = std::filesystem::path(root) / classes_[i];
    const std::vector<std::string> names = names_in(folder, is_picture);
    check<Error>(!names.empty(), "ImageFolder: ", folder.string(),
                 " holds no .png, .jpg or .jpeg file; put some there, or remove it");
    for (const auto& name : names)
      files_.push_back({(folder / name).string(), static_cast<int64_t>(i)});
  }
}

Example<> ImageFolder::get(size_t index) {
  check<IndexError>(index < files_.size(), "ImageFolder: index ", index, " of ", files_.size(),
                    " pictures; count from 0");
  const File& file = files_[index];
  return {data::detail::read_image("ImageFolder", file.path, mode_).to(kFloat).div(255),
          tensor(file.target)};
}

Tensor ImageFolder::targets() const {
  const Tensor out = empty({static_cast<int64_t>(files_.size())}, kLong);
  std::transform(files_.begin(), files_.end(), out.data_ptr<int64_t>(),
                 [](const File& file) { return file.target; });
  return out;
}

}  // namespace gradus::data::datasets
