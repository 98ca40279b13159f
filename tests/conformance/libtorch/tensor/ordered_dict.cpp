// OrderedDict: values by name and by place.
#include <torch/torch.h>

#include <iostream>
#include <string>

namespace {

using Dict = torch::OrderedDict<std::string, int>;

void print(const Dict& dict) {
  for (const auto& item : dict) std::cout << item.key() << '=' << item.value() << ' ';
  std::cout << "of " << dict.size() << '\n';
}

template <class F>
void refused(F f) {
  try {
    f();
    std::cout << "allowed\n";
  } catch (const c10::Error& error) {
    const std::string text = error.what_without_backtrace();
    for (const char* words : {"is not defined", "already defined", "Called front() on an empty"})
      if (text.find(words) != std::string::npos) std::cout << words << '\n';
  }
}

}  // namespace

int main() {
  Dict dict = {{"b", 2}, {"a", 1}};
  print(dict);
  dict.insert("c", 3) += 10;
  dict["a"] = 7;
  std::cout << dict[0].key() << *dict[1] << dict.front().value() << dict.back().value() << ' '
            << dict.contains("c") << dict.contains("d") << (dict.find("d") == nullptr) << '\n';
  dict.erase("b");
  print(dict);
  Dict other("Name");
  other.insert("z", 26);
  other.update(dict);
  print(other);
  std::cout << other.key_description() << ' ' << other.keys().size() << other.values()[0]
            << other.pairs()[1].first << other.items()[2].value() << '\n';
  refused([&] { other["y"]; });
  refused([&] { other.insert("a", 0); });
  refused([&] { other.update(dict); });
  print(other);
  dict.clear();
  refused([&] { dict.front(); });
  std::cout << dict.is_empty() << '\n';
}
