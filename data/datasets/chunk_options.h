// ChunkDataReader and ChunkDatasetOptions: what a ChunkDataset reads, and how.
#pragma once

#include <cstddef>
#include <vector>

#include "gradus/tensor/base/error.h"

namespace gradus::data::datasets {

// Reads pieces of a data set that is too large for memory, such as files of it.
template <class Example, class Chunk = std::vector<Example>>
class ChunkDataReader {
 public:
  using ExampleType = Example;
  using ChunkType = Chunk;
  virtual ~ChunkDataReader() = default;

  // Several preloaders call it at once.
  virtual ChunkType read_chunk(size_t chunk_index) = 0;
  virtual size_t chunk_count() = 0;
  // Begins an epoch.
  virtual void reset() = 0;
};

class ChunkDatasetOptions {
 public:
  // Threads that read ahead; the size of batches; examples to keep, before readers wait; chunks
  // whose examples are mixed. Errors: ValueError for a 0, and for a cache that is smaller than a
  // batch.
  ChunkDatasetOptions(size_t preloader_count, size_t batch_size, size_t cache_size = 2048,
                      size_t cross_chunk_shuffle_count = 1)
      : preloader_count_(preloader_count),
        batch_size_(batch_size),
        cache_size_(cache_size),
        cross_chunk_shuffle_count_(cross_chunk_shuffle_count) {
    check(preloader_count > 0,
          "Preloader count is 0. At least one preloader needs to be specified.");
    check(batch_size > 0, "Batch size is 0. A positive batch size needs to be specified.");
    check(cache_size > 0, "Cache size is 0. A positive cache size needs to be specified.");
    check(cache_size >= batch_size,
          "Cache size is less than batch size. Cache needs to be large enough to hold at least one "
          "batch.");
    check(cross_chunk_shuffle_count > 0, "cross_chunk_shuffle_count needs to be greater than 0.");
  }

  size_t preloader_count() const { return preloader_count_; }
  size_t batch_size() const { return batch_size_; }
  size_t cache_size() const { return cache_size_; }
  size_t cross_chunk_shuffle_count() const { return cross_chunk_shuffle_count_; }

 private:
  size_t preloader_count_, batch_size_, cache_size_, cross_chunk_shuffle_count_;
};

}  // namespace gradus::data::datasets
