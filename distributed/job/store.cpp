// KeyTable and HashStore.
#include "gradus/distributed/job/store.h"

#include <charconv>

#include "gradus/distributed/job/monitor.h"
#include "gradus/tensor/base/error.h"

namespace gradus::distributed {

std::string joined(const std::vector<std::string>& keys) {
  std::string text = "[";
  for (size_t i = 0; i < keys.size(); ++i) text += (i > 0 ? ", " : "") + keys[i];
  return text + ']';
}

const std::string* KeyTable::find(const std::string& key) const {
  const auto at = values_.find(key);
  return at == values_.end() ? nullptr : &at->second;
}

bool KeyTable::contains(const std::vector<std::string>& keys) const {
  for (const std::string& key : keys)
    if (!values_.contains(key)) return false;
  return true;
}

int64_t KeyTable::add(const std::string& key, int64_t amount) {
  int64_t before = 0;
  if (const std::string* text = find(key)) {
    const char* end = text->data() + text->size();
    const auto [stop, error] = std::from_chars(text->data(), end, before);
    check(error == std::errc() && stop == end, "Store::add: the value of key '", key,
          "' is no number");
  }
  int64_t sum = 0;
  check(!__builtin_add_overflow(before, amount, &sum), "Store::add: ", before, " + ", amount,
        " at key '", key, "' exceeds 64 bits");
  set(key, std::to_string(sum));
  return sum;
}

std::string KeyTable::compare_set(const std::string& key, const std::string& expected,
                                  const std::string& desired) {
  const std::string* value = find(key);
  if (value ? *value == expected : expected.empty()) set(key, desired);
  value = find(key);
  return value ? *value : expected;
}

void HashStore::set(const std::string& key, const std::string& value) {
  const std::lock_guard lock(mutex_);
  table_.set(key, value);
  changed_.notify_all();
}

std::string HashStore::get(const std::string& key) {
  wait({key}, timeout());
  const std::lock_guard lock(mutex_);
  const std::string* value = table_.find(key);
  gradus::check<Error>(value != nullptr, "Store::get: key '", key,
                       "' was deleted while it was read");
  return *value;
}

int64_t HashStore::add(const std::string& key, int64_t amount) {
  const std::lock_guard lock(mutex_);
  const int64_t sum = table_.add(key, amount);
  changed_.notify_all();
  return sum;
}

std::string HashStore::compare_set(const std::string& key, const std::string& expected,
                                   const std::string& desired) {
  const std::lock_guard lock(mutex_);
  std::string value = table_.compare_set(key, expected, desired);
  changed_.notify_all();
  return value;
}

void HashStore::wait(const std::vector<std::string>& keys, std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  const bool there = changed_.wait_for(lock, timeout, [&] { return table_.contains(keys); });
  gradus::check<Error>(there, "Store::wait: keys ", joined(keys), " were not all set within ",
                       in_seconds(timeout), "; did every rank start?");
}

bool HashStore::check(const std::vector<std::string>& keys) {
  const std::lock_guard lock(mutex_);
  return table_.contains(keys);
}

bool HashStore::delete_key(const std::string& key) {
  const std::lock_guard lock(mutex_);
  return table_.erase(key);
}

int64_t HashStore::num_keys() {
  const std::lock_guard lock(mutex_);
  return static_cast<int64_t>(table_.size());
}

}  // namespace gradus::distributed
