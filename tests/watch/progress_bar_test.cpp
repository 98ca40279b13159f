// ProgressBar: what it draws on a terminal and writes elsewhere, by a clock of the test.
#include <sstream>

#include "tests/forked.h"
#include "tests/support.h"

namespace gradus {
namespace {

using watch::ProgressBar, watch::ProgressBarOptions, watch::Screen;

struct Fake {
  std::ostringstream out;
  double now = 100;
  int columns = 0;

  Screen screen() {
    return {&out, [this] { return columns; }, [this] { return now; }};
  }
  // What was written since the last call.
  std::string taken() {
    std::string text = out.str();
    out.str("");
    return text;
  }
};

TEST(ProgressBar, DrawsItselfAgainOnATerminal) {
  Fake fake;
  fake.columns = 80;
  {
    ProgressBar bar(200, ProgressBarOptions().desc("train"), fake.screen());
    EXPECT_EQ(fake.taken(), "");
    fake.now += 5;
    bar.update(50);
    EXPECT_EQ(
        fake.taken(),
        "\rtrain:  25%|#########...........................| 50/200 [00:05<00:15, 10 it/s]\033[K");
    fake.now += 0.05;
    bar.update(50);  // too early for another drawing
    EXPECT_EQ(fake.taken(), "");
    bar.set_postfix({{"loss", 0.123456}, {"step", 7}, {"set", "val"}});
    fake.now = 110;
    bar.update(0);
    EXPECT_EQ(fake.taken(),
              "\rtrain:  50%|##...| 100/200 [00:10<00:10, 10 it/s, loss=0.1235, step=7, "
              "set=val]\033[K");
    bar.write("epoch 1");
    EXPECT_EQ(fake.taken(), "\r\033[Kepoch 1\n");
    bar.set_postfix({});
    fake.now = 120;
    bar.update(100);
  }
  EXPECT_EQ(
      fake.taken(),
      "\rtrain: 100%|###################################| 200/200 [00:20<00:00, 10 it/s]\033[K"
      "\r\033[K"
      "\rtrain: 100%|###################################| 200/200 [00:20<00:00, 10 it/s]\033[K\n");
}

TEST(ProgressBar, WritesPlainLinesElsewhere) {
  Fake fake;
  ProgressBar bar(1000, ProgressBarOptions().desc("train").unit("batch"), fake.screen());
  for (int i = 0; i < 500; ++i) {
    fake.now += 0.05;
    bar.update();
  }
  // One after 10 s and one after 20 s, of 25.
  const std::string lines = fake.taken();
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 2) << lines;
  EXPECT_EQ(lines.find('\r'), std::string::npos);
  fake.now = 3725;
  bar.write("a line");
  bar.close();
  EXPECT_EQ(fake.taken(), "a line\ntrain:  50% 500/1000 [1:00:25<1:00:25, 7.25 s/batch]\n");
  bar.update();
  bar.close();
  EXPECT_EQ(fake.taken(), "");
}

TEST(ProgressBar, AnErrorThatNobodyCatchesBeginsALine) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    ::dup2(ends[1], STDERR_FILENO);
    const watch::Screen terminal{&std::cerr, [] { return 80; }, [] { return 0.0; }};
    ProgressBar bar(10, ProgressBarOptions().mininterval(0), terminal);
    bar.update();
    std::terminate();
  }
  ::close(ends[1]);
  std::string text;
  char part[256];
  for (ssize_t n = 0; (n = ::read(ends[0], part, sizeof part)) > 0;)
    text.append(part, static_cast<size_t>(n));
  ::close(ends[0]);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  EXPECT_NE(text.find("]\033[K\nterminate called"), std::string::npos) << text;
}

TEST(ProgressBar, NeedsNoTotal) {
  Fake fake;
  ProgressBar bar(0, ProgressBarOptions(), fake.screen());
  fake.now += 2;
  bar.update(3000);
  bar.close();
  EXPECT_EQ(fake.taken(), "3000 it [00:02, 1.5e+03 it/s]\n");
}

TEST(ProgressBar, CountsFromWhereARunWasResumed) {
  Fake fake;
  ProgressBar bar(100, ProgressBarOptions().initial(60), fake.screen());
  fake.now += 10;
  bar.update(20);
  EXPECT_EQ(fake.taken(), " 80% 80/100 [00:10<00:10, 2 it/s]\n");
  EXPECT_EQ(bar.done(), 80);
}

TEST(ProgressBar, FitsTheTerminal) {
  for (const int columns : {1, 2, 10, 20, 40, 45, 60, 200}) {
    Fake fake;
    fake.columns = columns;
    {
      ProgressBar bar(100, ProgressBarOptions().desc("a long description"), fake.screen());
      for (int i = 0; i < 120; ++i) {  // more than the total, too
        fake.now += 1;
        bar.update();
        std::string line = fake.taken();
        ASSERT_TRUE(line.starts_with("\r") && line.ends_with("\033[K")) << line;
        EXPECT_LT(line.size() - 4, static_cast<size_t>(columns)) << line;
      }
    }
  }
}

TEST(ProgressBar, LeavesOrShowsNothing) {
  Fake fake;
  fake.columns = 60;
  {
    ProgressBar gone(10, ProgressBarOptions().leave(false), fake.screen());
    gone.update();
  }
  EXPECT_TRUE(fake.taken().ends_with("\r\033[K"));
  {
    ProgressBar silent(10, ProgressBarOptions().disable(true), fake.screen());
    silent.update();
    silent.write("x");
  }
  EXPECT_EQ(fake.taken(), "");
}

TEST(ProgressBar, SaysWhatIsWrong) {
  expect_error<ValueError>([] { ProgressBar bar(-1); },
                           "ProgressBar: total is -1, expected a number of steps");
  expect_error<ValueError>([] { ProgressBar bar(5, ProgressBarOptions().initial(-1)); },
                           "initial is -1");
}

}  // namespace
}  // namespace gradus
