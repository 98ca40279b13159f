// Finding and reading the pictures of a folder.
#include "gradus/data/datasets/image_folder.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <filesystem>
#include <mutex>

#include "gradus/autograd/functions.h"
#include "gradus/tensor/base/thread.h"
#include "gradus/tensor/base/threads.h"
#include "gradus/tensor/base/warning.h"
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

ImageFolder::ImageFolder(const std::string& root, ImageMode mode, bool skip_corrupt) : mode_(mode) {
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
  if (skip_corrupt) leave_out_corrupt(root);
}

void ImageFolder::leave_out_corrupt(const std::string& root) {
  std::vector<std::string> reasons(files_.size());  // empty: the picture can be read
  std::atomic<size_t> next = 0;
  std::exception_ptr failure;
  std::mutex mutex;
  const auto read_some = [&] {
    for (size_t i = next++; i < files_.size(); i = next++) try {
        data::detail::read_image("ImageFolder", files_[i].path, mode_);
      } catch (const ValueError& error) {
        reasons[i] = error.msg();
      } catch (const NotImplementedError& error) {
        reasons[i] = error.msg();
      } catch (...) {  // a file that cannot be opened, or no memory
        const std::lock_guard lock(mutex);
        failure = std::current_exception();
        next = files_.size();
      }
  };
  {
    std::vector<gradus::detail::Thread> threads;
    for (int i = 1; i < get_num_threads(); ++i) threads.emplace_back("ImageFolder", read_some);
    read_some();
  }
  if (failure) std::rethrow_exception(failure);
  std::vector<File> good;
  std::string text;
  for (size_t i = 0; i < files_.size(); ++i) {
    if (reasons[i].empty()) {
      good.push_back(files_[i]);
      continue;
    }
    constexpr size_t kMostNamed = 5;
    if (skipped_.size() < kMostNamed) text += "\n  " + reasons[i];
    skipped_.push_back(files_[i].path);
  }
  check<Error>(!good.empty(), "ImageFolder: ", root, " holds no picture that can be read:", text);
  if (!skipped_.empty())
    warn("ImageFolder: " + root + ": " + std::to_string(skipped_.size()) + " of " +
         std::to_string(files_.size()) + " pictures are left out, as skip_corrupt says:" + text);
  files_ = std::move(good);
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
