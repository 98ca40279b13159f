// Task 8.1, another way: pairs are sorted to count them, a merge takes all its places in one round,
// and decoding has a table of texts.
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "core/language.h"

namespace course {

namespace {

using Pair = std::pair<int, int>;

std::vector<int> bytes_of(const std::string& text) {
  std::vector<int> out(text.size());
  std::transform(text.begin(), text.end(), out.begin(), [](char c) { return c & 255; });
  return out;
}

}  // namespace

std::vector<Merge> train_bpe(const std::string& text, int count) {
  auto tokens = bytes_of(text);
  std::vector<Merge> merges;
  for (int made = 0; made < count; ++made) {
    std::vector<Pair> pairs;
    for (size_t i = 1; i < tokens.size(); ++i) pairs.emplace_back(tokens[i - 1], tokens[i]);
    std::sort(pairs.begin(), pairs.end());
    Pair best;
    long most = 1;
    for (auto at = pairs.begin(); at != pairs.end();) {
      const auto end = std::upper_bound(at, pairs.end(), *at);
      if (end - at > most) most = end - at, best = *at;
      at = end;
    }
    if (most == 1) return merges;
    merges.push_back({best.first, best.second});
    std::vector<int> next;
    for (size_t i = 0; i < tokens.size(); ++i)
      if (i + 1 < tokens.size() && Pair(tokens[i], tokens[i + 1]) == best)
        next.push_back(256 + made), ++i;
      else
        next.push_back(tokens[i]);
    tokens = std::move(next);
  }
  return merges;
}

std::vector<int> encode(const MergeTable& merges, const std::string& text) {
  auto tokens = bytes_of(text);
  if (tokens.size() < 2) return tokens;
  constexpr int none = 1 << 30;
  const auto ask = [&](int left, int right) {
    const int token = merges.find(left, right);
    return token < 0 ? none : token;
  };
  std::vector<int> found(tokens.size(), none);  // of each token with the one behind it
  for (size_t i = 0; i + 1 < tokens.size(); ++i) found[i] = ask(tokens[i], tokens[i + 1]);
  for (;;) {
    const int token = *std::min_element(found.begin(), found.end());
    if (token == none) return tokens;
    size_t to = 0;
    for (size_t i = 0; i < tokens.size(); ++i) {
      const bool joined = found[i] == token;
      const int next = joined ? found[i + 1] : found[i];
      tokens[to] = joined ? token : tokens[i];
      found[to] = next;
      i += joined;
      if (joined) found[to] = -2;  // asked below
      if (joined && to > 0 && found[to - 1] >= 0) found[to - 1] = -2;
      ++to;
    }
    tokens.resize(to), found.resize(to);
    for (size_t i = 0; i < to; ++i)
      if (found[i] == -2) found[i] = i + 1 < to ? ask(tokens[i], tokens[i + 1]) : none;
  }
}

std::string decode(const std::vector<Merge>& merges, const std::vector<int>& tokens) {
  std::vector<std::string> texts;
  for (int i = 0; i < 256; ++i) texts.emplace_back(1, static_cast<char>(i));
  for (const auto& [left, right] : merges)
    texts.push_back(texts.at(static_cast<size_t>(left)) + texts.at(static_cast<size_t>(right)));
  std::string out;
  for (const int each : tokens) out += texts.at(static_cast<size_t>(each));
  return out;
}

}  // namespace course
