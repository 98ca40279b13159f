// The stores, and clients that they refuse.
#include <fcntl.h>
#include <sys/socket.h>

#include <random>
#include <thread>

#include "gradus/distributed/distributed.h"
#include "gradus/distributed/net/server.h"
#include "tests/support.h"

namespace gradus {
namespace {

namespace dist = distributed;
using std::chrono::milliseconds;

void check_store(dist::Store& store) {
  store.set("a", "1");
  EXPECT_EQ(store.get("a"), "1");
  store.set("a", std::string("\0binary\n", 8));
  EXPECT_EQ(store.get("a"), std::string("\0binary\n", 8));
  store.set("", "");
  EXPECT_EQ(store.get(""), "");
  EXPECT_EQ(store.add("n", 5), 5);
  EXPECT_EQ(store.add("n", -7), -2);
  EXPECT_EQ(store.get("n"), "-2");
  expect_error<ValueError>([&] { store.add("a", 1); }, "the value of key 'a' is no number");
  store.set("n", std::to_string(INT64_MAX));
  expect_error<ValueError>([&] { store.add("n", 1); }, "exceeds 64 bits");
  EXPECT_EQ(store.compare_set("c", "x", "y"), "x");  // there is none
  EXPECT_FALSE(store.check({"c"}));
  EXPECT_EQ(store.compare_set("c", "", "y"), "y");
  EXPECT_EQ(store.compare_set("c", "x", "z"), "y");
  EXPECT_EQ(store.compare_set("c", "y", "z"), "z");
  EXPECT_TRUE(store.check({"a", "c"}));
  EXPECT_FALSE(store.check({"a", "missing"}));
  EXPECT_EQ(store.num_keys(), 4);
  EXPECT_TRUE(store.delete_key("a"));
  EXPECT_FALSE(store.delete_key("a"));
  store.wait({});
  store.wait({"c", "n"});
  expect_error<Error>(
      [&] {
        store.wait({"c", "late"}, milliseconds(20));
      },
      "[c, late] were not all set within 0.02 s");
  const std::string large(3 << 20, 'x');
  store.set("large", large);
  EXPECT_EQ(store.get("large"), large);
}

TEST(Store, HashStoreKeepsValues) {
  dist::HashStore store;
  check_store(store);
  std::thread late([&] { store.set("late", "here"); });
  EXPECT_EQ(store.get("late"), "here");
  late.join();
}

TEST(Store, TcpStoreKeepsValuesForAll) {
  dist::TCPStore server("127.0.0.1", 0, true, milliseconds(20000), "secret");
  EXPECT_GT(server.port(), 0);
  check_store(server);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      dist::TCPStore store("localhost", server.port(), false, milliseconds(20000), "secret");
      store.set("of " + std::to_string(i), "v");
      store.wait({"of " + std::to_string(7 - i)});
      for (int n = 0; n < 50; ++n) store.add("count", 1);
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(server.get("count"), "400");
}

TEST(Store, AClientMayComeBeforeTheServer) {
  int port;
  {
    const dist::TCPStore probe("127.0.0.1", 0, true);
    port = probe.port();
  }
  std::thread early([&] {
    dist::TCPStore store("127.0.0.1", port, false, milliseconds(20000));
    store.set("early", "1");
  });
  dist::TCPStore store("127.0.0.1", port, true);
  EXPECT_EQ(store.get("early"), "1");
  early.join();
}

TEST(Store, ABusyPortAMissingServerAndAnUnknownAddress) {
  const dist::TCPStore first("127.0.0.1", 0, true);
  const std::string place = "127.0.0.1:" + std::to_string(first.port());
  expect_error<Error>([&] { dist::TCPStore("127.0.0.1", first.port(), true); },
                      "cannot listen at " + place + ": Address already in use");
  int port;
  {
    const dist::TCPStore probe("127.0.0.1", 0, true);
    port = probe.port();
  }
  expect_error<Error>([&] { dist::TCPStore("127.0.0.1", port, false, milliseconds(50)); },
                      "cannot reach 127.0.0.1:" + std::to_string(port));
  expect_error<Error>([&] { dist::TCPStore("no such host", 1, true); }, "is not known");
  expect_error<ValueError>([&] { dist::TCPStore("0.0.0.0", 0, true); },
                           "others can reach 0.0.0.0, so a job token is needed");
  dist::TCPStore open("0.0.0.0", 0, true, milliseconds(1000), "token");
}

TEST(Store, AWrongTokenIsRefused) {
  dist::TCPStore server("127.0.0.1", 0, true, milliseconds(20000), "secret");
  for (const char* token : {"", "secre", "secret2", "Secret", "secretsecret"})
    expect_error<Error>(
        [&] { dist::TCPStore("127.0.0.1", server.port(), false, milliseconds(5000), token); },
        "its job token is not that of rank 0");
  check_store(server);
}

TEST(Store, StrangersDisturbNobody) {
  dist::TCPStore server("127.0.0.1", 0, true, milliseconds(20000), "secret");
  std::mt19937 random(7);
  const auto deadline = [] { return dist::Clock::now() + std::chrono::seconds(5); };
  std::vector<dist::Socket> silent;
  for (int i = 0; i < 20; ++i)
    silent.push_back(dist::connect_to("127.0.0.1", server.port(), deadline()));
  for (int i = 0; i < 200; ++i) {
    const dist::Socket socket = dist::connect_to("127.0.0.1", server.port(), deadline());
    std::string bytes;
    if (i % 4 == 0) bytes = "GET / HTTP/1.0\r\n\r\n";
    if (i % 4 == 1) bytes = dist::encode({dist::kProtocol, "secret", "store", "x"});
    if (i % 4 == 2)
      bytes = dist::encode({dist::kProtocol, "secret", "store", "1"}).substr(0, i / 8);
    if (i % 4 == 3)  // welcome, and then noise
      bytes = dist::encode({dist::kProtocol, "secret", "store", "1"});
    for (int n = 0; n < 40; ++n) bytes += static_cast<char>(random());
    dist::Unsent unsent(bytes);
    dist::write_some(socket, unsent);
  }
  check_store(server);
  dist::TCPStore client("127.0.0.1", server.port(), false, milliseconds(20000), "secret");
  EXPECT_EQ(client.get("n"), server.get("n"));
}

// More connections without the token than the server keeps do not count against the ranks.
TEST(Store, StrangersKeepNobodyOut) {
  dist::TCPStore server("127.0.0.1", 0, true, milliseconds(20000), "secret");
  const auto deadline = dist::Clock::now() + std::chrono::seconds(20);
  std::vector<dist::Socket> silent;
  for (int i = 0; i < 200; ++i) {
    silent.push_back(dist::connect_to("127.0.0.1", server.port(), deadline));
    if (i % 20 != 0) continue;
    dist::TCPStore client("127.0.0.1", server.port(), false, milliseconds(20000), "secret");
    client.set("a", std::to_string(i));
    EXPECT_EQ(client.get("a"), std::to_string(i));
  }
  check_store(server);
}

TEST(Store, AConnectionThatIsClosedBeforeItsWelcomeIsTriedAgain) {
  const dist::Socket listener = dist::listen_at("127.0.0.1", 0, "");
  dist::Socket server;
  std::thread closes([&] {
    for (int i = 0; i < 4; ++i) {
      dist::await(listener, false, dist::Clock::now() + std::chrono::seconds(20));
      server = dist::accept_from(listener);
      if (i < 3) server.close();
    }
    dist::Unsent welcome(dist::encode({"welcome"}) + dist::encode({"ok", "7"}));
    dist::write_some(server, welcome);
  });
  EXPECT_NO_THROW({
    dist::TCPStore store("127.0.0.1", dist::port_of(listener), false, milliseconds(20000));
    EXPECT_EQ(store.num_keys(), 7);
  });
  closes.join();
}

TEST(Store, WhatIsSentInPartsIsWhole) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const dist::Socket one(ends[0]), other(ends[1]);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  fcntl(ends[1], F_SETFL, O_NONBLOCK);
  std::string sent, received;
  dist::Unsent unsent;
  for (int i = 0; i < 200; ++i) {
    const std::string part(10'000, static_cast<char>('a' + i % 26));
    sent += part, unsent.add(part);
    ASSERT_TRUE(dist::write_some(one, unsent));
    if (i % 3 == 0) {
      ASSERT_TRUE(dist::read_some(other, received));
    }
  }
  while (received.size() < sent.size())
    ASSERT_TRUE(dist::write_some(one, unsent) && dist::read_some(other, received));
  EXPECT_TRUE(unsent.empty());
  EXPECT_EQ(received, sent);
}

TEST(Frame, AnythingThatIsNoFrameIsFoundOut) {
  using dist::Decoded;
  const dist::Frame frame{"one", "", std::string(300, 'x')};
  const std::string bytes = dist::encode(frame);
  for (size_t length = 0; length < bytes.size(); ++length) {
    std::string part = bytes.substr(0, length);
    dist::Frame out;
    EXPECT_EQ(dist::decode(part, 1024, out), Decoded::incomplete) << length;
  }
  std::string whole = bytes + "rest";
  dist::Frame out;
  EXPECT_EQ(dist::decode(whole, 1024, out), Decoded::frame);
  EXPECT_EQ(out, frame);
  EXPECT_EQ(whole, "rest");
  whole = bytes;
  EXPECT_EQ(dist::decode(whole, 100, out), Decoded::garbled);
  for (const size_t at : {4, 11, 15}) {  // the lengths of the texts
    std::string forged = bytes;
    forged[at + 3] = '\x7f';
    EXPECT_EQ(dist::decode(forged, 1024, out), Decoded::garbled) << at;
  }
  int64_t number = 0;
  for (const char* text : {"", " 1", "1 ", "1x", "x", "--1", "99999999999999999999"})
    EXPECT_FALSE(dist::read_number(text, number)) << text;
  EXPECT_TRUE(dist::read_number("-12", number));
  EXPECT_EQ(number, -12);
}

void write_all(const dist::Socket& socket, const std::string& bytes) {
  const auto deadline = dist::Clock::now() + std::chrono::seconds(20);
  for (dist::Unsent unsent(bytes); !unsent.empty();)
    ASSERT_TRUE(dist::await(socket, true, deadline) && dist::write_some(socket, unsent));
}
// Until the other side closes the connection.
void read_all(const dist::Socket& socket) {
  const auto deadline = dist::Clock::now() + std::chrono::seconds(20);
  std::string bytes;
  do ASSERT_TRUE(dist::await(socket, false, deadline));
  while (dist::read_some(socket, bytes));
}

// A client of kind "watch" that ends at once, before the server was told to watch.
TEST(Store, ARankThatOnlyGreetsDoesNotEndTheServer) {
  dist::TCPStore server("127.0.0.1", 0, true, milliseconds(20000), "secret");
  {
    const auto deadline = dist::Clock::now() + std::chrono::seconds(5);
    const dist::Socket socket = dist::connect_to("127.0.0.1", server.port(), deadline);
    write_all(socket, dist::encode({dist::kProtocol, "secret", "watch", "1"}));
    ASSERT_TRUE(dist::await(socket, false, deadline));  // it is welcome
  }
  check_store(server);
}

// The failure names both calls, and has more bytes than a frame may.
TEST(Store, AnAnswerThatIsTooLongEndsTheConnectionAlone) {
  dist::TCPStore server("127.0.0.1", 0, true, milliseconds(20000), "secret");
  std::vector<dist::Socket> ranks;
  for (const char* rank : {"0", "1"}) {
    const auto deadline = dist::Clock::now() + std::chrono::seconds(5);
    ranks.push_back(dist::connect_to("127.0.0.1", server.port(), deadline));
    write_all(ranks.back(), dist::encode({dist::kProtocol, "secret", "watch", rank}));
    write_all(ranks.back(),
              dist::encode({"start", "world", "1", std::string(dist::kMaxFrame / 2, *rank)}));
  }
  for (const dist::Socket& socket : ranks) read_all(socket);
  check_store(server);
}

TEST(Store, AnAnswerThatIsNoNumberIsAnError) {
  const dist::Socket listener = dist::listen_at("127.0.0.1", 0, "");
  dist::Socket server;
  std::thread answers([&] {
    dist::await(listener, false, dist::Clock::now() + std::chrono::seconds(20));
    server = dist::accept_from(listener);
    write_all(server,
              dist::encode({"welcome"}) + dist::encode({"ok", "x"}) + dist::encode({"ok", ""}));
  });
  dist::TCPStore store("127.0.0.1", dist::port_of(listener), false, milliseconds(5000));
  expect_error<Error>([&] { store.num_keys(); },
                      "TCPStore::num_keys: rank 0 answered 'x', expected a number");
  expect_error<Error>([&] { store.add("n", 1); }, "TCPStore::add: rank 0 answered ''");
  answers.join();
}

// 2^32 milliseconds and a few: what is left of them in an int ends at once.
TEST(Socket, WaitsForLongerThanAnIntHasMilliseconds) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const dist::Socket one(ends[0]), other(ends[1]);
  std::thread late([&] {
    std::this_thread::sleep_for(milliseconds(100));
    write_all(other, "x");
  });
  EXPECT_TRUE(dist::await(one, false, dist::Clock::now() + milliseconds((int64_t{1} << 32) + 20)));
  late.join();
  EXPECT_FALSE(dist::await(other, false, dist::Clock::now() - milliseconds(1)));
}

}  // namespace
}  // namespace gradus
