# SPDX-License-Identifier: GPL-2.0-only
#
# Runs one file of Redis's own tests, unchanged, against a server that runs already, and goes on behind a test
# that fails. Redis's own runner empties the server with FLUSHALL and stops at the first command that is not
# there.
#
#   tclsh own_tests.tcl HOST PORT FILE      in the folder that holds tests/
#
# Prints `ok NAME` or `not ok NAME: why` for each test. The container `default` takes all keys.

package require Tcl 8.5
set tcl_precision 17
set ::tls 0
set ::tlsdir tests/tls
set ::force_resp3 0
set ::external 1
set ::singledb 1
set ::denytags {}
set ::allowtags {}
set ::accurate 0
set ::verbose 0
set ::valgrind 0
set ::tags {}
set ::log_req_res 0
set ::num_tests 0
source tests/support/redis.tcl
source tests/support/util.tcl
source tests/support/test.tcl

lassign $argv ::host ::port file
set ::client [redis $::host $::port 0 0]

proc srv {args} {
    switch [lindex $args end] {
        host { return $::host }
        port { return $::port }
        client { return $::client }
        default { error "not known of a server: $args" }
    }
}

# What is there is deleted as SQL would: there is no command that empties tables.
proc empty {} {
    $::client rows.change app.item > 1 "" limit 1000000 delete
    return OK
}

proc r {args} {
    if {[string is integer [lindex $args 0]]} {
        set args [lrange $args 1 end]
    }
    if {[lsearch {flushdb flushall} [string tolower [lindex $args 0]]] >= 0} {
        return [empty]
    }
    $::client {*}$args
}

proc reconnect {args} {
    catch { $::client close }
    set ::client [redis $::host $::port 0 0]
}

proc redis_deferring_client {args} { return [redis $::host $::port 1 0] }
proc redis_client {args} { return [redis $::host $::port 0 0] }
proc start_server {options {code undefined}} {
    empty
    if {$code eq "undefined"} { set code $options }
    if {[catch { uplevel 1 $code } why]} { puts "not ok (outside of a test): [lindex [split $why \n] 0]" }
}
proc s {args} { return "" }
proc tags {tags code} { uplevel 1 $code }
proc assert_encoding {args} {}
proc assert_refcount {args} {}
proc debug_digest {args} { return 0 }

proc test {name code {okpattern undefined} {tags {}}} {
    if {[catch { uplevel 1 $code } value]} {
        puts "not ok $name: [lindex [split $value \n] 0]"
        reconnect
    } elseif {$okpattern eq "undefined" || $okpattern eq $value || [string match $okpattern $value]} {
        puts "ok $name"
    } else {
        puts "not ok $name: expected '$okpattern', got '[lindex [split $value \n] 0]'"
    }
}

source $file
