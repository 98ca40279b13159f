// The text of a safetensors file's header: JSON, of which it needs strings, whole numbers, lists
// and objects.
#include <limits>

#include "core/model.h"

namespace course {
namespace {

class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text) {}

  Header header() {
    Header out;
    members([&](const std::string& name) {
      if (name == "__metadata__")
        members([&](const std::string& key) { out.metadata[key] = string(); });
      else
        out.entries.push_back(entry(name));
    });
    blanks();
    if (at_ < text_.size()) refuse("something follows the last bracket");
    return out;
  }
  long whole() {
    blanks();
    const size_t start = at_;
    long value = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      const long digit = text_[at_] - '0';
      if (value > (std::numeric_limits<long>::max() - digit) / 10) refuse("a number is too large");
      value = value * 10 + digit;
    }
    if (at_ == start) refuse("a whole number is expected");
    return value;
  }
  bool at_end() const { return at_ == text_.size(); }

 private:
  Entry entry(const std::string& name) {
    Entry out{name, "", {}, -1, -1};
    bool shaped = false;
    members([&](const std::string& key) {
      if (key == "dtype") {
        out.dtype = string();
      } else if (key == "shape") {
        shaped = true;
        list([&] { out.shape.push_back(whole()); });
      } else if (key == "data_offsets") {
        Dims places;
        list([&] { places.push_back(whole()); });
        if (places.size() != 2) refuse("data_offsets has not two numbers");
        out.begin = places[0], out.end = places[1];
      } else {
        refuse("a tensor has '" + key + "'");
      }
    });
    if (out.dtype.empty() || !shaped || out.begin < 0)
      refuse("'" + name + "' lacks dtype, shape or data_offsets");
    return out;
  }
  template <class Each>
  void members(Each each) {
    several('{', '}', [&] {
      const std::string key = string();
      expect(':');
      each(key);
    });
  }
  template <class Each>
  void list(Each each) {
    several('[', ']', each);
  }
  template <class Each>
  void several(char first, char last, Each each) {
    expect(first);
    if (found(last)) return;
    do each();
    while (found(','));
    expect(last);
  }
  std::string string() {
    expect('"');
    std::string out;
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') {
        const bool plain =
            ++at_ < text_.size() && std::string("\"\\/").find(text_[at_]) != std::string::npos;
        if (!plain) refuse("a string has a mark that no name needs");
      }
      out += text_[at_];
    }
    if (at_ == text_.size()) refuse("a string has no end");
    ++at_;
    return out;
  }
  void blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool found(char each) {
    blanks();
    if (at_ == text_.size() || text_[at_] != each) return false;
    ++at_;
    return true;
  }
  void expect(char each) {
    if (!found(each)) refuse(std::string("'") + each + "' is expected");
  }
  [[noreturn]] void refuse(const std::string& why) const {
    throw std::invalid_argument("parse_header: at byte " + std::to_string(at_) + ": " + why);
  }

  const std::string& text_;
  size_t at_ = 0;
};

}  // namespace

Header parse_header(const std::string& text) { return Reader(text).header(); }

const Entry& Header::entry(const std::string& name) const {
  for (const Entry& each : entries)
    if (each.name == name) return each;
  throw std::invalid_argument("the file has no tensor " + name);
}

long Header::number(const std::string& name) const {
  const auto found = metadata.find(name);
  if (found == metadata.end())
    throw std::invalid_argument("the metadata of the file have no " + name);
  Reader reader(found->second);
  const long value = reader.whole();
  if (!reader.at_end())
    throw std::invalid_argument("the metadata of the file: " + name + " is no whole number");
  return value;
}

}  // namespace course
