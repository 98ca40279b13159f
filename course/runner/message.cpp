// Message: reading and writing it.
#include "runner/message.h"

#include <unistd.h>

#include <cstring>
#include <stdexcept>

namespace {

bool read_all(int file, void* to, size_t size) {
  auto at = static_cast<char*>(to);
  while (size > 0) {
    const ssize_t n = ::read(file, at, size);
    if (n <= 0) return false;
    at += n, size -= static_cast<size_t>(n);
  }
  return true;
}

void write_all(int file, const void* from, size_t size) {
  auto at = static_cast<const char*>(from);
  while (size > 0) {
    const ssize_t n = ::write(file, at, size);
    if (n <= 0) throw std::runtime_error("the judge does not listen");
    at += n, size -= static_cast<size_t>(n);
  }
}

template <class T>
std::vector<T> list(const std::string& bytes) {
  std::vector<T> out(bytes.size() / sizeof(T));
  if (!out.empty()) std::memcpy(out.data(), bytes.data(), out.size() * sizeof(T));
  return out;
}

std::string length_of(size_t size) {
  const auto length = static_cast<uint32_t>(size);
  return std::string(reinterpret_cast<const char*>(&length), sizeof length);
}

}  // namespace

const Message::Value& Message::get(const std::string& name, char type) const {
  const auto at = values_.find(name);
  // An empty list of Python's has no type of its own.
  if (at == values_.end() || (at->second.type != type && !at->second.bytes.empty()))
    throw std::logic_error("the test sent no '" + name + "' of type " + type);
  return at->second;
}

std::vector<float> Message::floats(const std::string& name) const { return list<float>(get(name, 'f').bytes); }
std::vector<long> Message::longs(const std::string& name) const { return list<long>(get(name, 'l').bytes); }
long Message::number(const std::string& name) const { return longs(name).at(0); }
float Message::real(const std::string& name) const { return floats(name).at(0); }
std::string Message::text(const std::string& name) const { return get(name, 's').bytes; }

void Message::floats(const std::string& name, const std::vector<float>& value) {
  values_[name] = {'f', {reinterpret_cast<const char*>(value.data()), value.size() * sizeof(float)}};
}
void Message::longs(const std::string& name, const std::vector<long>& value) {
  values_[name] = {'l', {reinterpret_cast<const char*>(value.data()), value.size() * sizeof(long)}};
}
void Message::text(const std::string& name, const std::string& value) { values_[name] = {'s', value}; }

bool Message::read(int file, Message& out) {
  out.values_.clear();
  uint32_t count = 0, length = 0;
  if (!read_all(file, &count, sizeof count)) return false;
  for (; count > 0; --count) {
    if (!read_all(file, &length, sizeof length)) return false;
    std::string name(length, 0);
    Value value;
    if (!read_all(file, name.data(), length) || !read_all(file, &value.type, 1) ||
        !read_all(file, &length, sizeof length))
      return false;
    value.bytes.resize(length);
    if (!read_all(file, value.bytes.data(), length)) return false;
    out.values_[name] = value;
  }
  return true;
}

void Message::write(int file) const {
  std::string all = length_of(values_.size());
  for (const auto& [name, value] : values_) {
    all += length_of(name.size()) + name + value.type + length_of(value.bytes.size());
    all += value.bytes;
  }
  write_all(file, all.data(), all.size());
}
