#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Runs inside a bare Debian, as root: ./x package --prove. In /packages are the packages. The arguments are a
# Debian version of MariaDB that they have a build for, and its release.
set -eu
version=$1
release=$2
builds=/usr/lib/mysql/plugin/rowsocket
log=/var/log/proof.log
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8

say() { echo "== $*"; }
fail() {
  echo "FAILED: $*" >&2
  tail -n 20 "$log" >&2
  exit 1
}

# Debian's packages start no servers here: the proof does.
printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
chmod +x /usr/sbin/policy-rc.d

# The server stays at this version, as docs/installing.md has it.
pin() {
  cat >/etc/apt/preferences.d/mariadb-for-rowsocket <<PIN
Package: src:mariadb
Pin: version $1
Pin-Priority: 1001

Package: mariadb-plugin-provider-*
Pin: version *
Pin-Priority: -1
PIN
}

start() {
  mkdir -p /run/mysqld
  chown mysql /run/mysqld
  : >"$log"
  chown mysql "$log"
  mariadbd --user=mysql --log-error="$log" &
  server=$!
  tries=0
  until mariadb -e 'SELECT 1' >/dev/null 2>&1; do
    kill -0 "$server" || fail "the server does not start"
    tries=$((tries + 1))
    [ "$tries" -lt 600 ] || fail "the server does not answer"
    sleep 0.1
  done
}

stop() {
  kill "$server"
  wait "$server" || fail "the server ended badly"
}

is_loaded() {
  mariadb -N -e "SELECT 1 FROM information_schema.plugins WHERE plugin_name = 'rowsocket'" | grep -q 1
}

read_row() {
  python3 -c '
import rowsocket
with rowsocket.connect("rowsocket://app:secret@127.0.0.1:9998/shop") as connection:
    row = connection.table("customer", ["id", "name"]).get(42)
assert row == (42, "Ann"), row'
}

say "installing MariaDB $version and the packages"
apt-get -q update
newest=$(apt-cache policy mariadb-server-core | sed -n 's/^  Candidate: //p')
pin "$version"
apt-get -q install -y /packages/server/*.deb /packages/*.deb

say "a table, an account, a client"
start
is_loaded || fail "the plugin is not loaded"
mariadb <<'SQL'
CREATE DATABASE shop;
CREATE TABLE shop.customer (id INT PRIMARY KEY, name VARCHAR(40));
INSERT INTO shop.customer VALUES (42, 'Ann');
CREATE USER app@localhost IDENTIFIED BY 'secret';
GRANT SELECT ON shop.* TO app@localhost;
SQL
read_row
rowsocket --url rowsocket://app:secret@127.0.0.1/shop get customer 42 --columns id,name | grep Ann ||
  fail "the command does not tell the row"
stop

say "without the build for this server"
mv "$builds/$release.so" /root/
start
is_loaded && fail "a plugin is loaded that there is no build for"
grep 'no build for MariaDB' "$log" || fail "the log does not say why"
stop
mv "/root/$release.so" "$builds/"

if [ "$newest" != "$version" ]; then
  say "an upgrade of the server to $newest, and back"
  pin "$newest"
  apt-get -q full-upgrade -y 2>&1 | tee /root/upgrade.log
  of_newest=${newest#*:}
  of_newest=${of_newest%%[-+~]*}
  start
  if [ -e "$builds/$of_newest.so" ]; then
    read_row
  else
    grep 'WARNING.*has no build for it' /root/upgrade.log || fail "apt does not say that nothing fits"
    is_loaded && fail "a plugin is loaded that there is no build for"
    grep 'no build for MariaDB' "$log" || fail "the log does not say why"
  fi
  stop
  pin "$version"
  apt-get -q install -y --allow-downgrades /packages/server/*.deb
  start
  read_row
  stop
fi

say "the plugin is removed"
apt-get -q remove -y mariadb-plugin-rowsocket
start
is_loaded && fail "the plugin is loaded after its removal"
stop
apt-get -q purge -y mariadb-plugin-rowsocket
[ ! -e /etc/mysql/mariadb.conf.d/60-rowsocket.cnf ] || fail "the configuration is still there"
start
grep -i rowsocket "$log" && fail "the log still speaks of it"
stop

say "the packages' own test, as Debian runs it"
apt-get -q install -y --no-install-recommends autopkgtest
autopkgtest --no-built-binaries /packages/*.deb /packages/source/ -- null || fail "autopkgtest"
say "proved"
