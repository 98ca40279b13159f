// Task 8.1: byte-pair encoding: merges are learned from a text, and turn texts into tokens and
// back.
#include <map>
#include <queue>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "core/language.h"

namespace course {

std::vector<Merge> train_bpe(const std::string& text, int count) {
  // BEGIN SOLUTION 8.1
  std::vector<int> tokens;
  for (const char each : text) tokens.push_back(static_cast<unsigned char>(each));
  std::vector<Merge> merges;
  while (static_cast<int>(merges.size()) < count) {
    std::map<std::pair<int, int>, long> places;
    for (size_t i = 0; i + 1 < tokens.size(); ++i) ++places[{tokens[i], tokens[i + 1]}];
    long most = 1;
    std::pair<int, int> best;
    for (const auto& [pair, number] : places)
      if (number > most) most = number, best = pair;
    if (most < 2) break;
    const int token = 256 + static_cast<int>(merges.size());
    merges.push_back({best.first, best.second});
    size_t kept = 0;
    for (size_t i = 0; i < tokens.size(); ++i) {
      const bool found =
          i + 1 < tokens.size() && tokens[i] == best.first && tokens[i + 1] == best.second;
      tokens[kept++] = found ? token : tokens[i];
      i += found;
    }
    tokens.resize(kept);
  }
  return merges;
  // END SOLUTION 8.1
}

std::vector<int> encode(const MergeTable& merges, const std::string& text) {
  // BEGIN SOLUTION 8.1
  // A list of tokens, in which a merge changes one place and takes another out.
  constexpr size_t kNone = static_cast<size_t>(-1);
  const size_t size = text.size();
  std::vector<int> tokens;
  std::vector<size_t> before, behind;
  for (size_t i = 0; i < size; ++i) {
    tokens.push_back(static_cast<unsigned char>(text[i]));
    before.push_back(i > 0 ? i - 1 : kNone);
    behind.push_back(i + 1 < size ? i + 1 : kNone);
  }
  // Merges that were found: token, place, and the pair that stood there. The smallest comes first.
  using Found = std::tuple<int, size_t, int, int>;
  std::priority_queue<Found, std::vector<Found>, std::greater<>> waiting;
  const auto look = [&](size_t i) {
    if (i == kNone || behind[i] == kNone) return;
    const int left = tokens[i], right = tokens[behind[i]], token = merges.find(left, right);
    if (token >= 0) waiting.emplace(token, i, left, right);
  };
  for (size_t i = 0; i < size; ++i) look(i);
  while (!waiting.empty()) {
    const auto [token, i, left, right] = waiting.top();
    waiting.pop();
    const size_t next = behind[i];
    if (tokens[i] != left || next == kNone || tokens[next] != right)
      continue;  // it has changed since
    tokens[i] = token;
    tokens[next] = -1;
    behind[i] = behind[next];
    if (behind[i] != kNone) before[behind[i]] = i;
    look(before[i]);
    look(i);
  }
  std::vector<int> out;
  for (const int each : tokens)
    if (each >= 0) out.push_back(each);
  return out;
  // END SOLUTION 8.1
}

std::string decode(const std::vector<Merge>& merges, const std::vector<int>& tokens) {
  // BEGIN SOLUTION 8.1
  std::string text;
  for (const int each : tokens) {
    if (each < 0 || each >= 256 + static_cast<int>(merges.size()))
      throw std::out_of_range("decode: there is no token " + std::to_string(each));
    for (std::vector<int> waiting{each}; !waiting.empty();) {
      const int token = waiting.back();
      waiting.pop_back();
      if (token < 256) {
        text += static_cast<char>(token);
        continue;
      }
      const Merge& merge = merges[static_cast<size_t>(token - 256)];
      waiting.push_back(merge.right);
      waiting.push_back(merge.left);
    }
  }
  return text;
  // END SOLUTION 8.1
}

}  // namespace course
