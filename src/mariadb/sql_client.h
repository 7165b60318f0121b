// SPDX-License-Identifier: GPL-2.0-only
//
// The client's side of a login in the protocol of SQL clients, in memory: the server's own code asks, and
// this answers with what a client of RowSocket has said of itself. So the server's authentication plugins
// decide as they do for SQL.
//
//   server ──── greeting (a scramble) ────────────► │
//          ◄─── user, answer, plugin ────────────── │
//          ──── another plugin, please (data) ────► │   perhaps
//          ◄─── answer ──────────────────────────── │
//          ──── a question of this plugin ────────► │   perhaps, a few times
//          ◄─── answer ──────────────────────────── │
//          ──── ok, or an error ──────────────────► │
//
// Knows mysql_native_password, client_ed25519, parsec, auth_gssapi_client, dialog, mysql_clear_password, and
// plugins that ask nothing. For GSSAPI the password is the client's first token, in base64: Kerberos needs no
// second one. Where the server asks for anything else the stream ends, and the login with it.
//
// Every length here is the server's own; it is checked nevertheless. May throw std::bad_alloc. One thread.
#pragma once

#include <string.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rowsocket::mariadb {

class SqlClient {
 public:
  /// Both outlive the client.
  SqlClient(std::string_view user, std::string_view password) : user_(user), password_(password) {}
  ~SqlClient() { ::explicit_bzero(to_send_.data(), to_send_.size()); }
  SqlClient(const SqlClient&) = delete;
  SqlClient& operator=(const SqlClient&) = delete;

  /// The server sends.
  void take(std::string_view bytes);
  /// The server reads: how many bytes were put to `place`. 0: the client has hung up.
  [[nodiscard]] size_t give(char* place, size_t byte_count_max);
  /// Of the server's error, once it has sent one; 0 = it has not.
  [[nodiscard]] int error_number() const { return error_number_; }
  [[nodiscard]] const std::string& error_text() const { return error_text_; }

 private:
  void packet(std::string_view payload);
  void note_error(std::string_view payload);
  void greeting(std::string_view payload);
  void switch_plugin(std::string_view payload);
  void answer(std::string_view data);
  [[nodiscard]] bool find_answer(std::string_view data, std::string& answer);
  [[nodiscard]] bool find_answer_of_parsec(std::string_view data, std::string& answer);
  void send(std::string_view payload);

  std::string_view user_;
  std::string_view password_;
  std::string plugin_;
  std::string scramble_;  ///< of parsec: the server's, until it has told the salt
  std::string received_;
  std::string to_send_;  ///< wiped at the end: the password may be in it
  size_t sent_bytes_ = 0;
  uint8_t sequence_ = 0;
  uint32_t questions_ = 0;
  bool is_greeted_ = false;
  bool has_shown_token_ = false;  ///< of GSSAPI
  bool has_hung_up_ = false;
  int error_number_ = 0;
  std::string error_text_;
};

}  // namespace rowsocket::mariadb
