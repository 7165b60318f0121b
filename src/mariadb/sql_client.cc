// SPDX-License-Identifier: GPL-2.0-only
#include "mariadb/server_headers.h"
// The server's headers come first.
#include <sodium.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/limits.h"
#include "mariadb/ed25519.h"
#include "mariadb/parsec.h"
#include "mariadb/sql_client.h"

namespace rowsocket::mariadb {
namespace {

constexpr size_t header_bytes = 4;
constexpr uint8_t utf8mb4_general_ci = 45;

constexpr uint8_t packet_error_first = 0xFF;
constexpr uint8_t packet_switch_first = 0xFE;
constexpr uint8_t packet_ok_first = 0x00;
constexpr uint8_t packet_data_first = 0x01;

/// SHA1(password) xor SHA1(scramble, SHA1(SHA1(password))).
std::string native_answer(std::string_view scramble, std::string_view password) {
  if (password.empty()) {
    return {};
  }
  uchar once[MY_SHA1_HASH_SIZE];
  uchar twice[MY_SHA1_HASH_SIZE];
  uchar mixed[MY_SHA1_HASH_SIZE];
  my_sha1(once, password.data(), password.size());
  my_sha1(twice, reinterpret_cast<const char*>(once), sizeof once);
  my_sha1_multi(mixed, scramble.data(), static_cast<size_t>(SCRAMBLE_LENGTH), twice, sizeof twice,
                static_cast<const char*>(nullptr));
  std::string answer(sizeof mixed, '\0');
  for (size_t i = 0; i < sizeof mixed; ++i) {
    answer[i] = static_cast<char>(mixed[i] ^ once[i]);
  }
  return answer;
}

std::string with_nul(std::string_view password) {
  std::string text(password);
  text.push_back('\0');
  return text;
}

/// The bytes that `text` stands for in base64. None where it is something else.
std::string from_base64(std::string_view text) {
  std::string bytes(text.size(), '\0');
  size_t byte_count = 0;
  const int failed =
      sodium_base642bin(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(), text.data(),
                        text.size(), nullptr, &byte_count, nullptr, sodium_base64_VARIANT_ORIGINAL);
  bytes.resize(failed != 0 ? 0 : byte_count);
  return bytes;
}

}  // namespace

void SqlClient::take(std::string_view bytes) {
  received_.append(bytes);
  while (received_.size() >= header_bytes) {
    const auto* const head = reinterpret_cast<const uint8_t*>(received_.data());
    const size_t payload_bytes = head[0] | (size_t{head[1]} << 8) | (size_t{head[2]} << 16);
    if (received_.size() < header_bytes + payload_bytes) {
      return;
    }
    sequence_ = static_cast<uint8_t>(head[3] + 1);
    const std::string payload = received_.substr(header_bytes, payload_bytes);
    received_.erase(0, header_bytes + payload_bytes);
    packet(payload);
  }
}

size_t SqlClient::give(char* place, size_t byte_count_max) {
  const size_t byte_count = std::min(byte_count_max, to_send_.size() - sent_bytes_);
  std::memcpy(place, to_send_.data() + sent_bytes_, byte_count);
  sent_bytes_ += byte_count;
  return byte_count;
}

void SqlClient::packet(std::string_view payload) {
  if (has_hung_up_ || payload.empty()) {
    has_hung_up_ = true;
    return;
  }
  const auto first = static_cast<uint8_t>(payload[0]);
  if (first == packet_error_first) {
    has_hung_up_ = true;
    note_error(payload.substr(1));
  } else if (!is_greeted_) {
    is_greeted_ = true;
    greeting(payload);
  } else if (first == packet_switch_first) {
    switch_plugin(payload.substr(1));
  } else if (first != packet_ok_first) {
    answer(first == packet_data_first ? payload.substr(1) : payload);
  }
}

/// A number of two bytes, perhaps # and the five letters of a state, and the text.
void SqlClient::note_error(std::string_view payload) {
  constexpr size_t number_bytes = 2;
  constexpr size_t state_bytes = 6;
  if (payload.size() < number_bytes) {
    return;
  }
  error_number_ = static_cast<uint8_t>(payload[0]) | (static_cast<uint8_t>(payload[1]) << 8);
  payload.remove_prefix(number_bytes);
  if (payload.size() >= state_bytes && payload.front() == '#') {
    payload.remove_prefix(state_bytes);
  }
  error_text_ = payload;
}

/// Of the protocol's version 10: version text, thread, 8 bytes of the scramble, capabilities, the size of the
/// scramble, the rest of it, the plugin.
void SqlClient::greeting(std::string_view payload) {
  constexpr size_t first_scramble_bytes = 8;
  constexpr size_t fixed_bytes = 4 + first_scramble_bytes + 1 + 2 + 1 + 2 + 2 + 1 + 10;
  const size_t version_end = payload.find('\0', 1);
  if (version_end == std::string_view::npos || payload.size() < version_end + 1 + fixed_bytes) {
    has_hung_up_ = true;
    return;
  }
  const std::string_view fixed = payload.substr(version_end + 1, fixed_bytes);
  std::string_view rest = payload.substr(version_end + 1 + fixed_bytes);
  std::string scramble(fixed.substr(4, first_scramble_bytes));
  const auto scramble_bytes = static_cast<uint8_t>(fixed[fixed_bytes - 11]);
  const size_t rest_bytes = scramble_bytes - std::min<size_t>(scramble_bytes, first_scramble_bytes);
  scramble.append(rest.substr(0, rest_bytes));
  rest.remove_prefix(std::min(rest_bytes, rest.size()));
  plugin_ = rest.substr(0, rest.find('\0'));
  std::string first_answer;
  if (plugin_ != "mysql_native_password" || !find_answer(scramble, first_answer)) {
    first_answer.clear();  // the server will ask
  }
  constexpr uint32_t capabilities = CLIENT_LONG_PASSWORD | CLIENT_PROTOCOL_41 | CLIENT_TRANSACTIONS |
                                    CLIENT_SECURE_CONNECTION | CLIENT_PLUGIN_AUTH |
                                    CLIENT_MULTI_RESULTS;  // init_connect may CALL what has a SELECT
  std::string reply;
  for (int shift = 0; shift < 32; shift += 8) {
    reply.push_back(static_cast<char>(capabilities >> shift));
  }
  reply.append({'\0', '\0', '\0', '\1'});  // the longest packet: 16 MiB
  reply.push_back(static_cast<char>(utf8mb4_general_ci));
  reply.append(23, '\0');
  reply.append(user_).push_back('\0');
  reply.push_back(static_cast<char>(first_answer.size()));
  reply.append(first_answer).append(plugin_).push_back('\0');
  send(reply);
}

void SqlClient::switch_plugin(std::string_view payload) {
  const size_t name_end = payload.find('\0');
  if (name_end == std::string_view::npos) {
    has_hung_up_ = true;  // the passwords of servers before 4.1
    return;
  }
  plugin_ = payload.substr(0, name_end);
  scramble_.clear();
  has_shown_token_ = false;
  answer(payload.substr(name_end + 1));
}

void SqlClient::answer(std::string_view data) {
  std::string text;
  if (++questions_ > limits::login_questions_max || !find_answer(data, text)) {
    has_hung_up_ = true;
  } else {
    send(text);
  }
  ::explicit_bzero(text.data(), text.size());  // it may be the password
}

bool SqlClient::find_answer(std::string_view data, std::string& answer) {
  if (plugin_ == "mysql_native_password") {
    if (data.size() < SCRAMBLE_LENGTH) {
      return false;
    }
    answer = native_answer(data, password_);
    return true;
  }
  if (plugin_ == "client_ed25519") {
    return sign_ed25519(password_, data, answer);
  }
  if (plugin_ == "parsec") {
    return find_answer_of_parsec(data, answer);
  }
  if (plugin_ == "auth_gssapi_client") {
    // A token is all that the client has said. It is not asked for another one where this one is right. To no
    // token the plugin answers with a question; a wrong one lets the account's next plugin try.
    answer = from_base64(password_);
    if (answer.empty()) {
      answer.push_back('\0');
    }
    return !std::exchange(has_shown_token_, true);
  }
  if (plugin_ == "dialog" || plugin_ == "mysql_clear_password") {
    answer = with_nul(password_);
    return true;
  }
  return false;
}

/// The server sends its scramble. An empty answer has it send the account's salt.
bool SqlClient::find_answer_of_parsec(std::string_view data, std::string& answer) {
  if (scramble_.empty()) {
    scramble_ = data;
    return true;
  }
  return sign_parsec(password_, data, scramble_, answer);
}

void SqlClient::send(std::string_view payload) {
  to_send_.erase(0, sent_bytes_);
  sent_bytes_ = 0;
  for (int shift = 0; shift < 24; shift += 8) {
    to_send_.push_back(static_cast<char>(payload.size() >> shift));
  }
  to_send_.push_back(static_cast<char>(sequence_));
  to_send_.append(payload);
}

}  // namespace rowsocket::mariadb
