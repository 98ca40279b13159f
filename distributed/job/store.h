// Store: values by key that all ranks of a job share, with PyTorch's names. The ranks of a job find
// each other through a store.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace gradus::distributed {

class Store {
 public:
  explicit Store(std::chrono::milliseconds timeout) : timeout_(timeout) {}
  virtual ~Store() = default;

  virtual void set(const std::string& key, const std::string& value) = 0;
  // Waits for the key. Errors: Error, which names the key, where it does not come in time.
  virtual std::string get(const std::string& key) = 0;
  // Adds to the number at the key, which begins as 0, and returns the sum.
  // Errors: ValueError where the value is no number.
  virtual int64_t add(const std::string& key, int64_t amount) = 0;
  // Sets the key to `desired` where its value is `expected`, or where there is none and `expected`
  // is empty. Returns the value that is there afterwards; `expected` where there is none.
  virtual std::string compare_set(const std::string& key, const std::string& expected,
                                  const std::string& desired) = 0;
  // Waits for all keys. Errors: as get.
  virtual void wait(const std::vector<std::string>& keys, std::chrono::milliseconds timeout) = 0;
  void wait(const std::vector<std::string>& keys) { wait(keys, timeout()); }
  // Whether all keys are there.
  virtual bool check(const std::vector<std::string>& keys) = 0;
  // Whether the key was there.
  virtual bool delete_key(const std::string& key) = 0;
  virtual int64_t num_keys() = 0;

  std::chrono::milliseconds timeout() const { return timeout_; }
  void set_timeout(std::chrono::milliseconds timeout) { timeout_ = timeout; }

 private:
  std::chrono::milliseconds timeout_;
};

// The values of a store and the operations on them. The owner of the table provides locking and
// waiting.
class KeyTable {
 public:
  void set(const std::string& key, std::string value) { values_[key] = std::move(value); }
  const std::string* find(const std::string& key) const;
  bool contains(const std::vector<std::string>& keys) const;
  int64_t add(const std::string& key, int64_t amount);
  std::string compare_set(const std::string& key, const std::string& expected,
                          const std::string& desired);
  bool erase(const std::string& key) { return values_.erase(key) > 0; }
  size_t size() const { return values_.size(); }

 private:
  std::map<std::string, std::string> values_;
};

// A store for ranks that are threads of one process.
class HashStore final : public Store {
 public:
  explicit HashStore(std::chrono::milliseconds timeout = std::chrono::minutes(1))
      : Store(timeout) {}
  using Store::wait;
  void set(const std::string& key, const std::string& value) override;
  std::string get(const std::string& key) override;
  int64_t add(const std::string& key, int64_t amount) override;
  std::string compare_set(const std::string& key, const std::string& expected,
                          const std::string& desired) override;
  void wait(const std::vector<std::string>& keys, std::chrono::milliseconds timeout) override;
  bool check(const std::vector<std::string>& keys) override;
  bool delete_key(const std::string& key) override;
  int64_t num_keys() override;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  KeyTable table_;
};

// "[a, b]"
std::string joined(const std::vector<std::string>& keys);

}  // namespace gradus::distributed
