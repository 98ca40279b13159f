// Message: named values that the judge sends to a runner, and gets back.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

// On the wire: the number of values, then for each its name, its type ('f': float32, 'l': int64,
// 's': bytes), and its length and bytes. Numbers are little-endian, lengths are 32 bits.
class Message {
 public:
  std::vector<float> floats(const std::string& name) const;
  std::vector<long> longs(const std::string& name) const;
  long number(const std::string& name) const;   // a list of one
  float real(const std::string& name) const;    // a list of one
  std::string text(const std::string& name) const;
  bool has(const std::string& name) const { return values_.count(name) != 0; }

  void floats(const std::string& name, const std::vector<float>& value);
  void longs(const std::string& name, const std::vector<long>& value);
  void number(const std::string& name, long value) { longs(name, {value}); }
  void text(const std::string& name, const std::string& value);

  // False at the end of the input.
  static bool read(int file, Message& out);
  void write(int file) const;

 private:
  struct Value {
    char type = 's';
    std::string bytes;
  };
  const Value& get(const std::string& name, char type) const;
  std::map<std::string, Value> values_;
};
