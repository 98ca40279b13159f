// ProgressBar: how far a long loop is, with its rate, the time left and other figures.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>

#include "gradus/tensor/base/option.h"
#include "gradus/watch/log_value.h"

namespace gradus::watch {

// desc: stands before the bar. unit: what is counted. initial: how much was done before, as by a
// run that is resumed. mininterval: seconds between two drawings on a terminal. line_interval:
// seconds between two lines elsewhere. leave: whether the bar stays on a terminal when it is
// closed. disable: nothing is shown.
struct ProgressBarOptions {
  GRADUS_OPTIONS(ProgressBarOptions, OPTION(std::string, desc, ""), OPTION(std::string, unit, "it"),
                 OPTION(int64_t, initial, 0), OPTION(double, mininterval, 0.1),
                 OPTION(double, line_interval, 10), OPTION(bool, leave, true),
                 OPTION(bool, disable, false));
};

// Where a bar is drawn.
struct Screen {
  std::ostream* out;
  std::function<int()> columns;     // of the terminal; 0: it is none
  std::function<double()> seconds;  // since some moment

  static Screen standard_error();
};

// A bar on a terminal is a line that rewrites itself. A file or a pipe gets a plain line from time
// to time, and one at the end.
//
//   watch::ProgressBar bar(batches, watch::ProgressBarOptions().desc("epoch 1"));
//   for (...) {
//     ...
//     bar.update();
//   }
//   bar.set_postfix({{"loss", loss}, {"accuracy", accuracy}});
class ProgressBar {
 public:
  // total: steps until the end; 0 where nobody knows.
  // Errors: ValueError for a negative total or initial.
  explicit ProgressBar(int64_t total, ProgressBarOptions options = {},
                       Screen screen = Screen::standard_error());
  // Closes it.
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // So many steps more are done.
  void update(int64_t steps = 1);
  // The values stand behind the rate from the next drawing on.
  void set_postfix(const LogRow& values);
  void set_description(const std::string& text) { options_.desc(text); }
  // A line that stays, above the bar.
  void write(const std::string& line);
  // Draws the last state; nothing is drawn after it.
  void close();
  int64_t done() const { return done_; }

 private:
  std::string text(int columns) const;
  void draw(int columns);
  void clear();
  void note_line(bool is_drawn);

  int64_t total_, done_;
  ProgressBarOptions options_;
  Screen screen_;
  double start_, next_;  // seconds: of the beginning; of the next drawing
  std::string postfix_;
  bool drawn_ = false, closed_;
};

}  // namespace gradus::watch
