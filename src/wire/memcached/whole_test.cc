// SPDX-License-Identifier: GPL-2.0-only
//
// All that commands ask of tables, and all that they may answer, word for word (see ProtocolTest::whole):
// what no other test is about is seen here.
#include <initializer_list>
#include <string>
#include <utility>

#include "wire/memcached/parser_fixture.h"

namespace rowsocket::wire::memcached::test {
namespace {

class WholeTest : public MemcachedTest {
 protected:
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
       "0>|unset'1800000000' tell rows counts > VALUE a 2 1|1|END| > END| > SERVER_ERROR container "
       "'all': engine 121|"},
      {"gets a",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' tell rows counts > VALUE a 2 1 3|1|END| > END| > SERVER_ERROR container "
       "'all': engine 121|"},
      {"get @@wide.1|2",
       "find d.wide@PRIMARY[x,y] by[e,c] unique[a,b] integers =('1' '2') exact skip unless "
       "0>|unset'1800000000' tell rows counts > VALUE @@wide.1|2 0 3|1|2|END| > END| > SERVER_ERROR "
       "container 'wide': engine 121|"},
      {"get a b",
       "find d.t@PRIMARY[v,f] by[e,c,f] unique[k] integers =('a') exact keys('a' 'b') limit 2 skip "
       "unless 0>|unset'1800000000' tell rows counts > VALUE a 2 1|1|END| > END| > SERVER_ERROR "
       "container 'all': engine 121|"},
      {"gets a @@bare.b @@wide.1|2",
       "group {find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' tell rows counts} {find d.bare@by_k[v] unique[k] integers =('b') exact "
       "tell rows counts} {find d.wide@PRIMARY[x,y,c,e] by[e,c] unique[a,b] integers =('1' '2') exact "
       "skip unless 0>|unset'1800000000' tell rows counts} > VALUE a 2 1 3|1|VALUE @@bare.b 0 1 "
       "0|1|VALUE @@wide.1|2 0 3 3|1|2|END|"},
      {"gat 10 a",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 3='1800000010' tell rows counts > VALUE a 2 1|1|END| > END| > "
       "SERVER_ERROR container 'all': engine 121|"},
      {"gats 10 a b",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact keys('a' 'b') limit 2 skip "
       "unless 0>|unset'1800000000' set 3='1800000010' tell rows counts > VALUE a 2 1 3|1|END| > END| > "
       "SERVER_ERROR container 'all': engine 121|"},
      {"gat 0 @@bare.a",
       "find d.bare@by_k[v] unique[k] integers =('a') exact tell rows counts > VALUE @@bare.a 0 "
       "1|1|END| > END| > SERVER_ERROR container 'bare': engine 121|"},
      {"mg a",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' tell rows misses counts > HD| > EN| > SERVER_ERROR container 'all': engine "
       "121|"},
      {"mg a v",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' tell rows misses counts > VA 1|1| > EN| > SERVER_ERROR container 'all': "
       "engine 121|"},
      {"mg a t f c s v k Oxyz",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' tell rows misses counts > VA 1 t0 f2 c3 s1 ka Oxyz|1| > EN ka Oxyz| > "
       "SERVER_ERROR container 'all': engine 121|"},
      {"mg a v q",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' tell rows misses counts > VA 1|1| >  > SERVER_ERROR container 'all': "
       "engine 121|"},
      {"mg a v T10",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 3='1800000010' tell-after rows misses counts > VA 1|1| > EN| > "
       "SERVER_ERROR container 'all': engine 121|"},
      {"mg a v N10",
       "refused mistake syntax for-readers > CLIENT_ERROR invalid flag: a table has no answer to it|"},
      {"mg YQ== b k v",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' tell rows misses counts > VA 1 kYQ== b|1| > EN kYQ== b| > SERVER_ERROR "
       "container 'all': engine 121|"},
  });
}

TEST_F(WholeTest, values_are_stored) {
  expect({
      {"set a 3 10 1~5",
       "insert d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers ('a' '5' '3' CAS '1800000010') "
       "change set 1= 2= 3= 4= names-row counts > STORED| > STORED| > STORED| > SERVER_ERROR container "
       "'all': engine 121|"},
      {"set @@wide.1|2 3 0 3~5|6",
       "insert d.wide@PRIMARY[a,b,x,y,e,c] by[e,c] unique[a,b] integers ('1' '2' '5' '6' '0') change "
       "set 2= 3= 4= names-row counts > STORED| > STORED| > STORED| > SERVER_ERROR container 'wide': "
       "engine 121|"},
      {"set @@bare.a 0 0 1~5",
       "insert d.bare@by_k[k,v] unique[k] integers ('a' '5') change set 1= names-row counts > STORED| > "
       "STORED| > STORED| > SERVER_ERROR container 'bare': engine 121|"},
      {"add a 3 0 1~5",
       "insert d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers ('a' '5' '3' CAS '0') change set 1= "
       "2= 3= 4= skip unless 0<='1800000000' skip unless 0!='0' skip unless 0!=NULL names-row counts > "
       "STORED| > STORED| > NOT_STORED| > SERVER_ERROR container 'all': engine 121|"},
      {"replace a 3 0 1~5",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 0='5' 1='3' 3='0' 2=CAS count counts > STORED| > STORED| > EXISTS| > "
       "NOT_STORED| > SERVER_ERROR container 'all': engine 121|"},
      {"append a 3 0 1~5",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 0append'5' 2=CAS count counts > STORED| > STORED| > EXISTS| > "
       "NOT_STORED| > SERVER_ERROR container 'all': engine 121|"},
      {"prepend a 3 0 1~5",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 0prepend'5' 2=CAS count counts > STORED| > STORED| > EXISTS| > "
       "NOT_STORED| > SERVER_ERROR container 'all': engine 121|"},
      {"cas a 3 0 1 42~5",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' refuse unless 1='42' set 0='5' 1='3' 3='0' 2=CAS count counts > STORED| > "
       "STORED| > EXISTS| > NOT_FOUND| > SERVER_ERROR container 'all': engine 121|"},
      {"set a 3 10 1 noreply~5",
       "insert d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers ('a' '5' '3' CAS '1800000010') "
       "change set 1= 2= 3= 4= names-row counts >  >  >  > "},
      {"ms a 1~5",
       "insert d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers ('a' '5' '0' CAS '0') change set 1= "
       "2= 3= 4= names-row rows misses counts > HD| > HD| > HD| > SERVER_ERROR container 'all': engine "
       "121|"},
      {"ms a 1 F3 T10 c k Oxyz~5",
       "insert d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers ('a' '5' '3' CAS '1800000010') "
       "change set 1= 2= 3= 4= names-row telling rows misses counts > HD ka Oxyz| > HD ka Oxyz| > HD ka "
       "Oxyz| > SERVER_ERROR container 'all': engine 121|"},
      {"ms a 1 C42~5",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' refuse unless 1='42' set 0='5' 1='0' 3='0' 2=CAS count rows misses counts "
       "> HD| > HD| > EX| > NF| > SERVER_ERROR container 'all': engine 121|"},
      {"ms a 1 ME~5",
       "insert d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers ('a' '5' '0' CAS '0') change set 1= "
       "2= 3= 4= skip unless 0<='1800000000' skip unless 0!='0' skip unless 0!=NULL names-row rows "
       "misses counts > HD| > HD| > NS| > SERVER_ERROR container 'all': engine 121|"},
      {"ms a 1 MA~5",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 0append'5' 2=CAS count rows misses counts > HD| > HD| > EX| > NS| > "
       "SERVER_ERROR container 'all': engine 121|"},
      {"ms a 1 MA N10~5",
       "find d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 1append'5' 3=CAS count rows misses counts else insert "
       "d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers ('a' '5' '0' CAS '1800000010') change set "
       "1= 2= 3= 4= names-row > HD| > HD| > EX| >  > HD| > SERVER_ERROR container 'all': engine 121|"},
      {"ms a 1 MP~5",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 0prepend'5' 2=CAS count rows misses counts > HD| > HD| > EX| > NS| > "
       "SERVER_ERROR container 'all': engine 121|"},
      {"ms a 1 MR q~5",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 0='5' 1='0' 3='0' 2=CAS count rows misses counts >  >  > EX| > NS| > "
       "SERVER_ERROR container 'all': engine 121|"},
  });
}

TEST_F(WholeTest, values_are_counted) {
  expect({
      {"incr a 5",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 0+wrap'5' 2=CAS as increment tell-after rows misses counts > 1| > "
       "NOT_FOUND| > SERVER_ERROR container 'all': engine 121|"},
      {"decr a 5",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 0-zero'5' 2=CAS as increment tell-after rows misses counts > 1| > "
       "NOT_FOUND| > SERVER_ERROR container 'all': engine 121|"},
      {"incr a 5 noreply",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 0+wrap'5' 2=CAS as increment count counts >  >  >  >  > "},
      {"ma a",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 0+wrap'1' 2=CAS as increment tell-after rows misses counts > HD| > NF| "
       "> SERVER_ERROR container 'all': engine 121|"},
      {"ma a t c v k Oxyz",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 0+wrap'1' 2=CAS as increment tell-after rows misses counts > VA 1 t0 "
       "c3 ka Oxyz|1| > NF ka Oxyz| > SERVER_ERROR container 'all': engine 121|"},
      {"ma a D5 MD",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 0-zero'5' 2=CAS as increment tell-after rows misses counts > HD| > NF| "
       "> SERVER_ERROR container 'all': engine 121|"},
      {"ma a N10 J3 D5 v",
       "find d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 1+wrap'5' 3=CAS as increment tell-after rows misses counts else insert "
       "d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers ('a' '3' '0' CAS '1800000010') change set "
       "1= 2= 3= 4= names-row telling > VA 1|2| > EX| > VA 1|2| > SERVER_ERROR container 'all': engine "
       "121|"},
      {"ma a q",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 0+wrap'1' 2=CAS as increment tell-after rows misses counts >  > NF| > "
       "SERVER_ERROR container 'all': engine 121|"},
  });
}

TEST_F(WholeTest, values_are_removed) {
  expect({
      {"delete a",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' delete count counts > DELETED| > DELETED| > | > NOT_FOUND| > SERVER_ERROR "
       "container 'all': engine 121|"},
      {"delete @@bare.a",
       "find d.bare@by_k[v] unique[k] integers =('a') exact delete count counts > DELETED| > DELETED| > "
       "| > NOT_FOUND| > SERVER_ERROR container 'bare': engine 121|"},
      {"delete a noreply",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' delete count counts >  >  >  >  > "},
      {"md a",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' delete count rows misses counts > HD| > HD| > EX| > NF| > SERVER_ERROR "
       "container 'all': engine 121|"},
      {"md a C42",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' refuse unless 1='42' delete count rows misses counts > HD| > HD| > EX| > "
       "NF| > SERVER_ERROR container 'all': engine 121|"},
      {"md a q k Oxyz",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' delete count rows misses counts >  >  > EX ka Oxyz| > NF ka Oxyz| > "
       "SERVER_ERROR container 'all': engine 121|"},
      {"md a x",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 0='' 1='0' 2=CAS count rows misses counts > HD| > HD| > EX| > NF| > "
       "SERVER_ERROR container 'all': engine 121|"},
      {"touch a 10",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 3='1800000010' count counts > TOUCHED| > TOUCHED| > | > NOT_FOUND| > "
       "SERVER_ERROR container 'all': engine 121|"},
      {"touch a 10 noreply",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 3='1800000010' count counts >  >  >  >  > "},
  });
}

}  // namespace
}  // namespace rowsocket::wire::memcached::test
