# SPDX-License-Identifier: GPL-2.0-only
#
# The original's own test scripts connect to the ports 9998 and 9999 of localhost, and to SQL on a TCP port. Loaded with
# -MRedirect, this module leads them to the servers that the environment names; scripts and client stay as they are.
#
#   HS_READ, HS_WRITE   HOST:PORT, or /:PATH for a unix socket
#   SQL_SOCKET          the path of the SQL socket
package Redirect;

use strict;
use warnings;
use DBI;
use Net::HandlerSocket;

my $new = \&Net::HandlerSocket::new;
my $connect = \&DBI::connect;

no warnings 'redefine';

*Net::HandlerSocket::new = sub {
  my ($class, $args) = @_;
  my ($host, $port) = split /:/, $args->{port} == 9999 ? $ENV{HS_WRITE} : $ENV{HS_READ};
  return $new->($class, { %$args, host => $host, port => $port });
};

*DBI::connect = sub {
  my ($class, $source, @more) = @_;
  $source =~ s/host=[^;]*;port=\d+/mariadb_socket=$ENV{SQL_SOCKET}/;
  return $connect->($class, $source, @more);
};

1;
