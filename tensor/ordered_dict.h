// OrderedDict: values by key, as libtorch's.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gradus/tensor/error.h"

namespace gradus {

// Values by name, in the order in which they were added.
template <class Key, class Value>
class OrderedDict {
 public:
  class Item {
   public:
    Item(Key key, Value value) : pair_(std::move(key), std::move(value)) {}
    const Key& key() const { return pair_.first; }
    Value& value() { return pair_.second; }
    const Value& value() const { return pair_.second; }
    const std::pair<Key, Value>& pair() const { return pair_; }
    Value& operator*() { return pair_.second; }
    Value* operator->() { return &pair_.second; }

   private:
    std::pair<Key, Value> pair_;
  };

  // Errors: ValueError where the key is there already.
  Value& insert(Key key, Value value) {
    check(index_.emplace(key, items_.size()).second, "OrderedDict: key '", key,
          "' is there already; use another name");
    items_.emplace_back(std::move(key), std::move(value));
    return items_.back().value();
  }
  Value* find(const Key& key) {
    const auto found = index_.find(key);
    return found == index_.end() ? nullptr : &items_[found->second].value();
  }
  const Value* find(const Key& key) const { return const_cast<OrderedDict*>(this)->find(key); }
  bool contains(const Key& key) const { return find(key) != nullptr; }
  // Errors: ValueError where there is no such key.
  Value& operator[](const Key& key) {
    Value* value = find(key);
    check(value != nullptr, "OrderedDict: there is no key '", key, "'");
    return *value;
  }
  const Value& operator[](const Key& key) const { return (*const_cast<OrderedDict*>(this))[key]; }
  size_t size() const { return items_.size(); }
  bool is_empty() const { return items_.empty(); }
  std::vector<Key> keys() const {
    std::vector<Key> out;
    for (const Item& item : items_) out.push_back(item.key());
    return out;
  }
  std::vector<Value> values() const {
    std::vector<Value> out;
    for (const Item& item : items_) out.push_back(item.value());
    return out;
  }
  auto begin() { return items_.begin(); }
  auto end() { return items_.end(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }

 private:
  std::vector<Item> items_;
  std::unordered_map<Key, size_t> index_;
};

}  // namespace gradus
