// Module 8: what stands around a transformer that writes text, for extra points: its tokens, what it
// remembers of the text so far, and the choice of the next token. All of it runs on the CPU.
#pragma once

#include <string>
#include <vector>

#include "core/transformer.h"

namespace course {

// Tokens 0 ... 255 are the bytes. Token 256 + i is merges[i]: its left part, then its right part,
// which are tokens of smaller numbers.
struct Merge {
  int left = 0, right = 0;
};

// Task 8.1, in three parts.
// Learns at most `count` merges from a text, which is its bytes at first. Each merge is the pair of
// neighbouring tokens that stands at most places: of several such pairs, the one of the smallest
// left part, and of these the one of the smallest right part. Places may overlap: "aaa" has the
// pair of a and a at two. Then the places of the pair become its token, from left to right: in
// "aaa" the first two letters. Learning ends where no pair stands at two places.
std::vector<Merge> train_bpe(const std::string& text, int count);

// Merges that are looked up.
struct MergeTable {
  virtual int find(int left, int right) const = 0;  // the token of this pair, or -1: there is none

 protected:
  ~MergeTable() = default;
};
// The tokens of a text: its bytes, in which each merge took all its places from left to right, one
// merge after the other in the order of their numbers. Calls find() at most 8 times for each byte.
std::vector<int> encode(const MergeTable& merges, const std::string& text);

// The text of these tokens.
// Errors: std::out_of_range where a token is neither a byte nor one of the merges.
std::string decode(const std::vector<Merge>& merges, const std::vector<int>& tokens);

}  // namespace course
