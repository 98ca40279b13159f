// Dashboard: what a browser gets over real sockets, and what clients that are slow, broken or
// hostile bring about.
#include "gradus/watch/dashboard/dashboard.h"

#include <sys/socket.h>

#include <thread>

#include "gradus/cuda/device_status.h"
#include "gradus/tensor/base/socket.h"
#include "gradus/watch/dashboard/history.h"
#include "gradus/watch/dashboard/http.h"
#include "tests/forked.h"
#include "tests/support.h"

namespace gradus {
namespace {

using detail::Socket, detail::Unsent, watch::Dashboard;

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

Socket connect_to_port(int port) {
  return detail::connect_to("127.0.0.1", port, detail::Clock::now() + std::chrono::seconds(20));
}

void send_text(const Socket& socket, const std::string& text) {
  Unsent unsent(text);
  EXPECT_TRUE(write_some(socket, unsent) && unsent.empty());
}

// All that comes until the server closes the connection.
std::string received(const Socket& socket) {
  std::string out;
  const auto deadline = detail::Clock::now() + std::chrono::seconds(60);
  do EXPECT_TRUE(await(socket, false, deadline));
  while (read_some(socket, out));
  return out;
}

std::string answer_to(int port, const std::string& request) {
  const Socket socket = connect_to_port(port);
  send_text(socket, request);
  return received(socket);
}

std::string get(int port, const std::string& path) {
  return answer_to(port, "GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
}

TEST(Dashboard, ServesItsPageAndFigures) {
  Dashboard dashboard(0, "A \"title\"");
  EXPECT_EQ(dashboard.url(), "http://127.0.0.1:" + std::to_string(dashboard.port()) + "/");
  dashboard.add_scalar("loss/train", 0.5, 3);
  dashboard.add_scalar("loss/train", tensor(0.25, kDouble), 4);
  dashboard.log({{"loss/test", NAN}, {"device", "cpu\n"}});
  dashboard.log({{"loss/test", 2}});
  const std::string page = get(dashboard.port(), "/");
  EXPECT_TRUE(page.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"));
  expect_contains(page, "connect-src 'self'");
  EXPECT_TRUE(page.ends_with("</html>\n"));
  const std::string figures = get(dashboard.port(), "/figures.json?now");
  expect_contains(figures, "\r\n\r\n{\"title\":\"A \\\"title\\\"\",\"seconds\":");
  expect_contains(figures,
                  "\"series\":{\"loss/test\":[[1,null],[2,2]],\"loss/train\":[[3,0.5],[4,0.25]]},"
                  "\"texts\":{\"device\":\"cpu\\u000a\"}");
  if (cuda::is_available()) {
    expect_contains(figures, cuda::device_status(0).simulated
                                 ? "\"gpus\":["
                                 : "\"gpus\":[{\"device\":0,\"name\":");
  } else {
    expect_contains(figures, "\"gpus\":[],\"no_gpu\":\"");
  }
}

TEST(Dashboard, TakesNamesOfAnyBytes) {
  Dashboard dashboard(0, "ti\xfftle");
  dashboard.log({{"na\xffme", 1}, {"te\xffxt", "va\xfflue"}});
  const std::string figures = get(dashboard.port(), "/figures.json");
  EXPECT_EQ(figures.find('\xff'), std::string::npos);
  for (const char* const text : {"ti\ufffdtle", "na\ufffdme", "te\ufffdxt", "va\ufffdlue"})
    expect_contains(figures, text);
}

TEST(Dashboard, ShowsItsCurvesAfterAResume) {
  Dashboard first(0);
  for (int step = 0; step < 3000; ++step) first.add_scalar("loss", 1.0 / (1 + step), step);
  first.log({{"accuracy", 0.5}, {"net", "LeNet"}});
  Dashboard second(0);
  second.add_scalar("other", 1);
  second.load_state_dict(first.state_dict());
  const auto series_of = [](const Dashboard& dashboard) {
    const std::string figures = get(dashboard.port(), "/figures.json");
    return figures.substr(figures.find("\"series\""),
                          figures.find("\"gpus\"") - figures.find("\"series\""));
  };
  EXPECT_EQ(series_of(second), series_of(first));
  const auto state = second.state_dict();
  second.log({{"accuracy", 0.75}});  // rows are counted on
  EXPECT_EQ(second.state_dict()["curve.accuracy"][1][0].item<double>(), 2);
  auto wrong = first.state_dict();
  wrong.insert("curve.x", ones({2, 3}));
  expect_error<ValueError>([&] { second.load_state_dict(wrong); },
                           "Dashboard: load_state_dict: curve.x is float32 of shape [2, 3]");
  EXPECT_EQ(second.state_dict()["curve.accuracy"].size(0), 2);
}

TEST(Dashboard, ShowsSimulatedGpusThatAreUsed) {
  if (!cuda::is_available() || !cuda::device_status(0).simulated)
    GTEST_SKIP() << "no simulated GPU";
  const auto status = cuda::device_status(0);
  if (status.free_memory == status.total_memory) {  // no test before has used it
    const Dashboard idle(0);
    expect_contains(get(idle.port(), "/figures.json"), "\"gpus\":[],");
  }
  const Tensor used = ones({1 << 20}, kCUDA);
  const Dashboard busy(0);
  expect_contains(get(busy.port(), "/figures.json"), "\"gpus\":[{\"device\":0,\"name\":");
}

TEST(Dashboard, NamesTheRemedyOfAPort) {
  const Dashboard first(0);
  const std::string port = std::to_string(first.port());
  expect_error<Error>([&] { Dashboard second(first.port()); },
                      "Dashboard: cannot listen at 127.0.0.1:" + port +
                          ": Address already in use; give another port, or 0 for any that is free");
  for (const int wrong : {-1, 65536})
    expect_error<ValueError>([&] { Dashboard second(wrong); },
                             "Dashboard: port " + std::to_string(wrong) +
                                 ", expected 1 to 65535, or 0 for any that is free");
  int freed = 0;
  {
    const Dashboard other(0);
    freed = other.port();
    get(freed, "/");
  }
  EXPECT_EQ(Dashboard(freed).port(), freed);
}

TEST(Dashboard, RefusesWhatIsNotShown) {
  Dashboard dashboard(0);
  expect_error<ValueError>([&] { dashboard.add_scalar("loss", zeros({2})); },
                           "'loss' has the shape [2], expected one number; take its mean()");
  for (int i = 0; i < 200; ++i) dashboard.add_scalar("curve " + std::to_string(i), i);
  dashboard.add_scalar("curve 7", 1);
  expect_error<ValueError>(
      [&] {
        dashboard.log({{"curve 8", 1}, {"one more", 1}});
      },
      "Dashboard.log: 201 names, expected at most 200; give the same name to all values of a "
      "curve");
  expect_contains(get(dashboard.port(), "/figures.json"), "\"curve 8\":[[0,8]]");
}

TEST(Dashboard, AnswersThisMachineAloneAndGetAlone) {
  const Dashboard dashboard(0);
  const auto status = [&](const std::string& request) {
    const std::string answer = answer_to(dashboard.port(), request);
    return answer.substr(9, 3);
  };
  const std::string host = "Host: localhost:8000\r\n\r\n";
  EXPECT_EQ(status("GET / HTTP/1.1\r\n" + host), "200");
  EXPECT_EQ(status("GET / HTTP/1.0\r\nhost:127.0.0.1\r\n\r\n"), "200");
  EXPECT_EQ(status("GET /../../etc/passwd HTTP/1.1\r\n" + host), "404");
  for (const char* name : {"example.org", "127.0.0.1.example.org", "localhost:80@example.org",
                           "example.org:127.0.0.1", "127.0.0.1:x", ""})
    EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: " + std::string(name) + "\r\n\r\n"), "403") << name;
  EXPECT_EQ(status("GET / HTTP/1.1\r\n\r\n"), "403");
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: localhost\r\n" + host), "400");
  for (const char* method : {"POST", "HEAD", "DELETE"})
    EXPECT_EQ(status(std::string(method) + " / HTTP/1.1\r\n" + host), "405");
  for (const char* line : {"", "GET", "GET /", "GET  / HTTP/1.1", "GET / HTTP/2", "GET a HTTP/1.1",
                           "\x16\x03\x01", "GET / HTTP/1.1\r\nno colon", "GET / HTTP/1.1\r\n a: b"})
    EXPECT_EQ(status(std::string(line) + "\r\n" + host), "400") << line;
  EXPECT_EQ(status(std::string(9000, 'a')), "431");
}

TEST(Dashboard, SurvivesClientsThatAreSlowOrEndEarly) {
  Dashboard dashboard(0);
  for (int c = 0; c < 150; ++c)  // an answer that no buffer of a socket holds
    for (int i = 0; i < 999; ++i) dashboard.add_scalar("curve " + std::to_string(c), 0.1 * i, i);
  const std::string request = "GET /figures.json HTTP/1.1\r\nHost: localhost\r\n\r\n";
  std::vector<Socket> silent;
  for (int i = 0; i < 100; ++i) silent.push_back(connect_to_port(dashboard.port()));
  const Socket deaf = connect_to_port(dashboard.port());
  send_text(deaf, request);
  for (int i = 0; i < 5; ++i) send_text(connect_to_port(dashboard.port()), request);  // and gone
  const Socket slow = connect_to_port(dashboard.port());
  for (const char c : request) send_text(slow, std::string(1, c));
  const Socket half = connect_to_port(dashboard.port());  // says that it sends no more
  send_text(half, request);
  shutdown(half.fd(), SHUT_WR);
  for (const Socket* socket : {&slow, &half}) {
    const std::string answer = received(*socket);
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK"));
    EXPECT_TRUE(answer.ends_with("}"));
    EXPECT_GT(answer.size(), size_t{1} << 20);
  }
  EXPECT_TRUE(get(dashboard.port(), "/").starts_with("HTTP/1.1 200 OK"));
}  // ends while clients are connected

TEST(Dashboard, TakesFiguresOfManyThreadsWhileItAnswers) {
  Dashboard dashboard(0);
  std::vector<std::thread> writers;
  for (int t = 0; t < 4; ++t)
    writers.emplace_back([&, t] {
      for (int i = 0; i < 5000; ++i) dashboard.add_scalar("curve " + std::to_string(t), i, i);
    });
  for (int i = 0; i < 10; ++i)
    EXPECT_TRUE(get(dashboard.port(), "/figures.json").starts_with("HTTP/1.1 200 OK"));
  for (std::thread& writer : writers) writer.join();
}

TEST(Dashboard, IsThatOfTheProcessThatMadeIt) {
  auto dashboard = std::make_unique<Dashboard>(0);
  EXPECT_TRUE(test::holds_in_child([&] {
    dashboard.reset();
    return true;
  }));
  EXPECT_TRUE(get(dashboard->port(), "/").starts_with("HTTP/1.1 200 OK"));
}

TEST(DashboardHistory, KeepsTheCourseOfALongCurve) {
  watch::detail::Series series;
  for (int64_t i = 0; i < 1'000'000; ++i) {
    series.add({i, 2.0 * static_cast<double>(i)});
    if (i % 77'777 != 0 && i != 999'999) continue;
    const auto points = series.points();
    EXPECT_LE(points.size(), 1000U);
    EXPECT_GE(points.size(), std::min<size_t>(500, static_cast<size_t>(i + 1)));
    EXPECT_EQ(points.front().step, 0);
    EXPECT_EQ(points.back().step, i);
    for (size_t k = 1; k < points.size(); ++k) {
      EXPECT_GT(points[k].step, points[k - 1].step);
      EXPECT_EQ(points[k].value, 2.0 * static_cast<double>(points[k].step));
    }
  }
}

}  // namespace
}  // namespace gradus
