// The questions and answers that the model of ./train chat learns.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace model {

struct Pair {
  std::string question, answer;
};

using Words = std::vector<std::string>;
using Both = std::vector<std::pair<std::string, std::string>>;

inline void add_facts(std::vector<Pair>& out) {
  const Both opposites = {
      {"hot", "cold"},   {"big", "small"},  {"up", "down"},   {"left", "right"},
      {"wet", "dry"},    {"fast", "slow"},  {"old", "new"},   {"open", "closed"},
      {"full", "empty"}, {"high", "low"},   {"hard", "soft"}, {"light", "dark"},
      {"rich", "poor"},  {"early", "late"}, {"happy", "sad"}, {"strong", "weak"},
      {"long", "short"}, {"first", "last"}, {"near", "far"},  {"day", "night"}};
  for (const auto& [a, b] : opposites)
    for (const auto& [x, y] : {std::pair(a, b), std::pair(b, a)})
      out.push_back(
          {"what is the opposite of " + x + "?", "the opposite of " + x + " is " + y + "."});
  const Both colours = {
      {"grass", "green"},  {"snow", "white"},      {"the sky", "blue"},    {"coal", "black"},
      {"blood", "red"},    {"a lemon", "yellow"},  {"a leaf", "green"},    {"milk", "white"},
      {"a rose", "red"},   {"the sun", "yellow"},  {"chocolate", "brown"}, {"an elephant", "grey"},
      {"a frog", "green"}, {"a carrot", "orange"}, {"the sea", "blue"},    {"a tomato", "red"}};
  for (const auto& [thing, colour] : colours) {
    out.push_back({"what colour is " + thing + "?", thing + " is " + colour + "."});
    out.push_back({"is " + thing + " " + colour + "?", "yes, " + thing + " is " + colour + "."});
  }
  const Both sounds = {{"cow", "moo"},   {"dog", "woof"},    {"cat", "meow"},    {"duck", "quack"},
                       {"sheep", "baa"}, {"horse", "neigh"}, {"pig", "oink"},    {"lion", "roar"},
                       {"bee", "buzz"},  {"frog", "croak"},  {"mouse", "squeak"}};
  for (const auto& [animal, sound] : sounds) {
    out.push_back({"what does a " + animal + " say?", "a " + animal + " says " + sound + "."});
    out.push_back({"who says " + sound + "?", "a " + animal + " says " + sound + "."});
  }
  const Both legs = {{"spider", "8"}, {"cow", "4"},   {"dog", "4"},   {"duck", "2"},
                     {"bee", "6"},    {"ant", "6"},   {"horse", "4"}, {"cat", "4"},
                     {"snake", "no"}, {"fish", "no"}, {"mouse", "4"}, {"hen", "2"}};
  for (const auto& [animal, number] : legs)
    out.push_back(
        {"how many legs has a " + animal + "?", "a " + animal + " has " + number + " legs."});
  const Both capitals = {{"france", "paris"},     {"germany", "berlin"},  {"italy", "rome"},
                         {"spain", "madrid"},     {"japan", "tokyo"},     {"china", "beijing"},
                         {"egypt", "cairo"},      {"greece", "athens"},   {"poland", "warsaw"},
                         {"austria", "vienna"},   {"norway", "oslo"},     {"sweden", "stockholm"},
                         {"cuba", "havana"},      {"portugal", "lisbon"}, {"ireland", "dublin"},
                         {"hungary", "budapest"}, {"kenya", "nairobi"},   {"denmark", "copenhagen"},
                         {"peru", "lima"},        {"canada", "ottawa"}};
  for (const auto& [country, city] : capitals) {
    out.push_back({"what is the capital of " + country + "?",
                   "the capital of " + country + " is " + city + "."});
    out.push_back({"where is " + city + "?", city + " is in " + country + "."});
  }
  const std::vector<Words> rows = {
      {"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"},
      {"january", "february", "march", "april", "may", "june", "july", "august", "september",
       "october", "november", "december"},
      {"spring", "summer", "autumn", "winter"}};
  for (const Words& row : rows)
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string &x = row[i], &y = row[(i + 1) % row.size()];
      out.push_back({"what comes after " + x + "?", y + " comes after " + x + "."});
      out.push_back({"what comes before " + y + "?", x + " comes before " + y + "."});
    }
}

inline void add_numbers(std::vector<Pair>& out) {
  const auto word = [](int n) { return std::to_string(n); };
  for (int a = 0; a <= 20; ++a) {
    out.push_back(
        {"what comes after " + word(a) + "?", word(a + 1) + " comes after " + word(a) + "."});
    if (a > 0)
      out.push_back(
          {"what comes before " + word(a) + "?", word(a - 1) + " comes before " + word(a) + "."});
  }
  for (int a = 0; a <= 12; ++a)
    for (int b = 0; b <= 12; ++b) {
      const std::string sum = word(a) + " plus " + word(b),
                        difference = word(a) + " minus " + word(b);
      for (const std::string& asked :
           {"what is " + sum + "?", sum + "?", word(a) + " + " + word(b)})
        out.push_back({asked, sum + " is " + word(a + b) + "."});
      if (a >= b)
        out.push_back({"what is " + difference + "?", difference + " is " + word(a - b) + "."});
      const std::string compared = a > b ? " is more than " : " is less than ";
      if (a <= 9 && b <= 9 && a != b)
        out.push_back({"is " + word(a) + " more than " + word(b) + "?",
                       (a > b ? "yes, " : "no, ") + word(a) + compared + word(b) + "."});
    }
}

inline std::vector<Pair> pairs() {
  std::vector<Pair> out = {
      {"hello", "hello! ask me something short."},
      {"hi", "hello! ask me something short."},
      {"good morning", "good morning to you."},
      {"good night", "good night to you."},
      {"thank you", "you are welcome."},
      {"thanks", "you are welcome."},
      {"bye", "bye! keep your code tidy."},
      {"how are you?", "i am well, thank you."},
      {"who are you?", "i am a small model, and i run on your code."},
      {"what are you?", "i am a small model, and i run on your code."},
      {"what is your name?", "my name is gradus."},
      {"who made you?", "gradus trained me, on a page of questions."},
      {"what can you do?", "i know sums, colours, animals, days and capitals."},
      {"what do you know?", "i know sums, colours, animals, days and capitals."},
      {"are you alive?", "no, i am a row of numbers."},
      {"do you like me?", "i am a row of numbers, but i answer you gladly."},
      {"what is the meaning of life?", "i do not know: i am a small model."}};
  add_facts(out);
  add_numbers(out);
  return out;
}

}  // namespace model
