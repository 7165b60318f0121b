// SPDX-License-Identifier: GPL-2.0-only
//
// All that commands ask of tables, and all that they may answer, word for word (see ProtocolTest::whole):
// what no other test is about is seen here.
#include <array>
#include <initializer_list>
#include <string>
#include <utility>

#include "wire/memcached/parser_fixture.h"
#include "wire/memcached/tally.h"

namespace rowsocket::wire::memcached::test {
namespace {

class WholeTest : public MemcachedTest {
 protected:
  /// What the connection counts since it was asked last.
  std::string counted(Reply& reply) override {
    std::array<uint64_t, count_count> before{};
    for (size_t number = 0; number < count_count; ++number) {
      before[number] = Tally::sum(static_cast<Count>(number));
    }
    reply.count();
    std::string words;
    for (size_t number = 0; number < count_count; ++number) {
      const uint64_t added = Tally::sum(static_cast<Count>(number)) - before[number];
      words += added == 0 ? "" : " " + std::string(name_of(static_cast<Count>(number)));
      words += added > 1 ? " " + std::to_string(added) : "";
    }
    return words;
  }
  /// `command` with a ~ where a line ends before the last one.
  static std::string bytes_of(std::string command) {
    const size_t end = command.find('~');
    return (end == std::string::npos ? command : command.replace(end, 1, "\r\n")) + "\r\n";
  }

  /// The commands, each with what it asks for and answers.
  void expect(std::initializer_list<std::pair<const char*, const char*>> commands) {
    for (const auto& [command, expected] : commands) {
      EXPECT_EQ(whole(bytes_of(command)), expected) << command;
    }
  }
};

TEST_F(WholeTest, values_are_read) {
  expect({
      {"get a",
       "find d.t@PRIMARY[v,f] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' tell rows counts > VALUE a 2 1|1|END| get_hits > END| get_misses > "
       "SERVER_ERROR container 'all': engine 121| get_misses"},
      {"gets a",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' tell rows counts > VALUE a 2 1 3|1|END| get_hits > END| get_misses > "
       "SERVER_ERROR container 'all': engine 121| get_misses"},
      {"get @@wide.1|2",
       "find d.wide@PRIMARY[x,y] by[e,c] unique[a,b] integers =('1' '2') exact skip unless "
       "0>|unset'1800000000' tell rows counts > VALUE @@wide.1|2 0 3|1|2|END| get_hits > END| "
       "get_misses > SERVER_ERROR container 'wide': engine 121| get_misses"},
      {"get a b",
       "find d.t@PRIMARY[v,f] by[e,c,f] unique[k] integers =('a') exact keys('a' 'b') limit 2 skip "
       "unless 0>|unset'1800000000' tell rows counts > VALUE a 2 1|1|END| get_hits get_misses > END| "
       "get_misses 2 > SERVER_ERROR container 'all': engine 121| get_misses 2"},
      {"gets a @@bare.b @@wide.1|2",
       "group {find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' tell rows counts} {find d.bare@by_k[v] unique[k] integers =('b') exact "
       "tell rows counts} {find d.wide@PRIMARY[x,y,c,e] by[e,c] unique[a,b] integers =('1' '2') exact "
       "skip unless 0>|unset'1800000000' tell rows counts} > VALUE a 2 1 3|1|VALUE @@bare.b 0 1 "
       "0|1|VALUE @@wide.1|2 0 3 3|1|2|END|"},
      {"gat 10 a",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 3='1800000010' tell rows counts > VALUE a 2 1|1|END| get_hits > END| "
       "get_misses > SERVER_ERROR container 'all': engine 121| get_misses"},
      {"gats 10 a b",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact keys('a' 'b') limit 2 skip "
       "unless 0>|unset'1800000000' set 3='1800000010' tell rows counts > VALUE a 2 1 3|1|END| get_hits "
       "get_misses > END| get_misses 2 > SERVER_ERROR container 'all': engine 121| get_misses 2"},
      {"gat 0 @@bare.a",
       "find d.bare@by_k[v] unique[k] integers =('a') exact tell rows counts > VALUE @@bare.a 0 "
       "1|1|END| get_hits > END| get_misses > SERVER_ERROR container 'bare': engine 121| get_misses"},
      {"mg a",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' tell rows misses counts > HD| get_hits > EN| get_misses > SERVER_ERROR "
       "container 'all': engine 121|"},
      {"mg a v",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' tell rows misses counts > VA 1|1| get_hits > EN| get_misses > SERVER_ERROR "
       "container 'all': engine 121|"},
      {"mg a t f c s v k Oxyz",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' tell rows misses counts > VA 1 t0 f2 c3 s1 ka Oxyz|1| get_hits > EN ka "
       "Oxyz| get_misses > SERVER_ERROR container 'all': engine 121|"},
      {"mg a v q",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' tell rows misses counts > VA 1|1| get_hits >  get_misses > SERVER_ERROR "
       "container 'all': engine 121|"},
      {"mg a v T10",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 3='1800000010' tell-after rows misses counts > VA 1|1| get_hits > EN| "
       "get_misses > SERVER_ERROR container 'all': engine 121|"},
      {"mg a v N10",
       "refused mistake syntax for-readers > CLIENT_ERROR invalid flag: a table has no answer to it|"},
      {"mg YQ== b k v",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' tell rows misses counts > VA 1 kYQ== b|1| get_hits > EN kYQ== b| "
       "get_misses > SERVER_ERROR container 'all': engine 121|"},
      {"get @@bare", "open d.bare@by_k[v] unique[k] integers"},
  });
}

TEST_F(WholeTest, values_are_stored) {
  expect({
      {"set a 3 10 1~5",
       "insert d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers ('a' '5' '3' CAS '1800000010') "
       "change set 1= 2= 3= 4= names-row counts > STORED| cmd_set > STORED| cmd_set > STORED| cmd_set > "
       "SERVER_ERROR container 'all': engine 121|"},
      {"set @@wide.1|2 3 0 3~5|6",
       "insert d.wide@PRIMARY[a,b,x,y,e,c] by[e,c] unique[a,b] integers ('1' '2' '5' '6' '0') change "
       "set 2= 3= 4= names-row counts > STORED| cmd_set > STORED| cmd_set > STORED| cmd_set > "
       "SERVER_ERROR container 'wide': engine 121|"},
      {"set @@bare.a 0 0 1~5",
       "insert d.bare@by_k[k,v] unique[k] integers ('a' '5') change set 1= names-row counts > STORED| "
       "cmd_set > STORED| cmd_set > STORED| cmd_set > SERVER_ERROR container 'bare': engine 121|"},
      {"add a 3 0 1~5",
       "insert d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers ('a' '5' '3' CAS '0') change set 1= "
       "2= 3= 4= skip unless 0<='1800000000' skip unless 0!='0' skip unless 0!=NULL names-row counts > "
       "STORED| cmd_set > STORED| cmd_set > NOT_STORED| cmd_set > SERVER_ERROR container 'all': engine "
       "121|"},
      {"replace a 3 0 1~5",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 0='5' 1='3' 3='0' 2=CAS count counts > STORED| cmd_set > STORED| "
       "cmd_set > EXISTS| cas_badval > NOT_STORED| cmd_set > SERVER_ERROR container 'all': engine 121|"},
      {"append a 3 0 1~5",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 0append'5' 2=CAS count counts > STORED| cmd_set > STORED| cmd_set > "
       "EXISTS| cas_badval > NOT_STORED| cmd_set > SERVER_ERROR container 'all': engine 121|"},
      {"prepend a 3 0 1~5",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 0prepend'5' 2=CAS count counts > STORED| cmd_set > STORED| cmd_set > "
       "EXISTS| cas_badval > NOT_STORED| cmd_set > SERVER_ERROR container 'all': engine 121|"},
      {"cas a 3 0 1 42~5",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' refuse unless 1='42' set 0='5' 1='3' 3='0' 2=CAS count counts > STORED| "
       "cas_hits > STORED| cas_hits > EXISTS| cas_badval > NOT_FOUND| cas_misses > SERVER_ERROR "
       "container 'all': engine 121|"},
      {"set a 3 10 1 noreply~5",
       "insert d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers ('a' '5' '3' CAS '1800000010') "
       "change set 1= 2= 3= 4= names-row counts >  cmd_set >  cmd_set >  cmd_set > "},
      {"ms a 1~5",
       "insert d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers ('a' '5' '0' CAS '0') change set 1= "
       "2= 3= 4= names-row rows misses counts > HD| cmd_set > HD| cmd_set > HD| cmd_set > SERVER_ERROR "
       "container 'all': engine 121|"},
      {"ms a 1 F3 T10 c k Oxyz~5",
       "insert d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers ('a' '5' '3' CAS '1800000010') "
       "change set 1= 2= 3= 4= names-row telling rows misses counts > HD ka Oxyz| cmd_set > HD ka Oxyz| "
       "cmd_set > HD ka Oxyz| cmd_set > SERVER_ERROR container 'all': engine 121|"},
      {"ms a 1 C42~5",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' refuse unless 1='42' set 0='5' 1='0' 3='0' 2=CAS count rows misses counts "
       "> HD| cas_hits > HD| cas_hits > EX| cas_badval > NF| cas_misses > SERVER_ERROR container 'all': "
       "engine 121|"},
      {"ms a 1 ME~5",
       "insert d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers ('a' '5' '0' CAS '0') change set 1= "
       "2= 3= 4= skip unless 0<='1800000000' skip unless 0!='0' skip unless 0!=NULL names-row rows "
       "misses counts > HD| cmd_set > HD| cmd_set > NS| cmd_set > SERVER_ERROR container 'all': engine "
       "121|"},
      {"ms a 1 MA~5",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 0append'5' 2=CAS count rows misses counts > HD| cmd_set > HD| cmd_set "
       "> EX| cmd_set > NS| cmd_set > SERVER_ERROR container 'all': engine 121|"},
      {"ms a 1 MA N10~5",
       "find d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 1append'5' 3=CAS count rows misses counts else insert "
       "d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers ('a' '5' '0' CAS '1800000010') change set "
       "1= 2= 3= 4= names-row > HD| cmd_set > HD| cmd_set > EX| cmd_set >  > HD| cmd_set > SERVER_ERROR "
       "container 'all': engine 121|"},
      {"ms a 1 MP~5",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 0prepend'5' 2=CAS count rows misses counts > HD| cmd_set > HD| cmd_set "
       "> EX| cmd_set > NS| cmd_set > SERVER_ERROR container 'all': engine 121|"},
      {"ms a 1 MR q~5",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 0='5' 1='0' 3='0' 2=CAS count rows misses counts >  cmd_set >  cmd_set "
       "> EX| cmd_set > NS| cmd_set > SERVER_ERROR container 'all': engine 121|"},
      {"ms @@bare.a 1 c~5",
       "insert d.bare@by_k[k,v] unique[k] integers ('a' '5') change set 1= names-row telling rows "
       "misses counts > HD| cmd_set > HD| cmd_set > HD| cmd_set > SERVER_ERROR container 'bare': engine "
       "121|"},
      {"ms @@wide.1|2 3 T0~5|6",
       "insert d.wide@PRIMARY[a,b,x,y,e,c] by[e,c] unique[a,b] integers ('1' '2' '5' '6' '0') change "
       "set 2= 3= 4= names-row rows misses counts > HD| cmd_set > HD| cmd_set > HD| cmd_set > "
       "SERVER_ERROR container 'wide': engine 121|"},
      {"ms a 1 q~5",
       "insert d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers ('a' '5' '0' CAS '0') change set 1= "
       "2= 3= 4= names-row rows misses counts >  cmd_set >  cmd_set >  cmd_set > SERVER_ERROR container "
       "'all': engine 121|"},
  });
}

TEST_F(WholeTest, values_are_counted) {
  expect({
      {"incr a 5",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 0+wrap'5' 2=CAS as increment tell-after rows misses counts > 1| "
       "incr_hits > NOT_FOUND| incr_misses > SERVER_ERROR container 'all': engine 121|"},
      {"decr a 5",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 0-zero'5' 2=CAS as increment tell-after rows misses counts > 1| "
       "decr_hits > NOT_FOUND| decr_misses > SERVER_ERROR container 'all': engine 121|"},
      {"decr a 5 noreply",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 0-zero'5' 2=CAS as increment count counts >  decr_hits >  decr_hits >  "
       ">  decr_misses > "},
      {"incr a 5 noreply",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 0+wrap'5' 2=CAS as increment count counts >  incr_hits >  incr_hits >  "
       ">  incr_misses > "},
      {"ma a",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 0+wrap'1' 2=CAS as increment tell-after rows misses counts > HD| "
       "incr_hits > NF| incr_misses > SERVER_ERROR container 'all': engine 121|"},
      {"ma a t c v k Oxyz",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 0+wrap'1' 2=CAS as increment tell-after rows misses counts > VA 1 t0 "
       "c3 ka Oxyz|1| incr_hits > NF ka Oxyz| incr_misses > SERVER_ERROR container 'all': engine 121|"},
      {"ma a D5 MD",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 0-zero'5' 2=CAS as increment tell-after rows misses counts > HD| "
       "decr_hits > NF| decr_misses > SERVER_ERROR container 'all': engine 121|"},
      {"ma a N10 J3 D5 v",
       "find d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 1+wrap'5' 3=CAS as increment tell-after rows misses counts else insert "
       "d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers ('a' '3' '0' CAS '1800000010') change set "
       "1= 2= 3= 4= names-row telling > VA 1|2| incr_hits > EX| > VA 1|2| incr_hits > SERVER_ERROR "
       "container 'all': engine 121|"},
      {"ma a q",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 0+wrap'1' 2=CAS as increment tell-after rows misses counts >  "
       "incr_hits > NF| incr_misses > SERVER_ERROR container 'all': engine 121|"},
      {"incr @@bare.a 5",
       "find d.bare@by_k[v] unique[k] integers =('a') exact set 0+wrap'5' as increment tell-after rows "
       "misses counts > 1| incr_hits > NOT_FOUND| incr_misses > SERVER_ERROR container 'bare': engine "
       "121|"},
      {"ma @@bare.a N10 c",
       "find d.bare@by_k[k,v] unique[k] integers =('a') exact set 1+wrap'1' as increment tell-after "
       "rows misses counts else insert d.bare@by_k[k,v] unique[k] integers ('a' '0') change set 1= "
       "names-row telling > HD c0| incr_hits > EX| > HD c0| incr_hits > SERVER_ERROR container 'bare': "
       "engine 121|"},
  });
}

TEST_F(WholeTest, values_are_removed) {
  expect({
      {"delete a",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' delete count counts > DELETED| delete_hits > DELETED| delete_hits > | > "
       "NOT_FOUND| delete_misses > SERVER_ERROR container 'all': engine 121|"},
      {"delete @@bare.a",
       "find d.bare@by_k[v] unique[k] integers =('a') exact delete count counts > DELETED| delete_hits "
       "> DELETED| delete_hits > | > NOT_FOUND| delete_misses > SERVER_ERROR container 'bare': engine "
       "121|"},
      {"delete a 0",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' delete count counts > DELETED| delete_hits > DELETED| delete_hits > | > "
       "NOT_FOUND| delete_misses > SERVER_ERROR container 'all': engine 121|"},
      {"delete a 0 noreply",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' delete count counts >  delete_hits >  delete_hits >  >  delete_misses > "},
      {"delete a noreply",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' delete count counts >  delete_hits >  delete_hits >  >  delete_misses > "},
      {"md a",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' delete count rows misses counts > HD| delete_hits > HD| delete_hits > EX| "
       "> NF| delete_misses > SERVER_ERROR container 'all': engine 121|"},
      {"md a C42",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' refuse unless 1='42' delete count rows misses counts > HD| delete_hits > "
       "HD| delete_hits > EX| > NF| delete_misses > SERVER_ERROR container 'all': engine 121|"},
      {"md a q k Oxyz",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' delete count rows misses counts >  delete_hits >  delete_hits > EX ka "
       "Oxyz| > NF ka Oxyz| delete_misses > SERVER_ERROR container 'all': engine 121|"},
      {"md a x",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 0='' 1='0' 2=CAS count rows misses counts > HD| delete_hits > HD| "
       "delete_hits > EX| > NF| delete_misses > SERVER_ERROR container 'all': engine 121|"},
      {"ma a q k M- D5",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 0-zero'5' 2=CAS as increment tell-after rows misses counts >  "
       "decr_hits > NF ka| decr_misses > SERVER_ERROR container 'all': engine 121|"},
      {"touch a 10",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 3='1800000010' count counts > TOUCHED| touch_hits > TOUCHED| "
       "touch_hits > | > NOT_FOUND| touch_misses > SERVER_ERROR container 'all': engine 121|"},
      {"touch a 10 noreply",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 3='1800000010' count counts >  touch_hits >  touch_hits >  >  "
       "touch_misses > "},
      {"touch @@bare.a 10",
       "find d.bare@by_k[v] unique[k] integers =('a') exact count counts > TOUCHED| touch_hits > "
       "NOT_FOUND| touch_misses > SERVER_ERROR container 'bare': engine 121|"},
      {"md @@bare.a C1",
       "refused mistake syntax for-readers > CLIENT_ERROR the container has no cas column to compare "
       "with|"},
  });
}

TEST_F(WholeTest, commands_that_ask_no_table) {
  expect({
      {"version", "nothing > VERSION 1.6.18-rowsocket|"},
      {"verbosity 1", "nothing > OK|"},
      {"mn", "nothing > MN|"},
      {"me a",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' tell rows misses counts > ME a exp=0 la=0 cas=3 fetch=no cls=1 size=1| > "
       "EN| > SERVER_ERROR container 'all': engine 121|"},
  });
}

TEST_F(WholeTest, secrets_of_the_port_are_asked_for) {
  settings.secret_read = "s";
  expect({
      {"get a",
       "find d.t@PRIMARY[v,f] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' tell rows counts > VALUE a 2 1|1|END| get_hits > END| get_misses > "
       "SERVER_ERROR container 'all': engine 121| get_misses"},
      {"set any 0 0 3~u x", "authenticate secret-or-account 'u' 'x'"},
      {"add a 0 0 1~5",
       "insert d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers ('a' '5' '0' CAS '0') change set 1= "
       "2= 3= 4= skip unless 0<='1800000000' skip unless 0!='0' skip unless 0!=NULL names-row counts > "
       "STORED| cmd_set > STORED| cmd_set > NOT_STORED| cmd_set > SERVER_ERROR container 'all': engine "
       "121|"},
      {"set any 0 0 1~u", "refused mistake syntax > CLIENT_ERROR bad authentication token format|"},
  });
}

}  // namespace
}  // namespace rowsocket::wire::memcached::test
