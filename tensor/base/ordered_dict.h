// OrderedDict: values by key, as libtorch's.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gradus/tensor/base/error.h"

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
    const Value& operator*() const { return pair_.second; }
    Value* operator->() { return &pair_.second; }
    const Value* operator->() const { return &pair_.second; }

   private:
    std::pair<Key, Value> pair_;
  };

  OrderedDict() = default;
  // key_description: the name of a key in errors.
  explicit OrderedDict(std::string key_description)
      : key_description_(std::move(key_description)) {}
  // Errors: ValueError where a key occurs twice.
  OrderedDict(std::initializer_list<Item> items) {
    for (const Item& item : items) insert(item.key(), item.value());
  }

  // Errors: ValueError where the key is there already.
  template <class K, class V>
  Value& insert(K&& key, V&& value) {
    return insert(Key(std::forward<K>(key)), Value(std::forward<V>(value)));
  }
  Value& insert(Key key, Value value) {
    check(index_.emplace(key, items_.size()).second, key_description_, " '", key,
          "' already defined; use another name");
    items_.emplace_back(std::move(key), std::move(value));
    return items_.back().value();
  }
  // All items of other, in its order. Errors: ValueError where one of its keys is there already,
  // and nothing is added then.
  void update(const OrderedDict& other) {
    OrderedDict both = *this;
    for (const Item& item : other) both.insert(item.key(), item.value());
    *this = std::move(both);
  }
  // Complexity: linear. Errors: ValueError where there is no such key.
  void erase(const Key& key) {
    const size_t place = place_of(key);
    items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(place));
    index_.erase(key);
    for (auto& [name, i] : index_) i -= i > place;
  }
  void clear() {
    items_.clear();
    index_.clear();
  }

  Value* find(const Key& key) {
    const auto found = index_.find(key);
    return found == index_.end() ? nullptr : &items_[found->second].value();
  }
  const Value* find(const Key& key) const { return const_cast<OrderedDict*>(this)->find(key); }
  bool contains(const Key& key) const { return find(key) != nullptr; }
  // Errors: ValueError where there is no such key.
  Value& operator[](const Key& key) { return items_[place_of(key)].value(); }
  const Value& operator[](const Key& key) const { return items_[place_of(key)].value(); }
  // The item at a place. Errors: IndexError beyond the last one.
  Item& operator[](size_t place) { return items_[checked(place)]; }
  const Item& operator[](size_t place) const { return items_[checked(place)]; }
  // Errors: IndexError where there is none.
  Item& front() { return check_some("front"), items_.front(); }
  const Item& front() const { return check_some("front"), items_.front(); }
  Item& back() { return check_some("back"), items_.back(); }
  const Item& back() const { return check_some("back"), items_.back(); }

  const std::string& key_description() const { return key_description_; }
  size_t size() const { return items_.size(); }
  bool is_empty() const { return items_.empty(); }
  void reserve(size_t count) { items_.reserve(count); }
  const std::vector<Item>& items() const { return items_; }
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
  std::vector<std::pair<Key, Value>> pairs() const {
    std::vector<std::pair<Key, Value>> out;
    for (const Item& item : items_) out.push_back(item.pair());
    return out;
  }
  auto begin() { return items_.begin(); }
  auto end() { return items_.end(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }

 private:
  size_t place_of(const Key& key) const {
    const auto found = index_.find(key);
    check(found != index_.end(), key_description_, " '", key,
          "' is not defined; items() lists what is");
    return found->second;
  }
  size_t checked(size_t place) const {
    check<IndexError>(place < size(), "OrderedDict: item ", place, " of ", size());
    return place;
  }
  void check_some(const char* end) const {
    check<IndexError>(!is_empty(), "Called ", end, "() on an empty OrderedDict");
  }

  std::string key_description_ = "Key";
  std::vector<Item> items_;
  std::unordered_map<Key, size_t> index_;
};

}  // namespace gradus
