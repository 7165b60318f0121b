// SPDX-License-Identifier: GPL-2.0-only
//
// Who may ask what: secrets and ports, and which error comes first when several would fit.
#include "exec/executor_fixture.h"

namespace rowsocket::exec {
namespace {

class AdmissionTest : public ExecutorTest {
 protected:
  /// What a new connection may do, and what it may do after it sent each of the secrets.
  Access access_after(Access port_access, std::initializer_list<Cell> secrets) {
    use_settings();
    Connection& connection = connect(port_access);
    for (const Cell& secret : secrets) {
      last_reply = ask(connection, Ask::authenticate(secret));
    }
    return connection.client.account.granted();
  }

  std::string last_reply;
};

TEST_F(AdmissionTest, without_secrets_a_port_grants_all_it_allows) {
  EXPECT_EQ(access_after(Access::read, {}), Access::read);
  EXPECT_EQ(access_after(Access::write, {}), Access::write);
}

TEST_F(AdmissionTest, the_read_secret_alone_guards_both_ports) {
  settings.secret_read = "r";
  EXPECT_EQ(access_after(Access::read, {}), Access::none);
  EXPECT_EQ(access_after(Access::write, {}), Access::none);
  EXPECT_EQ(access_after(Access::read, {"r"}), Access::read);
  EXPECT_EQ(access_after(Access::write, {"r"}), Access::write);
}

TEST_F(AdmissionTest, the_write_secret_alone_guards_writing_only) {
  settings.secret_write = "w";
  EXPECT_EQ(access_after(Access::read, {}), Access::read);
  EXPECT_EQ(access_after(Access::write, {}), Access::read);
  EXPECT_EQ(access_after(Access::write, {"w"}), Access::write);
}

TEST_F(AdmissionTest, with_two_secrets_each_grants_its_own) {
  settings.secret_read = "r";
  settings.secret_write = "w";
  EXPECT_EQ(access_after(Access::read, {}), Access::none);
  EXPECT_EQ(access_after(Access::write, {}), Access::none);
  EXPECT_EQ(access_after(Access::read, {"r"}), Access::read);
  EXPECT_EQ(access_after(Access::read, {"w"}), Access::read);
  EXPECT_EQ(access_after(Access::write, {"r"}), Access::read);
  EXPECT_EQ(access_after(Access::write, {"w"}), Access::write);
}

TEST_F(AdmissionTest, one_secret_for_both_grants_writing) {
  settings.secret_read = settings.secret_write = "s";
  EXPECT_EQ(access_after(Access::write, {"s"}), Access::write);
}

TEST_F(AdmissionTest, a_wrong_secret_takes_back_what_a_right_one_granted) {
  settings.secret_read = "right";
  EXPECT_EQ(access_after(Access::write, {"right", "wrong"}), Access::none);
  EXPECT_EQ(last_reply, "error not_authenticated");
}

TEST_F(AdmissionTest, a_wrong_secret_never_takes_what_needs_none) {
  settings.secret_write = "w";
  EXPECT_EQ(access_after(Access::write, {"w", "wrong"}), Access::read);
}

TEST_F(AdmissionTest, only_the_whole_secret_is_the_secret) {
  settings.secret_read = "secret";
  for (const Cell& wrong :
       std::vector<Cell>{"", "s", "secre", "secrets", "secretsecret", "Secret", NULL_VALUE}) {
    EXPECT_EQ(access_after(Access::read, {wrong}), Access::none) << wrong.value_or("NULL");
  }
}

TEST_F(AdmissionTest, where_no_secret_is_set_the_empty_one_is_right_and_others_change_nothing) {
  EXPECT_EQ(access_after(Access::write, {""}), Access::write);
  EXPECT_EQ(last_reply, "ok");
  for (const Cell& wrong : std::vector<Cell>{"anything", NULL_VALUE}) {
    EXPECT_EQ(access_after(Access::write, {wrong}), Access::write);
    EXPECT_EQ(last_reply, "error not_authenticated");
  }
}

TEST_F(AdmissionTest, an_empty_secret_does_not_stand_for_a_secret_that_is_not_set) {
  settings.secret_write = "w";
  EXPECT_EQ(access_after(Access::write, {""}), Access::read);
  EXPECT_EQ(last_reply, "error not_authenticated");
}

TEST_F(AdmissionTest, an_unknown_authentication_type_is_refused_and_changes_nothing) {
  settings.secret_read = "r";
  use_settings();
  Connection& connection = connect(Access::read);
  EXPECT_EQ(ask(connection, Ask::authenticate("r", Authenticate::Method::account)),
            "error not_authenticated");
  EXPECT_EQ(connection.client.account.granted(), Access::none);
}

class Somebody final : public engine::Identity {
 public:
  explicit Somebody(uint64_t number) : number_(number) {}
  [[nodiscard]] uint64_t number() const override { return number_; }
  [[nodiscard]] std::string account_name() const override { return std::to_string(number_); }
  [[nodiscard]] uint64_t log_number() const override { return 100 + number_; }

 private:
  uint64_t number_;
};

TEST_F(AdmissionTest, what_a_client_opened_is_gone_when_it_is_somebody_else) {
  Connection& client = shopper();
  const auto log_in = [&](uint64_t number) {
    client.client.account.set_outcome(std::make_shared<Somebody>(number));
    Ask login = Ask::authenticate("", Authenticate::Method::secret_or_account);
    EXPECT_EQ(ask(client, login), "ok");
  };
  log_in(7);
  EXPECT_EQ(ask(client, Ask::find(0, {"1"})), "error unknown_id");
  EXPECT_EQ(ask(client, Ask::open(0, "shop.item", "", "id")), "ok");
  log_in(7);
  EXPECT_EQ(ask(client, Ask::find(0, {"1"})), "rows/1 1");
  log_in(8);
  EXPECT_EQ(ask(client, Ask::find(0, {"1"})), "error unknown_id");
}

TEST_F(AdmissionTest, so_is_what_it_named_in_full) {
  Connection& client = connect();
  const Ask find = Ask::find(0, {"1"}).of("shop.item", "", "id");
  EXPECT_EQ(ask(client, find), "rows/1 1");
  EXPECT_GT(client.client.held_bytes(), 0U);
  client.client.account.set_outcome(std::make_shared<Somebody>(7));
  EXPECT_EQ(ask(client, Ask::authenticate("", Authenticate::Method::account)), "ok");
  EXPECT_EQ(client.client.held_bytes(), 0U);
  EXPECT_EQ(ask(client, find), "rows/1 1");
  const SelectionNames names{.database = "shop", .table = "item", .columns = "id"};
  EXPECT_EQ(client.client.selection_named(names, "id")->description().account, 7U);
}

TEST_F(AdmissionTest, the_number_of_a_client_in_the_logs_is_that_of_its_last_login) {
  Connection& client = shopper();
  EXPECT_EQ(client.client.log_number, 0U);
  for (const uint64_t number : {7, 8}) {
    client.client.account.set_outcome(std::make_shared<Somebody>(number));
    ask(client, Ask::authenticate("", Authenticate::Method::account));
    EXPECT_EQ(client.client.log_number, 100 + number);
  }
  ask(client, Ask::authenticate("wrong", Authenticate::Method::account));
  EXPECT_EQ(client.client.log_number, 0U);
}

TEST_F(AdmissionTest, who_says_a_secret_right_or_wrong_is_no_account_any_more) {
  settings.secret_read = "r";
  use_settings();
  for (const Cell& secret : {"r", "wrong"}) {
    Connection& client = connect();
    client.client.account.set_outcome(std::make_shared<Somebody>(7));
    EXPECT_EQ(ask(client, Ask::authenticate("", Authenticate::Method::account)), "ok");
    EXPECT_NE(client.client.account.identity(), nullptr);
    ask(client, Ask::authenticate(secret));
    EXPECT_EQ(client.client.account.identity(), nullptr);
  }
}

TEST_F(AdmissionTest, who_wants_to_be_nobody_is_what_it_was_when_it_came) {
  settings.secret_read = "r";
  use_settings();
  Connection& client = connect();
  for (const bool has_account : {true, false}) {
    if (has_account) {
      client.client.account.set_outcome(std::make_shared<Somebody>(7));
    }
    const auto method = has_account ? Authenticate::Method::account : Authenticate::Method::port_secret;
    EXPECT_EQ(ask(client, Ask::authenticate("r", method)), "ok");
    EXPECT_EQ(ask(client, Ask::open(0, "shop.item", "", "id")), "ok");
    EXPECT_EQ(ask(client, Ask::authenticate("", Authenticate::Method::nobody)), "ok");
    EXPECT_EQ(client.client.account.identity(), nullptr);
    EXPECT_EQ(ask(client, Ask::find(0, {"1"})), "error not_authenticated");
  }
}

TEST_F(AdmissionTest, without_access_nothing_but_authentication_is_answered) {
  settings.secret_read = "r";
  use_settings();
  Connection& stranger = connect();
  for (const Ask& ask_for : {Ask::open(0, "shop.item", "", "id"), Ask::find(0, {"1"}), Ask::insert(0, {"1"}),
                             Ask::find(0, {"1"}).malformed(ErrorCode::syntax)}) {
    EXPECT_EQ(ask(stranger, ask_for), "error not_authenticated");
  }
  EXPECT_EQ(count(Counter::errors_authentication), 4);
}

TEST_F(AdmissionTest, an_unknown_command_is_unknown_to_everybody) {
  settings.secret_read = "r";
  use_settings();
  EXPECT_EQ(ask(connect(), Ask::refused(ErrorCode::unknown_command)), "error unknown_command");
  EXPECT_EQ(ask(connect(), Ask::refused(ErrorCode::line_too_long)), "error line_too_long");
  EXPECT_EQ(ask(connect(), Ask::refused(ErrorCode::none)), "error unknown_command");
}

TEST_F(AdmissionTest, what_is_for_readers_is_told_nobody_else) {
  settings.secret_read = "r";
  use_settings();
  Connection& client = connect();
  EXPECT_EQ(ask(client, Ask::nothing()), "ok");
  EXPECT_EQ(ask(client, Ask::nothing().for_readers()), "error not_authenticated");
  EXPECT_EQ(ask(client, Ask::refused(ErrorCode::syntax).for_readers()), "error not_authenticated");
  EXPECT_EQ(ask(client, Ask::authenticate("r")), "ok");
  EXPECT_EQ(ask(client, Ask::nothing().for_readers()), "ok");
  EXPECT_EQ(ask(client, Ask::refused(ErrorCode::syntax).for_readers()), "error syntax");
  client.client.account.set_barred(true);
  EXPECT_EQ(ask(client, Ask::nothing().for_readers()), "error not_authenticated");
  EXPECT_EQ(client.client.account.shown_number(), engine::own_account);
}

TEST_F(AdmissionTest, who_has_no_account_any_more_is_no_reader) {
  Connection& client = connect();
  Connection& other = connect();
  for (Connection* const one : {&client, &other}) {
    one->client.account.set_outcome(std::make_shared<Somebody>(one == &client ? 7 : 8));
    ask(*one, Ask::authenticate("", Authenticate::Method::account));
  }
  begin();
  send(client, Ask::nothing().for_readers());
  engine.drop_account(7);
  send(other, Ask::nothing().for_readers());
  send(client, Ask::nothing().for_readers());
  send(other, Ask::nothing().for_readers());
  executor->others_came();
  send(client, Ask::nothing().for_readers());
  end();
  EXPECT_THAT(replies(client),
              testing::ElementsAre("ok", "error not_authenticated", "error not_authenticated"));
  EXPECT_THAT(replies(other), testing::ElementsAre("ok", "ok"));
  EXPECT_EQ(ask(client, Ask::nothing().for_readers()), "error not_authenticated");
  EXPECT_EQ(ask(client, Ask::nothing()), "ok");
}

TEST_F(AdmissionTest, whether_an_account_is_there_is_asked_again_in_each_turn) {
  Connection& client = connect();
  EXPECT_EQ(ask(client, Ask::nothing().for_readers()), "ok");
  engine.drop_account(client.client.account.number());
  EXPECT_EQ(ask(client, Ask::nothing().for_readers()), "error not_authenticated");
}

TEST_F(AdmissionTest, whether_an_account_is_there_is_asked_again_where_others_came) {
  Connection& client = connect();
  begin();
  send(client, Ask::nothing().for_readers());
  engine.drop_account(client.client.account.number());
  executor->others_came();
  send(client, Ask::nothing().for_readers());
  end();
  EXPECT_THAT(replies(client), testing::ElementsAre("ok", "error not_authenticated"));
}

TEST_F(AdmissionTest, an_unknown_id_comes_before_a_malformed_request) {
  Connection& shop = shopper();
  EXPECT_EQ(ask(shop, Ask::find(7, {"1"}).malformed(ErrorCode::syntax)), "error unknown_id");
  EXPECT_EQ(ask(shop, Ask::insert(4'000'000'000, {"1"}).malformed(ErrorCode::none)), "error unknown_id");
}

TEST_F(AdmissionTest, a_malformed_request_comes_before_the_right_to_write) {
  Connection& reader = shopper(Access::read);
  EXPECT_EQ(ask(reader, Ask::insert(0, {"1"}).malformed(ErrorCode::syntax)), "error syntax");
}

TEST_F(AdmissionTest, a_write_on_a_read_connection_is_refused) {
  Connection& reader = shopper(Access::read);
  EXPECT_EQ(ask(reader, Ask::insert(0, {"6"})), "error read_only");
  EXPECT_EQ(ask(reader, Ask::find(0, {"1"}).remove()), "error read_only");
  EXPECT_EQ(ask(reader, Ask::find(0, {"1"}).skip_unless(99, Comparison::equal, "1").remove()),
            "error read_only");
  EXPECT_EQ(engine.rows("shop.item").size(), 5);
}

TEST_F(AdmissionTest, the_session_of_a_read_worker_refuses_writes_by_itself) {
  use_session(engine::Intent::read);
  EXPECT_EQ(ask(shopper(Access::write), Ask::find(0, {"1"}).remove()), "error read_only");
}

TEST_F(AdmissionTest, a_filter_on_a_column_that_is_not_opened_is_refused) {
  EXPECT_EQ(ask(shopper(), Ask::find(0, {"1"}).skip_unless(2, Comparison::equal, "1")),
            "error bad_filter_column");
}

TEST_F(AdmissionTest, so_is_one_on_the_row_that_is_there_already) {
  Connection& shop = shopper();
  const Ask upsert = Ask::insert(0, {"1", "pen", "1"}).on_duplicate(OnDuplicate::change, {0});
  EXPECT_EQ(ask(shop, Ask(upsert).skip_unless(2, Comparison::equal, "1")), "error bad_filter_column");
}

TEST_F(AdmissionTest, more_values_than_columns_are_refused) {
  Connection& shop = shopper();
  EXPECT_EQ(ask(shop, Ask::insert(0, {"1", "2", "3", "4"})), "error too_many_values");
  EXPECT_EQ(ask(shop, Ask::find(0, {"1"}).update({"1", "2", "3", "4"})), "error too_many_values");
}

TEST_F(AdmissionTest, a_request_without_values_is_refused) {
  Connection& shop = shopper();
  EXPECT_EQ(ask(shop, Ask::insert(0, {})), "error no_key_values");
  EXPECT_EQ(ask(shop, Ask::find(0, {})), "error no_key_values");
}

TEST_F(AdmissionTest, an_in_list_needs_values_and_a_key_part_to_stand_for) {
  Connection& shop = shopper();
  EXPECT_EQ(ask(shop, Ask::find(0, {"1"}).in(0, {})), "error bad_in_list");
  EXPECT_EQ(ask(shop, Ask::find(2, {"1"}).in(1, {"2"})), "error too_many_key_parts");
  EXPECT_EQ(ask(shop, Ask::find(0, {"1"}).in(4'000'000'000, {"2"})), "error too_many_key_parts");
}

TEST_F(AdmissionTest, a_list_of_values_for_a_part_beyond_the_key_is_refused) {
  Connection& shop = shopper();
  for (const uint32_t part : {1U, 9U, 4'294'967'295U}) {
    EXPECT_EQ(ask(shop, Ask::find(0, {"1"}).in(part, {"2"})), "error too_many_key_parts") << part;
  }
}

TEST_F(AdmissionTest, what_is_malformed_comes_before_keys_that_make_no_sense) {
  const auto wrong_ends = [] { return Ask::find(0, {"1"}).to(KeyOperator::before, {"2"}); };
  EXPECT_EQ(ask(shopper(), wrong_ends().malformed(ErrorCode::syntax)), "error syntax");
  EXPECT_EQ(ask(shopper(), wrong_ends().in(1, {"2"})), "error bad_operator");
}

TEST_F(AdmissionTest, keys_that_make_no_sense_come_before_the_right_to_write) {
  Connection& reader = shopper(Access::read);
  EXPECT_EQ(ask(reader, Ask::find(0, {"1"}).to(KeyOperator::before, {"2"}).remove()), "error bad_operator");
  EXPECT_EQ(ask(reader, Ask::find(0, {"1"}).in(1, {"2"}).remove()), "error too_many_key_parts");
}

TEST_F(AdmissionTest, a_request_for_nothing_is_done_unless_it_is_malformed) {
  EXPECT_EQ(ask(connect(), Ask::nothing()), "ok");
  EXPECT_EQ(ask(connect(), Ask::nothing().malformed(ErrorCode::syntax)), "error syntax");
}

TEST_F(AdmissionTest, open_index_refuses_names_that_no_table_can_have) {
  Connection& shop = connect();
  const std::string long_name(limits::name_bytes_max + 1, 'x');
  const std::string many_names(limits::value_count_max, ',');
  EXPECT_EQ(ask(shop, Ask::open(0, long_name + ".item", "", "id")), "error cannot_open_table");
  EXPECT_EQ(ask(shop, Ask::open(0, "shop." + long_name, "", "id")), "error cannot_open_table");
  EXPECT_EQ(ask(shop, Ask::open(0, "shop.item", long_name, "id")), "error no_such_index");
  EXPECT_EQ(ask(shop, Ask::open(0, "shop.item", "", "id," + long_name)), "error no_such_column");
  EXPECT_EQ(ask(shop, Ask::open(0, "shop.item", "", "id", many_names)), "error no_such_column");
}

TEST_F(AdmissionTest, names_are_as_long_and_as_many_as_they_may_be_and_no_more) {
  const std::string longest(limits::name_bytes_max, 'x');
  const std::string longer = longest + "x";
  for (const std::string& name : {longest, longer}) {
    engine.create_table("shop." + name, {.columns = {engine::memory::integer(name)},
                                         .indexes = {{"PRIMARY", {name}, true}, {name, {name}, false}}});
  }
  Connection& shop = connect();
  EXPECT_EQ(ask(shop, Ask::open(0, "shop." + longest, longest, longest, longest)), "ok");
  EXPECT_EQ(ask(shop, Ask::open(0, "shop." + longer, "", longer)), "error cannot_open_table");
  engine.create_table("shop.t", {.columns = {engine::memory::integer(longer)},
                                 .indexes = {{"PRIMARY", {longer}, true}, {longer, {longer}, false}}});
  EXPECT_EQ(ask(shop, Ask::open(0, "shop.t", longer, "")), "error no_such_index");
  EXPECT_EQ(ask(shop, Ask::open(0, "shop.t", "", longer)), "error no_such_column");
  EXPECT_EQ(ask(shop, Ask::open(0, "shop.t", "", "", longer)), "error no_such_column");
  EXPECT_EQ(ask(shop, Ask::find(0, {"1"}).of("shop." + longer, "", "")), "error cannot_open_table");
  EXPECT_EQ(ask(shop, Ask::find(0, {"1"}).of("shop.t", "", longer)), "error no_such_column");
  EXPECT_EQ(ask(shop, Ask::find(0, {"1"}).of("shop.t", "", "").columns(longer)), "error no_such_column");

  std::string names = "id";
  for (uint32_t count = 1; count < limits::value_count_max; ++count) {
    names += ",id";
  }
  EXPECT_EQ(ask(shop, Ask::open(1, "shop.item", "", names)), "ok");
  EXPECT_EQ(ask(shop, Ask::open(1, "shop.item", "", names + ",id")), "error no_such_column");
}

TEST_F(AdmissionTest, open_index_refuses_ids_beyond_the_limit) {
  EXPECT_EQ(ask(connect(), Ask::open(16, "shop.item", "", "id")), "error unknown_id");
  EXPECT_EQ(ask(connect(), Ask::open(15, "shop.item", "", "id")), "ok");
}

TEST_F(AdmissionTest, an_open_index_that_is_refused_opens_nothing) {
  settings.secret_read = "r";
  use_settings();
  Connection& shop = connect();
  EXPECT_EQ(ask(shop, Ask::open(0, "shop.item", "", "id")), "error not_authenticated");
  EXPECT_EQ(ask(shop, Ask::authenticate("r")), "ok");
  EXPECT_EQ(ask(shop, Ask::open(1, "shop.item", "", "id").malformed(ErrorCode::syntax)), "error syntax");
  EXPECT_EQ(ask(shop, Ask::open(16, "shop.item", "", "id")), "error unknown_id");
  for (const uint32_t id : {0U, 1U, 16U}) {
    EXPECT_EQ(shop.client.selection(id), nullptr) << id;
  }
}

TEST_F(AdmissionTest, open_index_asks_the_engine_for_all_that_the_request_says_of_the_names) {
  Connection& shop = connect();
  const auto opened = [&](const std::function<void(SelectionNames&)>& change) {
    EXPECT_EQ(ask(shop, Ask::open(0, "shop.item", "by_shelf", "id", "stock").naming(change)), "ok");
    const engine::Selection* const selection = shop.client.selection(0);
    return selection == nullptr ? engine::SelectionDescription{} : selection->description();
  };
  engine::SelectionDescription expected = opened([](SelectionNames&) {});
  EXPECT_EQ(expected.database + expected.table + expected.index, "shopitemby_shelf");
  EXPECT_EQ(expected.columns + expected.filter_columns + expected.unique_columns, "idstock");
  using Field = bool engine::SelectionDescription::*;
  const std::vector<std::pair<Field, bool SelectionNames::*>> fields = {
      {&engine::SelectionDescription::raw, &SelectionNames::raw},
      {&engine::SelectionDescription::key_columns_first, &SelectionNames::key_columns_first},
      {&engine::SelectionDescription::integer_filters, &SelectionNames::integer_filters},
      {&engine::SelectionDescription::walked_in_steps, &SelectionNames::walked_in_steps},
      {&engine::SelectionDescription::all_columns, &SelectionNames::all_columns}};
  for (size_t number = 0; number < fields.size(); ++number) {
    const engine::SelectionDescription description =
        opened([&](SelectionNames& names) { names.*fields[number].second = true; });
    for (size_t other = 0; other < fields.size(); ++other) {
      EXPECT_EQ(description.*fields[other].first, other == number) << number << " " << other;
    }
  }
}

TEST_F(AdmissionTest, open_index_passes_on_what_the_engine_refuses) {
  Connection& shop = connect();
  EXPECT_EQ(ask(shop, Ask::open(0, "shop.nothing", "", "id")), "error cannot_open_table");
  EXPECT_EQ(ask(shop, Ask::open(0, "shop.item", "by_color", "id")), "error no_such_index");
  EXPECT_EQ(ask(shop, Ask::open(0, "shop.item", "", "id,color")), "error no_such_column");
  EXPECT_EQ(count(Counter::errors_table), 1);
  EXPECT_EQ(count(Counter::errors_request), 2);
}

TEST_F(AdmissionTest, a_failed_open_index_leaves_the_id_as_it_was) {
  Connection& shop = shopper();
  EXPECT_EQ(ask(shop, Ask::open(0, "shop.nothing", "", "id")), "error cannot_open_table");
  EXPECT_EQ(ask(shop, Ask::find(0, {"1"})), "rows/3 5 pen 1");
}

TEST_F(AdmissionTest, opening_an_id_again_replaces_it) {
  Connection& shop = shopper();
  EXPECT_EQ(ask(shop, Ask::open(0, "shop.item", "by_shelf", "id")), "ok");
  EXPECT_EQ(ask(shop, Ask::find(0, {"10"}).limit(9)), "rows/1 1 2");
}

TEST_F(AdmissionTest, an_open_tells_the_types_of_its_columns_where_they_are_asked_for) {
  Connection& shop = shopper();
  EXPECT_EQ(ask(shop, Ask::open(0, "shop.item", "", "id,name").tell_types()), "ok bigint(20) varchar(8)");
  EXPECT_EQ(ask(shop, Ask::open(0, "shop.item", "", "id,name")), "ok");
  EXPECT_EQ(ask(shop, Ask::open(0, "shop.item", "", "").tell_types()), "ok");
}

TEST_F(AdmissionTest, an_open_whose_types_take_more_than_a_reply_may_leaves_the_id_as_it_was) {
  Connection& shop = shopper();
  EXPECT_EQ(ask(shop, Ask::open(0, "shop.item", "", "id")), "ok");
  settings.reply_bytes_max = 19;
  use_settings();
  EXPECT_EQ(ask(shop, Ask::open(0, "shop.item", "", "id,name").tell_types()), "error reply_too_large");
  EXPECT_EQ(ask(shop, Ask::find(0, {"1"})), "rows/1 1");
}

TEST_F(AdmissionTest, with_error_detail_a_refusal_explains_itself) {
  settings.error_detail = true;
  use_settings();
  EXPECT_EQ(ask(connect(), Ask::authenticate("x", Authenticate::Method::account)),
            "error not_authenticated (log in first)");
}

}  // namespace
}  // namespace rowsocket::exec
