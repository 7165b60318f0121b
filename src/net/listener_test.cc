// SPDX-License-Identifier: GPL-2.0-only
//
// Listening: ports that are shared, taken and freed, socket files that are left over, replaced and removed.
#include "net/listener.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "net/failing_call.h"

namespace rowsocket::net {
namespace {

using testing::HasSubstr;

class ListenerTest : public testing::Test {
 protected:
  ListenerTest() {
    std::string pattern = testing::TempDir() + "rowsocket-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~ListenerTest() override { std::filesystem::remove_all(folder_); }

  static std::vector<SocketAddress> addresses(std::string_view list) {
    std::vector<SocketAddress> parsed;
    std::string failure;
    EXPECT_TRUE(parse_address_list(list, parsed, failure)) << failure;
    return parsed;
  }
  bool listen(std::string_view list, uint32_t port) {
    return listen_tcp(addresses(list), port, true, listeners_, notes_, failure_);
  }
  std::string path(const char* name) const { return folder_ + "/" + name; }

  static Descriptor connect_unix(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    Descriptor socket(::socket(AF_UNIX, SOCK_STREAM, 0));
    if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      socket.close();
    }
    return socket;
  }
  static Descriptor connect_tcp(uint16_t port) {
    SocketAddress address;
    EXPECT_TRUE(SocketAddress::from_numeric("127.0.0.1", port, address));
    Descriptor socket(::socket(AF_INET, SOCK_STREAM, 0));
    EXPECT_EQ(::connect(socket.get(), address.data(), address.size()), 0);
    return socket;
  }

  std::string folder_;
  std::vector<Listener> listeners_;
  std::string notes_;
  std::string failure_;
};

TEST_F(ListenerTest, an_address_may_name_the_interface_that_it_is_of) {
  SocketAddress address;
  EXPECT_TRUE(SocketAddress::from_numeric("fe80::1%lo", 1, address));
  EXPECT_EQ(peer_at(address).scope_id, ::if_nametoindex("lo"));
  EXPECT_TRUE(SocketAddress::from_numeric("fe80::1", 1, address));
  EXPECT_EQ(peer_at(address).scope_id, 0U);
  EXPECT_FALSE(SocketAddress::from_numeric("fe80::1%nowhere", 1, address));
}

TEST_F(ListenerTest, port_zero_is_the_same_free_port_on_every_address) {
  ASSERT_TRUE(listen("127.0.0.1, 127.0.0.2", 0)) << failure_;
  ASSERT_EQ(listeners_.size(), 2u);
  EXPECT_NE(listeners_[0].port(), 0);
  EXPECT_EQ(listeners_[0].port(), listeners_[1].port());
}

TEST_F(ListenerTest, ipv6_is_served_beside_ipv4_or_left_out_with_a_note) {
  ASSERT_TRUE(listen("127.0.0.1,::1", 0)) << failure_;
  EXPECT_TRUE(listeners_.size() == 2 || (listeners_.size() == 1 && !notes_.empty()));
}

TEST_F(ListenerTest, all_addresses_of_both_families_can_be_served_at_once) {
  ASSERT_TRUE(listen("*", 0)) << failure_;
  EXPECT_EQ(listeners_[0].name(), "0.0.0.0:" + std::to_string(listeners_[0].port()));
  EXPECT_TRUE(connect_tcp(listeners_[0].port()).valid());
}

TEST_F(ListenerTest, a_taken_port_is_named) {
  ASSERT_TRUE(listen("127.0.0.1", 0));
  const auto taken = std::move(listeners_);
  EXPECT_FALSE(listen("127.0.0.1", taken[0].port()));
  EXPECT_THAT(failure_, HasSubstr(taken[0].name() + " is in use"));
}

TEST_F(ListenerTest, a_port_can_be_taken_again_right_after_its_connections_were_closed) {
  ASSERT_TRUE(listen("127.0.0.1", 0));
  const uint16_t port = listeners_[0].port();
  const Descriptor client = connect_tcp(port);
  Descriptor accepted;
  Peer peer;
  ASSERT_EQ(listeners_[0].accept(accepted, peer), Listener::Accepted::connection);
  accepted.close();
  listeners_.clear();
  EXPECT_TRUE(listen("127.0.0.1", port)) << failure_;
}

TEST_F(ListenerTest, an_address_of_another_machine_is_refused) {
  EXPECT_FALSE(listen("192.0.2.1", 0));
  EXPECT_THAT(failure_, HasSubstr("192.0.2.1:0 is not an address of this machine"));
  EXPECT_FALSE(listen("127.0.0.1, 192.0.2.1", 1));
  EXPECT_THAT(failure_, testing::EndsWith("192.0.2.1:1 is not an address of this machine"));
  EXPECT_TRUE(listeners_.empty()) << "all or none";
}

TEST_F(ListenerTest, only_an_optional_address_of_another_machine_is_left_out) {
  ASSERT_TRUE(listen("127.0.0.1, 2001:db8::1", 0)) << failure_;
  EXPECT_EQ(listeners_.size(), 1U);
  EXPECT_THAT(notes_, HasSubstr("[2001:db8::1]:" + std::to_string(listeners_[0].port()) + " is left out"));
  ASSERT_TRUE(listen("127.0.0.1", 0)) << failure_;
  EXPECT_EQ(listeners_.size(), 1U) << "those of before are gone";
  EXPECT_EQ(notes_, "");
  EXPECT_FALSE(listen_tcp(addresses("127.0.0.1, 2001:db8::1"), 0, false, listeners_, notes_, failure_));
}

TEST_F(ListenerTest, an_impossible_port_is_refused) {
  EXPECT_FALSE(listen("127.0.0.1", 65536));
  EXPECT_THAT(failure_, HasSubstr("65536 is not a port"));
}

TEST_F(ListenerTest, names_are_no_addresses) {
  std::vector<SocketAddress> parsed;
  for (const char* list : {"localhost", "127.0.0.1,", "", "127.0.0.300", "::1%nosuchinterface"}) {
    EXPECT_FALSE(parse_address_list(list, parsed, failure_)) << list;
    EXPECT_THAT(failure_, HasSubstr("is not a numeric"));
  }
  EXPECT_TRUE(parse_address_list("127.0.0.1", parsed, failure_));
  EXPECT_TRUE(parse_address_list("127.0.0.2", parsed, failure_));
  EXPECT_EQ(parsed.size(), 1U);
}

TEST_F(ListenerTest, accepted_sockets_do_not_block_or_delay_and_name_their_peer) {
  ASSERT_TRUE(listen("127.0.0.1", 0));
  Descriptor accepted;
  Peer peer;
  EXPECT_EQ(listeners_[0].accept(accepted, peer), Listener::Accepted::nothing);
  const Descriptor client = connect_tcp(listeners_[0].port());
  ASSERT_EQ(listeners_[0].accept(accepted, peer), Listener::Accepted::connection);

  int no_delay = 0;
  socklen_t size = sizeof no_delay;
  ASSERT_EQ(::getsockopt(accepted.get(), IPPROTO_TCP, TCP_NODELAY, &no_delay, &size), 0);
  EXPECT_NE(no_delay, 0);
  int keep_alive = 0;
  ASSERT_EQ(::getsockopt(accepted.get(), SOL_SOCKET, SO_KEEPALIVE, &keep_alive, &size), 0);
  EXPECT_NE(keep_alive, 0) << "a peer that is gone without a word is noticed";
  EXPECT_NE(::fcntl(accepted.get(), F_GETFL) & O_NONBLOCK, 0);
  EXPECT_NE(::fcntl(accepted.get(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_THAT(peer.text, testing::StartsWith("127.0.0.1:"));
}

TEST_F(ListenerTest, a_connection_that_can_not_be_had_now_is_told_from_one_that_is_gone) {
  using Accepted = Listener::Accepted;
  ASSERT_TRUE(listen("127.0.0.1", 0));
  const Descriptor client = connect_tcp(listeners_[0].port());
  const std::pair<int, Accepted> outcomes[] = {
      {EAGAIN, Accepted::nothing},          {EMFILE, Accepted::out_of_resources},
      {ENFILE, Accepted::out_of_resources}, {ENOBUFS, Accepted::out_of_resources},
      {ENOMEM, Accepted::out_of_resources}, {ECONNABORTED, Accepted::try_again},
      {EINTR, Accepted::try_again},         {ENETDOWN, Accepted::try_again}};
  Descriptor accepted;
  Peer peer;
  for (const auto& [error, outcome] : outcomes) {
    Accepted found{};
    ASSERT_TRUE(while_call_fails(SYS_accept4, error, [&] { found = listeners_[0].accept(accepted, peer); }));
    EXPECT_EQ(found, outcome) << error;
    EXPECT_FALSE(accepted.valid());
  }
  EXPECT_EQ(listeners_[0].accept(accepted, peer), Accepted::connection) << "it has waited";
}

TEST_F(ListenerTest, who_came_is_known_after_the_connection_was_reset) {
  ASSERT_TRUE(listen("127.0.0.1", 0));
  Descriptor client = connect_tcp(listeners_[0].port());
  Descriptor accepted;
  Peer peer;
  ASSERT_EQ(listeners_[0].accept(accepted, peer), Listener::Accepted::connection);
  const linger hard{1, 0};
  ASSERT_EQ(::setsockopt(client.get(), SOL_SOCKET, SO_LINGER, &hard, sizeof hard), 0);
  client.close();
  EXPECT_EQ(peer.place, Peer::Place::loopback);
  EXPECT_EQ(peer.party, "127.0.0.1");
  EXPECT_EQ(peer.host, "127.0.0.1");
  EXPECT_EQ(peer.text, "127.0.0.1:" + std::to_string(peer.port));
}

TEST_F(ListenerTest, a_peer_is_told_by_its_address) {
  const auto peer = [](const char* host) {
    SocketAddress address;
    EXPECT_TRUE(SocketAddress::from_numeric(host, 7, address)) << host;
    return peer_at(address);
  };
  EXPECT_EQ(peer("192.0.2.7").place, Peer::Place::network);
  EXPECT_EQ(peer("::1").place, Peer::Place::loopback);
  EXPECT_EQ(peer("::1").party, "::1");
  EXPECT_EQ(peer("2001:db8:1:2::7").text, "[2001:db8:1:2::7]:7");
  EXPECT_EQ(peer("2001:db8:1:2::7").party, "2001:db8:1:2::");
  EXPECT_EQ(peer("2001:db8:1:2::7").host, "2001:db8:1:2::7");
  EXPECT_EQ(peer("::ffff:192.0.2.7").host, "192.0.2.7");
  EXPECT_EQ(peer("::ffff:192.0.2.7").party, "::ffff:192.0.2.7") << "it is not of the network of all of them";
  EXPECT_EQ(peer("::ffff:127.0.0.9").place, Peer::Place::loopback);
  EXPECT_EQ(peer("::ffff:126.0.0.9").place, Peer::Place::network);
  EXPECT_EQ(peer("::7f00:9").place, Peer::Place::network) << "an address of version 6 with such bytes";
  EXPECT_EQ(peer("::ffff:127.0.0.9").port, 7);
}

TEST_F(ListenerTest, everybody_on_the_machine_may_use_a_socket_file_whatever_the_process_is_used_to) {
  const mode_t mask = ::umask(0077);
  Listener listener;
  ASSERT_TRUE(listen_unix(path("s"), listener, failure_)) << failure_;
  ::umask(mask);
  struct stat file{};
  ASSERT_EQ(::lstat(path("s").c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777u, 0777u);
}

TEST_F(ListenerTest, a_listener_on_a_socket_file_is_named_after_it) {
  Listener listener;
  ASSERT_TRUE(listen_unix(path("s"), listener, failure_)) << failure_;
  EXPECT_EQ(listener.name(), path("s"));
}

TEST_F(ListenerTest, a_socket_file_goes_with_its_listener) {
  Listener listener;
  ASSERT_TRUE(listen_unix(path("s"), listener, failure_)) << failure_;
  EXPECT_TRUE(connect_unix(path("s")).valid());
  Descriptor accepted;
  Peer peer;
  EXPECT_EQ(listener.accept(accepted, peer), Listener::Accepted::connection);
  EXPECT_THAT(peer.text, testing::StartsWith("pid "));
  listener.close();
  EXPECT_FALSE(std::filesystem::exists(path("s")));
}

TEST_F(ListenerTest, a_socket_file_goes_where_another_listener_takes_the_place_of_its_own) {
  Listener listener;
  ASSERT_TRUE(listen_unix(path("s"), listener, failure_)) << failure_;
  listener = Listener();
  EXPECT_FALSE(std::filesystem::exists(path("s")));
}

TEST_F(ListenerTest, a_socket_file_that_nobody_listens_on_is_replaced) {
  {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path("s").data(), path("s").size());
    const Descriptor crashed(::socket(AF_UNIX, SOCK_STREAM, 0));
    ASSERT_EQ(::bind(crashed.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  Listener listener;
  EXPECT_TRUE(listen_unix(path("s"), listener, failure_)) << failure_;
  EXPECT_TRUE(connect_unix(path("s")).valid());
}

TEST_F(ListenerTest, a_socket_that_somebody_listens_on_is_left_alone) {
  Listener first;
  Listener second;
  ASSERT_TRUE(listen_unix(path("s"), first, failure_));
  EXPECT_FALSE(listen_unix(path("s"), second, failure_));
  EXPECT_THAT(failure_, HasSubstr("is in use"));
  EXPECT_TRUE(connect_unix(path("s")).valid());
}

TEST_F(ListenerTest, a_socket_whose_listener_is_too_busy_to_answer_is_left_alone) {
  Listener first;
  Listener second;
  ASSERT_TRUE(listen_unix(path("s"), first, failure_));
  for (const int error : {EAGAIN, EACCES}) {
    ASSERT_TRUE(while_call_fails(SYS_connect, error,
                                 [&] { EXPECT_FALSE(listen_unix(path("s"), second, failure_)); }));
    EXPECT_TRUE(connect_unix(path("s")).valid());
  }
}

TEST_F(ListenerTest, a_file_that_is_no_socket_is_left_alone) {
  Listener listener;
  ASSERT_GE(Descriptor(::open(path("data").c_str(), O_CREAT | O_WRONLY, 0600)).get(), 0);
  EXPECT_FALSE(listen_unix(path("data"), listener, failure_));
  EXPECT_THAT(failure_, HasSubstr("is not a socket"));
  EXPECT_TRUE(std::filesystem::exists(path("data")));
}

TEST_F(ListenerTest, a_file_that_replaced_ours_is_not_removed) {
  Listener first;
  ASSERT_TRUE(listen_unix(path("s"), first, failure_));
  std::filesystem::rename(path("s"), path("moved"));
  Listener second;
  ASSERT_TRUE(listen_unix(path("s"), second, failure_));
  first.close();
  EXPECT_TRUE(connect_unix(path("s")).valid());
}

TEST_F(ListenerTest, a_path_that_is_too_long_or_in_no_folder_is_refused) {
  Listener listener;
  constexpr size_t bytes_max = sizeof sockaddr_un::sun_path - 1;  // a byte 0 ends it
  std::string name = path("");
  name.append(bytes_max + 1 - name.size(), 'x');
  EXPECT_FALSE(listen_unix(name, listener, failure_));
  EXPECT_THAT(failure_, HasSubstr("can not be a unix socket: a path has 1 to 107 bytes"));
  name.pop_back();
  EXPECT_TRUE(listen_unix(name, listener, failure_)) << failure_;
  EXPECT_FALSE(listen_unix(path("nowhere/s"), listener, failure_));
  EXPECT_THAT(failure_, HasSubstr("the folder does not exist"));
}

TEST_F(ListenerTest, what_else_the_system_refuses_is_told_in_its_words) {
  ASSERT_TRUE(while_call_fails(SYS_bind, ENOBUFS, [this] { EXPECT_FALSE(listen("127.0.0.1", 0)); }));
  EXPECT_EQ(failure_, "127.0.0.1:0: " + std::generic_category().message(ENOBUFS));
}

}  // namespace
}  // namespace rowsocket::net
