// SPDX-License-Identifier: GPL-2.0-only
//
// All that commands ask of tables, and all that they may answer, word for word (see ProtocolTest::whole):
// what no other test is about is seen here.
#include <initializer_list>
#include <sstream>
#include <string>
#include <utility>

#include "wire/resp/parser_fixture.h"

namespace rowsocket::wire::resp::test {
namespace {

class WholeTest : public RespTest {
 protected:
  static std::string bytes_of(const std::string& command) {
    size_t count = 0;
    std::string arguments;
    for (std::istringstream words(command); words.good(); ++count) {
      std::string word;
      words >> word;
      arguments += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
    }
    return "*" + std::to_string(count) + "\r\n" + arguments;
  }

  /// The commands, each with what it asks for and answers.
  void expect(std::initializer_list<std::pair<const char*, const char*>> commands) {
    for (const auto& [command, expected] : commands) {
      EXPECT_EQ(whole(bytes_of(command)), expected) << command;
    }
  }
};

TEST_F(WholeTest, strings_are_read) {
  expect({
      {"GET a",
       "find d.t@PRIMARY[v] by[e,c] unique[k] integers =('a') exact skip unless 0>|unset'1800000000' "
       "tell misses > $1|1| > $-1| > -ERR container 'all': engine 121|"},
      {"GET @@wide.1|2",
       "find d.wide@PRIMARY[x,y] by[e,c] unique[a,b] integers =('1' '2') exact skip unless "
       "0>|unset'1800000000' tell rows misses > $3|1|2| > $-1| > -ERR container 'wide': engine 121|"},
      {"STRLEN a",
       "find d.t@PRIMARY[v] by[e,c] unique[k] integers =('a') exact skip unless 0>|unset'1800000000' "
       "tell rows misses > :1| > :0| > -ERR container 'all': engine 121|"},
      {"STRLEN @@wide.1|2",
       "find d.wide@PRIMARY[x,y] by[e,c] unique[a,b] integers =('1' '2') exact skip unless "
       "0>|unset'1800000000' tell rows misses > :3| > :0| > -ERR container 'wide': engine 121|"},
      {"MGET a b",
       "find d.t@PRIMARY[v] by[e,c] unique[k] integers =('a') exact keys('a' 'b') limit 2 skip unless "
       "0>|unset'1800000000' tell misses > *2|$1|1| > *2|$-1| > -ERR container 'all': engine 121|"},
      {"MGET a @@bare.b @@wide.1|2",
       "group {find d.t@PRIMARY[v] by[e,c] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' tell misses} {find d.bare@by_k[v] unique[k] integers =('b') exact tell "
       "misses} {find d.wide@PRIMARY[x,y] by[e,c] unique[a,b] integers =('1' '2') exact skip unless "
       "0>|unset'1800000000' tell rows misses} > *3|$1|1|$1|1|$3|1|2|"},
      {"GETDEL a",
       "find d.t@PRIMARY[v] by[e,c] unique[k] integers =('a') exact skip unless 0>|unset'1800000000' "
       "delete tell misses > $1|1| > $-1| > -ERR container 'all': engine 121|"},
      {"GETEX a",
       "find d.t@PRIMARY[v] by[e,c] unique[k] integers =('a') exact skip unless 0>|unset'1800000000' "
       "tell misses > $1|1| > $-1| > -ERR container 'all': engine 121|"},
      {"GETEX a EX 7",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 3='1800000007' tell rows misses > $1|1| > $-1| > -ERR container 'all': "
       "engine 121|"},
      {"GETEX a PXAT 1800000009000",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 3='1800000009' tell rows misses > $1|1| > $-1| > -ERR container 'all': "
       "engine 121|"},
      {"GETEX a PERSIST",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 3='0' tell rows misses > $1|1| > $-1| > -ERR container 'all': engine "
       "121|"},
      {"GETEX @@wide.1|2 PX 7001",
       "find d.wide@PRIMARY[x,y,c,e] by[e,c] unique[a,b] integers =('1' '2') exact skip unless "
       "0>|unset'1800000000' set 3='1800000008' tell rows misses > $3|1|2| > $-1| > -ERR container "
       "'wide': engine 121|"},
      {"GETEX @@bare.a PERSIST",
       "find d.bare@by_k[v] unique[k] integers =('a') exact tell misses > $1|1| > $-1| > -ERR container "
       "'bare': engine 121|"},
      {"GETDEL @@wide.1|2",
       "find d.wide@PRIMARY[x,y] by[e,c] unique[a,b] integers =('1' '2') exact skip unless "
       "0>|unset'1800000000' delete tell rows misses > $3|1|2| > $-1| > -ERR container 'wide': engine "
       "121|"},
  });
}

TEST_F(WholeTest, strings_are_set) {
  expect({
      {"SET a 5",
       "find d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 1='5' 2='0' 3=CAS 4='0' count else insert d.t@PRIMARY[k,v,f,c,e] "
       "by[e,c,f] unique[k] integers ('a' '5' '0' CAS '0') change set 1= 2= 3= 4= names-row > +OK| > "
       "+OK| > $-1| > $-1| > +OK| > -ERR container 'all': engine 121|"},
      {"SET @@wide.1|2 5|6",
       "find d.wide@PRIMARY[a,b,x,y,e,c] by[e,c] unique[a,b] integers =('1' '2') exact skip unless "
       "0>|unset'1800000000' set 2='5' 3='6' 4='0' count else insert d.wide@PRIMARY[a,b,x,y,e,c] "
       "by[e,c] unique[a,b] integers ('1' '2' '5' '6' '0') change set 2= 3= 4= names-row > +OK| > +OK| "
       "> $-1| > $-1| > +OK| > -ERR container 'wide': engine 121|"},
      {"SET @@bare.a 5",
       "find d.bare@by_k[k,v] unique[k] integers =('a') exact set 1='5' count else insert "
       "d.bare@by_k[k,v] unique[k] integers ('a' '5') change set 1= names-row > +OK| > +OK| > $-1| > "
       "$-1| > +OK| > -ERR container 'bare': engine 121|"},
      {"SET a 5 EX 7 NX",
       "insert d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers ('a' '5' '0' CAS '1800000007') "
       "change set 1= 2= 3= 4= skip unless 0<='1800000000' skip unless 0!='0' skip unless 0!=NULL "
       "names-row > +OK| > +OK| > $-1| > -ERR container 'all': engine 121|"},
      {"SET @@wide.1|2 5 NX",
       "insert d.wide@PRIMARY[a,b,x,y,e,c] by[e,c] unique[a,b] integers ('1' '2' '5' NULL '0') change "
       "set 2= 3= 4= skip unless 0<='1800000000' skip unless 0!='0' skip unless 0!=NULL names-row > "
       "+OK| > +OK| > $-1| > -ERR container 'wide': engine 121|"},
      {"SET a 5 EXAT 1800000007 XX",
       "find d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 1='5' 2='0' 3=CAS 4='1800000007' count > +OK| > +OK| > $-1| > $-1| > "
       "-ERR container 'all': engine 121|"},
      {"SET a 5 KEEPTTL",
       "find d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 1='5' 2='0' 3=CAS count else insert d.t@PRIMARY[k,v,f,c,e] by[e,c,f] "
       "unique[k] integers ('a' '5' '0' CAS '0') change set 1= 2= 3= skip unless 0>|unset'1800000000' "
       "else 1= 2= 3= 4= names-row > +OK| > +OK| > $-1| > $-1| > +OK| > -ERR container 'all': engine "
       "121|"},
      {"SET a 5 XX KEEPTTL",
       "find d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 1='5' 2='0' 3=CAS count > +OK| > +OK| > $-1| > $-1| > -ERR container "
       "'all': engine 121|"},
      {"SET @@bare.a 5 KEEPTTL",
       "find d.bare@by_k[k,v] unique[k] integers =('a') exact set 1='5' count else insert "
       "d.bare@by_k[k,v] unique[k] integers ('a' '5') change set 1= names-row > +OK| > +OK| > $-1| > "
       "$-1| > +OK| > -ERR container 'bare': engine 121|"},
      {"SET a 5 GET",
       "find d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 1='5' 2='0' 3=CAS 4='0' tell rows misses else insert "
       "d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers ('a' '5' '0' CAS '0') change set 1= 2= 3= "
       "4= names-row > $1|2| > $-1| >  > -ERR container 'all': engine 121|"},
      {"SET a 5 XX GET",
       "find d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 1='5' 2='0' 3=CAS 4='0' tell rows misses > $1|2| > $-1| > -ERR "
       "container 'all': engine 121|"},
      {"SET a 5 NX GET",
       "find d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set tell rows misses else insert d.t@PRIMARY[k,v,f,c,e] by[e,c,f] "
       "unique[k] integers ('a' '5' '0' CAS '0') change set 1= 2= 3= 4= skip unless 0<='1800000000' "
       "skip unless 0!='0' skip unless 0!=NULL names-row > $1|2| > $-1| >  > -ERR container 'all': "
       "engine 121|"},
      {"GETSET @@wide.1|2 5|6",
       "find d.wide@PRIMARY[a,b,x,y,e,c] by[e,c] unique[a,b] integers =('1' '2') exact skip unless "
       "0>|unset'1800000000' set 2='5' 3='6' 4='0' tell rows misses else insert "
       "d.wide@PRIMARY[a,b,x,y,e,c] by[e,c] unique[a,b] integers ('1' '2' '5' '6' '0') change set 2= 3= "
       "4= names-row > $3|3|4| > $-1| >  > -ERR container 'wide': engine 121|"},
      {"SETNX a 5",
       "insert d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers ('a' '5' '0' CAS '0') change set 1= "
       "2= 3= 4= skip unless 0<='1800000000' skip unless 0!='0' skip unless 0!=NULL names-row > :1| > "
       ":1| > :0| > -ERR container 'all': engine 121|"},
      {"SETEX a 7 5",
       "find d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 1='5' 2='0' 3=CAS 4='1800000007' count else insert "
       "d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers ('a' '5' '0' CAS '1800000007') change set "
       "1= 2= 3= 4= names-row > +OK| > +OK| > $-1| > $-1| > +OK| > -ERR container 'all': engine 121|"},
      {"PSETEX a 7000 5",
       "find d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 1='5' 2='0' 3=CAS 4='1800000007' count else insert "
       "d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers ('a' '5' '0' CAS '1800000007') change set "
       "1= 2= 3= 4= names-row > +OK| > +OK| > $-1| > $-1| > +OK| > -ERR container 'all': engine 121|"},
      {"MSET b 1 a 2",
       "insert d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers ('b' '1' '0' CAS '0' 'a' '2' '0' CAS "
       "'0') in rows 2 change set 1= 2= 3= 4= names-row ordered 2 > +OK| > +OK| > +OK| > -ERR container "
       "'all': engine 121|"},
      {"MSET @@wide.1|2 5|6 a 3",
       "group {insert d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers ('a' '3' '0' CAS '0') change "
       "set 1= 2= 3= 4= names-row} {insert d.wide@PRIMARY[a,b,x,y,e,c] by[e,c] unique[a,b] integers "
       "('1' '2' '5' '6' '0') change set 2= 3= 4= names-row} > +OK|"},
  });
}

TEST_F(WholeTest, strings_are_changed) {
  expect({
      {"APPEND a 5",
       "find d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 1append'5' 3=CAS tell-after rows else insert d.t@PRIMARY[k,v,f,c,e] "
       "by[e,c,f] unique[k] integers ('a' '5' '0' CAS '0') change set 1append 3= skip unless "
       "0>|unset'1800000000' else 1= 2= 3= 4= names-row telling > :1| >  > :1| > -ERR container 'all': "
       "engine 121|"},
      {"INCR a",
       "find d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 1+whole'1' 3=CAS as increment tell-after rows else insert "
       "d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers ('a' '1' '0' CAS '0') change set 1+whole 3= "
       "skip unless 0>|unset'1800000000' else 1= 2= 3= 4= names-row telling > :2| >  > :2| > -ERR "
       "container 'all': engine 121|"},
      {"DECR @@bare.a",
       "find d.bare@by_k[k,v] unique[k] integers =('a') exact set 1+whole'-1' as increment tell-after "
       "rows else insert d.bare@by_k[k,v] unique[k] integers ('a' '-1') change set 1+whole names-row "
       "telling > :2| >  > :2| > -ERR container 'bare': engine 121|"},
      {"INCRBY a 5",
       "find d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 1+whole'5' 3=CAS as increment tell-after rows else insert "
       "d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers ('a' '5' '0' CAS '0') change set 1+whole 3= "
       "skip unless 0>|unset'1800000000' else 1= 2= 3= 4= names-row telling > :2| >  > :2| > -ERR "
       "container 'all': engine 121|"},
      {"DECRBY a 5",
       "find d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 1+whole'-5' 3=CAS as increment tell-after rows else insert "
       "d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers ('a' '-5' '0' CAS '0') change set 1+whole "
       "3= skip unless 0>|unset'1800000000' else 1= 2= 3= 4= names-row telling > :2| >  > :2| > -ERR "
       "container 'all': engine 121|"},
      {"INCR @@wide.1|2",
       "find d.wide@PRIMARY[a,b,x,y,e,c] by[e,c] unique[a,b] integers =('1' '2') exact skip unless "
       "0>|unset'1800000000' set 2+whole'1' as increment tell-after rows else insert "
       "d.wide@PRIMARY[a,b,x,y,e,c] by[e,c] unique[a,b] integers ('1' '2' '1' NULL '0') change set "
       "2+whole skip unless 0>|unset'1800000000' else 2= 3= 4= names-row telling > :3| >  > :3| > -ERR "
       "container 'wide': engine 121|"},
      {"APPEND @@bare.a 5",
       "find d.bare@by_k[k,v] unique[k] integers =('a') exact set 1append'5' tell-after rows else "
       "insert d.bare@by_k[k,v] unique[k] integers ('a' '5') change set 1append names-row telling > :1| "
       ">  > :1| > -ERR container 'bare': engine 121|"},
  });
}

TEST_F(WholeTest, keys_are_removed_and_asked_for) {
  expect({
      {"DEL a",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' delete count > :1| > :0| > :0| > :0| > -ERR container 'all': engine 121|"},
      {"DEL a b @@bare.c",
       "group {find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact keys('a' 'b') limit "
       "2 skip unless 0>|unset'1800000000' delete count} {find d.bare@by_k[v] unique[k] integers =('c') "
       "exact delete count} > :2|"},
      {"UNLINK d.t:1",
       "find d.t@[] unique 1 =('1') exact delete count > :1| > :0| > :0| > :0| > -ERR engine 121|"},
      {"EXISTS a b",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact keys('a' 'b') limit 2 skip "
       "unless 0>|unset'1800000000' count > :1| > :0| > -ERR container 'all': engine 121|"},
      {"EXISTS d.t:1 a",
       "group {find d.t@[] unique 1 =('1') exact count} {find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] "
       "integers =('a') exact skip unless 0>|unset'1800000000' count} > :2|"},
      {"TYPE a",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' count > +string| > +none| > -ERR container 'all': engine 121|"},
      {"TYPE d.t:1", "find d.t@[] unique 1 =('1') exact count > +hash| > +none| > -ERR engine 121|"},
  });
}

TEST_F(WholeTest, keys_expire) {
  expect({
      {"EXPIRE a 7",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 3='1800000007' count > :1| > :1| > :0| > :0| > -ERR container 'all': "
       "engine 121|"},
      {"EXPIRE a 7 NX",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' skip unless 0>|unset'9223372036854775807' set 3='1800000007' count > :1| > "
       ":1| > :0| > :0| > -ERR container 'all': engine 121|"},
      {"EXPIRE a 7 XX",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' skip unless 0!='0' skip unless 0!=NULL set 3='1800000007' count > :1| > "
       ":1| > :0| > :0| > -ERR container 'all': engine 121|"},
      {"EXPIRE a 7 GT",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' skip unless 0!='0' skip unless 0!=NULL skip unless 0<'1800000007' set "
       "3='1800000007' count > :1| > :1| > :0| > :0| > -ERR container 'all': engine 121|"},
      {"EXPIRE a 7 LT",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' skip unless 0>|unset'1800000007' set 3='1800000007' count > :1| > :1| > "
       ":0| > :0| > -ERR container 'all': engine 121|"},
      {"EXPIRE a -1",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 3='1' count > :1| > :1| > :0| > :0| > -ERR container 'all': engine 121|"},
      {"PEXPIRE a 7000",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 3='1800000007' count > :1| > :1| > :0| > :0| > -ERR container 'all': "
       "engine 121|"},
      {"EXPIREAT a 1800000007",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 3='1800000007' count > :1| > :1| > :0| > :0| > -ERR container 'all': "
       "engine 121|"},
      {"PEXPIREAT @@wide.1|2 1800000007000",
       "find d.wide@PRIMARY[x,y,c,e] by[e,c] unique[a,b] integers =('1' '2') exact skip unless "
       "0>|unset'1800000000' set 3='1800000007' count > :1| > :1| > :0| > :0| > -ERR container 'wide': "
       "engine 121|"},
      {"PERSIST a",
       "find d.t@PRIMARY[v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' skip unless 0!='0' skip unless 0!=NULL set 3='0' count > :1| > :1| > :0| > "
       ":0| > -ERR container 'all': engine 121|"},
      {"TTL a",
       "find d.t@PRIMARY[e] by[e,c] unique[k] integers =('a') exact skip unless 0>|unset'1800000000' "
       "tell rows misses > :0| > :-2| > -ERR container 'all': engine 121|"},
      {"PTTL a",
       "find d.t@PRIMARY[e] by[e,c] unique[k] integers =('a') exact skip unless 0>|unset'1800000000' "
       "tell rows misses > :0| > :-2| > -ERR container 'all': engine 121|"},
      {"TTL @@bare.a",
       "find d.bare@by_k[v] unique[k] integers =('a') exact count rows misses > :-1| > :-2| > -ERR "
       "container 'bare': engine 121|"},
      {"EXPIRETIME a",
       "find d.t@PRIMARY[e] by[e,c] unique[k] integers =('a') exact skip unless 0>|unset'1800000000' "
       "tell rows misses > :1| > :-2| > -ERR container 'all': engine 121|"},
      {"PEXPIRETIME a",
       "find d.t@PRIMARY[e] by[e,c] unique[k] integers =('a') exact skip unless 0>|unset'1800000000' "
       "tell rows misses > :1000| > :-2| > -ERR container 'all': engine 121|"},
  });
}

TEST_F(WholeTest, hashes_are_read) {
  expect({
      {"HGET d.t:1 x", "find d.t@[x] unique 1 =('1') exact tell misses > $1|1| > $-1| > -ERR engine 121|"},
      {"HGET d.t@by_x:1:2 y",
       "find d.t@by_x[y] unique 2 =('1' '2') exact tell misses > $1|1| > $-1| > -ERR engine 121|"},
      {"HMGET d.t:1 x y",
       "find d.t@[x,y] unique 1 =('1') exact tell misses > *2|$1|1|$1|2| > *2|$-1|$-1| > -ERR engine "
       "121|"},
      {"HGETALL d.t:1",
       "find d.t@[] unique 1 all =('1') exact tell rows misses > *4|$2|c1|$1|1|$2|c2|$1|2| > *0| > -ERR "
       "engine 121|"},
      {"HKEYS d.t:1",
       "find d.t@[] unique 1 all =('1') exact tell rows misses > *2|$2|c1|$2|c2| > *0| > -ERR engine "
       "121|"},
      {"HVALS d.t:1",
       "find d.t@[] unique 1 all =('1') exact tell rows misses > *2|$1|1|$1|2| > *0| > -ERR engine 121|"},
      {"HLEN d.t:1", "find d.t@[] unique 1 all =('1') exact tell rows misses > :2| > :0| > -ERR engine 121|"},
      {"HEXISTS d.t:1 x",
       "find d.t@[x] unique 1 =('1') exact tell rows misses > :1| > :0| > -ERR engine 121|"},
      {"HSTRLEN d.t:1 x",
       "find d.t@[x] unique 1 =('1') exact tell rows misses > :1| > :0| > -ERR engine 121|"},
  });
}

TEST_F(WholeTest, hashes_are_changed) {
  expect({
      {"HSET d.t:1 x 5",
       "find d.t@[x] unique 1 key-first =('1') exact set 1='5' count else insert d.t@[x] unique 1 "
       "key-first ('1' '5') change set 1= names-row > :0| > :0| > :0| > :0| > :1| > -ERR engine 121|"},
      {"HSET d.t@i:1:2 x 5 y 6 X 7",
       "find d.t@i[x,y,X] unique 2 key-first =('1' '2') exact set 2='5' 3='6' 4='7' count else insert "
       "d.t@i[x,y,X] unique 2 key-first ('1' '2' '5' '6' '7') change set 2= 3= 4= names-row > :0| > :0| "
       "> :0| > :0| > :2| > -ERR engine 121|"},
      {"HMSET d.t:1 x 5",
       "find d.t@[x] unique 1 key-first =('1') exact set 1='5' count else insert d.t@[x] unique 1 "
       "key-first ('1' '5') change set 1= names-row > +OK| > +OK| > +OK| > +OK| > +OK| > -ERR engine "
       "121|"},
      {"HSETNX d.t:1 x 5",
       "find d.t@[x] by[x] unique 1 key-first =('1') exact refuse unless 0=NULL set 1='5' count else "
       "insert d.t@[x] by[x] unique 1 key-first ('1' '5') change set 1= refuse unless 0=NULL names-row "
       "> :1| > :1| > :0| > :0| > :1| > -ERR engine 121|"},
      {"HINCRBY d.t:1 x 5",
       "find d.t@[x] unique 1 key-first =('1') exact set 1+whole'5' tell-after rows else insert d.t@[x] "
       "unique 1 key-first ('1' '5') change set 1+whole names-row telling > :2| >  > :2| > -ERR engine "
       "121|"},
      {"HINCRBYFLOAT d.t:1 x 1.5",
       "find d.t@[x] unique 1 key-first =('1') exact set 1+from0'1.5' tell-after rows else insert "
       "d.t@[x] unique 1 key-first ('1' '1.5') change set 1+from0 names-row telling > $1|2| >  > $1|2| "
       "> -ERR engine 121|"},
      {"HDEL d.t:1 x y x",
       "find d.t@[x,y] unique 1 =('1') exact set 0=NULL 1=NULL tell rows misses > :2| > :0| > -ERR "
       "engine 121|"},
  });
}

TEST_F(WholeTest, ranges_are_read) {
  expect({
      {"ROWS.FIND d.t a = 1 7",
       "find d.t@[a] =('7') limit 18446744073709551615 tell rows > *1|*1|$1|1| > *0| > -ERR engine 121|"},
      {"ROWS.FIND d.t * = 1 7",
       "find d.t@[] all =('7') limit 18446744073709551615 tell rows > *1|*4|$2|c1|$1|1|$2|c2|$1|2| > "
       "*0| > -ERR engine 121|"},
      {"ROWS.FIND d.t@i a,b >= 2 7 8 TO < 1 9 REVERSE LIMIT 5 OFFSET 2 WHERE c = 5",
       "find d.t@i[a,b] by[c] >=('7' '8') to <('9') reverse limit 5 offset 2 skip unless 0='5' tell "
       "rows > *1|*2|$1|1|$1|2| > *0| > -ERR engine 121|"},
      {"ROWS.FIND d.t a > 1 7 WHERE c IS NULL WHERE d NOT NULL WHILE e <= 5 WHERE f != 6",
       "find d.t@[a] by[c,d,e,f] >('7') limit 18446744073709551615 skip unless 0=NULL skip unless "
       "1!=NULL stop unless 2<='5' skip unless 3!='6' tell rows > *1|*1|$1|1| > *0| > -ERR engine 121|"},
      {"ROWS.FIND d.t a STARTS 1 7 IN 0 2 5 6 EACH 3 NAMES",
       "find d.t@[a] ^=('7') in 0('5' '6') each 3 limit 18446744073709551615 tell rows > "
       "*1|*2|$1|a|$1|1| > *0| > -ERR engine 121|"},
      {"ROWS.FIND d.t a < 2 7 8 KEYS 4 5 6 7 8",
       "find d.t@[a] <('7' '8') keys('5' '6' '7' '8') limit 18446744073709551615 tell rows > "
       "*1|*1|$1|1| > *0| > -ERR engine 121|"},
      {"ROWS.FIND d.t a <= 2 - + NULLS - NOW +",
       "find d.t@[a] <=(NULL NOW) limit 18446744073709551615 tell rows > *1|*1|$1|1| > *0| > -ERR "
       "engine 121|"},
      {"ROWS.COUNT d.t >= 1 7 WHERE c > 5",
       "find d.t@[] by[c] >=('7') limit 18446744073709551615 skip unless 0>'5' count > :1| > :0| > -ERR "
       "engine 121|"},
  });
}

TEST_F(WholeTest, ranges_are_changed) {
  expect({
      {"ROWS.CHANGE d.t = 1 7 SET a 5",
       "find d.t@[a] =('7') set 0='5' count > :1| > :0| > :0| > :0| > -ERR engine 121|"},
      {"ROWS.CHANGE d.t = 1 7 LIMIT 3 ADD a 5 SUB b 6 SETNULL c",
       "find d.t@[a,b,c] =('7') limit 3 set 0+'5' 1-'6' 2=NULL count > :1| > :0| > :0| > :0| > -ERR "
       "engine 121|"},
      {"ROWS.CHANGE d.t = 1 7 APPEND a 5 PREPEND b 6 MUST",
       "find d.t@[a,b] =('7') set 0append'5' 1prepend'6' count > :1| > :0| > :0| > :0| > -ERR engine "
       "121|"},
      {"ROWS.CHANGE d.t = 1 7 SET a 5 RETURN BEFORE b",
       "find d.t@[b,a] =('7') set 1='5' tell rows > *1|*1|$1|1| > *0| > -ERR engine 121|"},
      {"ROWS.CHANGE d.t = 1 7 SET a 5 RETURN AFTER a,b",
       "find d.t@[a,b,a] =('7') set 2='5' tell-after rows > *1|*2|$1|1|$1|2| > *0| > -ERR engine 121|"},
      {"ROWS.CHANGE d.t = 1 7 WHERE c >= 5 DELETE",
       "find d.t@[] by[c] =('7') skip unless 0>='5' delete count > :1| > :0| > :0| > :0| > -ERR engine "
       "121|"},
      {"ROWS.CHANGE d.t = 1 7 DELETE RETURN BEFORE a",
       "find d.t@[a] =('7') delete tell rows > *1|*1|$1|1| > *0| > -ERR engine 121|"},
  });
}

TEST_F(WholeTest, rows_are_inserted) {
  expect({
      {"ROWS.INSERT d.t a 1 7", "insert d.t@[a] ('7') fail > :1| > :0| > :0| > -ERR engine 121|"},
      {"ROWS.INSERT d.t a,b 4 1 2 3 4 KEEP",
       "insert d.t@[a,b] ('1' '2' '3' '4') in rows 2 keep > :2| > :0| > :0| > -ERR engine 121|"},
      {"ROWS.INSERT d.t a 2 1 - NULLS - REPLACE ALONE",
       "insert d.t@[a] ('1' NULL) in rows 2 replace alone > *2|:1|:1| > *2|:2|:2| > *2|:0|:0| > -ERR "
       "engine 121|"},
      {"ROWS.INSERT d.t a,b 2 1 2 UPDATE b ADD a",
       "insert d.t@[a,b] ('1' '2') change set 1= 0+ > :1| > :0| > :0| > -ERR engine 121|"},
      {"ROWS.INSERT d.t a 1 7 IDS MUST",
       "insert d.t@[a] ('7') fail > *1|:7| > *1|:7| > *1|:7| > -ERR engine 121|"},
      {"ROWS.INSERT d.t a,B 2 1 2 ADD b UPDATE A",
       "insert d.t@[a,B] ('1' '2') change set 1+ 0= > :1| > :0| > :0| > -ERR engine 121|"},
  });
}

TEST_F(WholeTest, keys_are_scanned) {
  expect({
      {"SCAN 0",
       "find d.t@PRIMARY[k] by[e,c] unique[k] integers steps >=() open exact limit 10 skip unless "
       "0>|unset'1800000000' tell rows shape > *2|$1|0|*1|$1|1| > *2|$1|0|*0| > -ERR container 'all': "
       "engine 121|"},
      {"SCAN 0 MATCH a* COUNT 5",
       "find d.t@PRIMARY[k] by[e,c] unique[k] integers steps >=() open exact limit 5 skip unless "
       "0>|unset'1800000000' tell rows shape > *2|$1|0|*0| > *2|$1|0|*0| > -ERR container 'all': engine "
       "121|"},
      {"SCAN 0 MATCH @@wide.1|*",
       "find d.wide@PRIMARY[a,b] by[e,c] unique[a,b] integers steps >=('1') to <=('1') open exact limit "
       "10 skip unless 0>|unset'1800000000' tell rows shape > *2|$1|0|*1|$10|@@wide.1|2| > *2|$1|0|*0| "
       "> -ERR container 'wide': engine 121|"},
      {"SCAN 0 MATCH d.t:1:*",
       "find d.t@[] key-first steps >=('1') to <=('1') open exact limit 10 tell rows shape > "
       "*2|$1|0|*0| > *2|$1|0|*0| > -ERR engine 121|"},
      {"SCAN 0 MATCH d.t@i:1:*",
       "refused mistake syntax for-readers > -ERR SCAN walks the primary key: ROWS.FIND walks any index|"},
  });
}

TEST_F(WholeTest, clients_say_who_they_are) {
  expect({
      {"AUTH x",
       "refused mistake syntax > -ERR AUTH <password> called without any password configured for the "
       "default user. Are you sure your configuration is correct?|"},
      {"AUTH u x", "authenticate secret-or-account 'u' 'x'"},
      {"HELLO 3 AUTH u x", "authenticate secret-or-account 'u' 'x'"},
      {"CLIENT SETNAME n", "nothing changes-state for-readers > +OK|"},
      {"CLIENT GETNAME", "nothing for-readers > $1|n|"},
      {"CLIENT SETINFO LIB-NAME n", "nothing for-readers > +OK|"},
      {"SELECT d", "nothing changes-state for-readers > +OK|"},
      {"RESET", "authenticate nobody NULL NULL"},
      {"TIME", "nothing for-readers > *2|$10|1800000000|$1|0|"},
      {"NONE",
       "refused mistake unknown_command for-readers > -ERR unknown command 'NONE', with args beginning "
       "with: |"},
  });
}

TEST_F(WholeTest, secrets_of_the_port_need_no_name) {
  settings.secret_read = "s";
  expect({
      {"AUTH x", "authenticate secret NULL 'x'"},
      {"AUTH u x", "authenticate secret-or-account 'u' 'x'"},
  });
}

TEST_F(WholeTest, version_3_has_words_of_its_own) {
  state.version = 3;
  expect({
      {"GET a",
       "find d.t@PRIMARY[v] by[e,c] unique[k] integers =('a') exact skip unless 0>|unset'1800000000' "
       "tell misses > $1|1| > _| > -ERR container 'all': engine 121|"},
      {"MGET a @@bare.b",
       "group {find d.t@PRIMARY[v] by[e,c] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' tell misses} {find d.bare@by_k[v] unique[k] integers =('b') exact tell "
       "misses} > *2|$1|1|$1|1|"},
      {"SET a 5 NX",
       "insert d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers ('a' '5' '0' CAS '0') change set 1= "
       "2= 3= 4= skip unless 0<='1800000000' skip unless 0!='0' skip unless 0!=NULL names-row > +OK| > "
       "+OK| > _| > -ERR container 'all': engine 121|"},
      {"SET a 5 XX GET",
       "find d.t@PRIMARY[k,v,f,c,e] by[e,c,f] unique[k] integers =('a') exact skip unless "
       "0>|unset'1800000000' set 1='5' 2='0' 3=CAS 4='0' tell rows misses > $1|2| > _| > -ERR container "
       "'all': engine 121|"},
      {"HGETALL d.t:1",
       "find d.t@[] unique 1 all =('1') exact tell rows misses > %2|$2|c1|$1|1|$2|c2|$1|2| > %0| > -ERR "
       "engine 121|"},
      {"ROWS.FIND d.t * = 1 7",
       "find d.t@[] all =('7') limit 18446744073709551615 tell rows > *1|%2|$2|c1|$1|1|$2|c2|$1|2| > "
       "*0| > -ERR engine 121|"},
      {"ROWS.CHANGE d.t = 1 7 SET a 5 RETURN BEFORE b",
       "find d.t@[b,a] =('7') set 1='5' tell rows > *1|*1|$1|1| > *0| > -ERR engine 121|"},
  });
}

TEST_F(WholeTest, commands_are_collected) {
  expect({
      {"MULTI", "nothing changes-state for-readers > +OK|"},
      {"GET a", "nothing changes-state for-readers > +QUEUED|"},
      {"HSET d.t:1 x 5", "nothing changes-state for-readers > +QUEUED|"},
      {"MULTI", "refused mistake syntax for-readers > -ERR MULTI calls can not be nested|"},
      {"DISCARD", "nothing changes-state for-readers > +OK|"},
      {"DISCARD", "refused mistake syntax for-readers > -ERR DISCARD without MULTI|"},
      {"EXEC", "refused mistake syntax for-readers > -ERR EXEC without MULTI|"},
      {"MULTI", "nothing changes-state for-readers > +OK|"},
      {"PING",
       "refused mistake syntax changes-state for-readers > -ERR the command is not there between MULTI "
       "and EXEC|"},
      {"GET b", "nothing changes-state for-readers > +QUEUED|"},
      {"EXEC",
       "nothing changes-state for-readers > -EXECABORT Transaction discarded because of previous "
       "errors.|"},
      {"MULTI", "nothing changes-state for-readers > +OK|"},
      {"GET @@none.a",
       "refused mistake cannot_open_table changes-state for-readers > -ERR container 'none': there is "
       "no such container|"},
      {"EXEC",
       "nothing changes-state for-readers > -EXECABORT Transaction discarded because of previous "
       "errors.|"},
      {"MULTI", "nothing changes-state for-readers > +OK|"},
      {"MULTI x",
       "refused mistake syntax changes-state for-readers > -ERR wrong number of arguments for 'multi' "
       "command|"},
      {"EXEC",
       "nothing changes-state for-readers > -EXECABORT Transaction discarded because of previous "
       "errors.|"},
      {"DISCARD x",
       "refused mistake syntax for-readers > -ERR wrong number of arguments for 'discard' command|"},
      {"MULTI", "nothing changes-state for-readers > +OK|"},
      {"DISCARD x",
       "refused mistake syntax changes-state for-readers > -ERR wrong number of arguments for 'discard' "
       "command|"},
      {"EXEC x",
       "nothing changes-state for-readers > -EXECABORT Transaction discarded because of: wrong number "
       "of arguments for 'exec' command|"},
      {"EXEC x",
       "refused mistake syntax for-readers > -EXECABORT Transaction discarded because of: wrong number "
       "of arguments for 'exec' command|"},
      {"MULTI", "nothing changes-state for-readers > +OK|"},
      {"EXEC", "nothing changes-state for-readers > *0|"},
  });
}

TEST_F(WholeTest, hello_tells_the_server_and_the_version) {
  const std::string id = std::to_string(state.id);
  EXPECT_EQ(whole(bytes_of("HELLO 2")),
            "nothing changes-state for-readers > "
            "*14|$6|server|$9|rowsocket|$7|version|$6|7.0.15|$5|proto|:2|$2|id|:" +
                id + "|$4|mode|$10|standalone|$4|role|$6|master|$7|modules|*0|");
  EXPECT_EQ(whole(bytes_of("HELLO 3 SETNAME n")),
            "nothing changes-state for-readers > "
            "%7|$6|server|$9|rowsocket|$7|version|$6|7.0.15|$5|proto|:3|$2|id|:" +
                id + "|$4|mode|$10|standalone|$4|role|$6|master|$7|modules|*0|");
  EXPECT_EQ(state.name, "n");
}

}  // namespace
}  // namespace rowsocket::wire::resp::test
