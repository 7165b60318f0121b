# SPDX-License-Identifier: GPL-2.0-only
"""`./x run`: a private server with the plugin loaded, in the foreground, until Ctrl-C or SIGTERM."""

import json
import shlex
import signal
import textwrap
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from rowsocket_x import build, demo, server_fetch, server_series
from rowsocket_x.console import Problem, say, step
from rowsocket_x.instance import Instance, free_port, require_free_port
from rowsocket_x.server_series import Series

ANONYMOUS_ACCOUNT = "rowsocket_demo@localhost"
"""Who clients are that name no account. Nobody can log in as this account."""


@dataclass(frozen=True)
class Options:
    """What `./x run` can be told; a port of 0 means any free one."""

    series: Series
    data: Path
    port_sql: int
    port_read: int
    port_write: int
    port_memcached: int | None
    """None = not served."""
    port_resp: int | None
    """None = not served."""
    demo_users: int | None
    """Rows of demo.user; None = no demo database."""
    config: Path | None
    ready_file: Path | None


@dataclass(frozen=True)
class Places:
    """Where a running server serves; written to the ready file as it is."""

    pid: int
    sql_socket: str
    sql_port: int
    read_port: int
    write_port: int
    read_socket: str
    write_socket: str
    memcached_port: int = 0
    """0 = not served."""
    resp_port: int = 0
    """0 = not served."""

    def write(self, path: Path) -> None:
        """Write the ready file; it appears whole or not at all."""
        scratch = path.with_name(path.name + ".new")
        scratch.write_text(json.dumps(vars(self)) + "\n")
        scratch.replace(path)


class _StopRequested(Exception):
    """Ctrl-C or SIGTERM came."""


def serve(options: Options) -> None:
    """Set up what is missing, start, load the demo, serve until told to stop.

    Raises `Problem` for what the user can mend.
    """
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _request_stop)
    try:
        if options.ready_file is not None:
            options.ready_file.unlink(missing_ok=True)
        plugin = build.plugin(build.build(build.Preset.PLUGIN, series=options.series))
        with Instance(
            server_fetch.require(options.series).tree, options.data, config=options.config
        ) as server:
            try:
                _serve_from(server, plugin, options)
            finally:
                if options.ready_file is not None:
                    options.ready_file.unlink(missing_ok=True)
                if server.process is not None and server.process.poll() is None:
                    say("shutting down (once more Ctrl-C kills the server; it recovers at its next start)")
    except _StopRequested:
        say("stopped")


def _request_stop(number: int, frame: FrameType | None) -> None:
    raise _StopRequested


def _serve_from(server: Instance, plugin: Path, options: Options) -> None:
    wanted = {
        "--port-sql": options.port_sql,
        "--port-read": options.port_read,
        "--port-write": options.port_write,
        "--port-memcached": options.port_memcached,
        "--port-resp": options.port_resp,
    }
    for option, port in wanted.items():
        if port:
            require_free_port(port, option)
    if not server.data.is_dir():
        with step("making the data directory"):
            server.initialise()
    with step("starting MariaDB"):
        server.start(options.port_sql or free_port(), plugin, _plugin_options(server, options))
    places = _places(server)
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE USER IF NOT EXISTS {ANONYMOUS_ACCOUNT} ACCOUNT LOCK")
        cursor.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON *.* TO {ANONYMOUS_ACCOUNT}")
    if options.demo_users is not None:
        with server.connect() as connection:
            demo.load_once(
                connection, server_series.apt(options.series), server.folder / "demo.json", options.demo_users
            )
    if options.ready_file is not None:
        places.write(options.ready_file)
    print(_welcome(server, places, with_demo=options.demo_users is not None), flush=True)
    assert server.process is not None
    code = server.process.wait()
    if code != 0:
        said = [f"| {line}" for line in server.log_tail().splitlines()]
        raise Problem(
            f"the server ended by itself (exit code {code})", *said, f"all of its log: {server.error_log}"
        )
    say("the server was shut down")


def _plugin_options(server: Instance, options: Options) -> dict[str, str | int]:
    """The plugin's settings; `loose`, so that the log says why it was not loaded where that is so."""
    settings: dict[str, str | int] = {
        "loose-rowsocket-port-read": options.port_read,
        "loose-rowsocket-port-write": options.port_write,
        "loose-rowsocket-socket-read": str(server.socket_path("read")),
        "loose-rowsocket-socket-write": str(server.socket_path("write")),
    }
    if options.config is None:  # else that says where RowSocket listens, and to whom
        settings["loose-rowsocket-anonymous-account"] = ANONYMOUS_ACCOUNT
    if options.port_memcached is not None:
        settings["loose-rowsocket-port-memcached"] = options.port_memcached
    if options.port_resp is not None:
        settings["loose-rowsocket-port-resp"] = options.port_resp
    if options.port_memcached is not None or options.port_resp is not None:
        settings["loose-rowsocket-containers"] = "innodb_memcache.containers"
    return settings


def _places(server: Instance) -> Places:
    """Ask the server where it serves. Raises `Problem` when the plugin was not loaded."""
    status = server.variables("SHOW GLOBAL STATUS LIKE 'Rowsocket_port%'")
    if "Rowsocket_port_read" not in status:
        said = [
            line
            for line in server.log_tail(200).splitlines()
            if "rowsocket" in line.lower() or "[ERROR]" in line
        ]
        raise Problem(
            "the server runs, but RowSocket was not loaded", *said, f"all of its log: {server.error_log}"
        )
    names = "'socket', 'port', 'rowsocket_socket_read', 'rowsocket_socket_write'"
    variables = server.variables(f"SHOW GLOBAL VARIABLES WHERE Variable_name IN ({names})")
    assert server.process is not None
    return Places(
        pid=server.process.pid,
        sql_socket=variables["socket"],
        sql_port=int(variables["port"]),
        read_port=int(status["Rowsocket_port_read"]),
        write_port=int(status["Rowsocket_port_write"]),
        memcached_port=int(status["Rowsocket_port_memcached"]),
        resp_port=int(status["Rowsocket_port_resp"]),
        read_socket=variables["rowsocket_socket_read"],
        write_socket=variables["rowsocket_socket_write"],
    )


def _welcome(server: Instance, places: Places, *, with_demo: bool) -> str:
    """Where it serves, and three things to try in another terminal."""
    reads, writes = f"127.0.0.1:{places.read_port}", f"127.0.0.1:{places.write_port}"
    lines = f"""
        RowSocket serves (pid {places.pid}, Ctrl-C stops it, log in {server.error_log}):
          SQL     127.0.0.1:{places.sql_port:<6} {places.sql_socket}   user root, no password
          reads   {reads:<16} {places.read_socket}
          writes  {writes:<16} {places.write_socket}
        """
    welcome = textwrap.dedent(lines).strip("\n")
    if places.memcached_port:
        welcome += f"\n  memcached  127.0.0.1:{places.memcached_port}"
    if places.resp_port:
        welcome += f"\n  RESP       127.0.0.1:{places.resp_port}"
    return welcome + (things_to_try(server, places) if with_demo else "")


def things_to_try(server: Instance, places: Places) -> str:
    """Three things to try in another terminal, each a line that can be copied."""
    to_reads, to_writes = (f"nc -q 1 127.0.0.1 {port}" for port in (places.read_port, places.write_port))
    program = str(server.tree / "usr/bin/mariadb")
    sql = shlex.join([program, "--no-defaults", "-u", "root", "-S", places.sql_socket, "demo", "-e"])
    find = r"P\t1\tdemo\tpackage\tPRIMARY\tname,version,description\n1\t=\t1\tbash\n"
    rename = r"P\t1\tdemo\tuser\tPRIMARY\tuser_name\n1\t=\t1\t42\t1\t0\tU\tDeep Thought\n"
    return f"""

Three things to try in another terminal:

1. Read a row with nothing but a socket. One line is one request, its words are separated by a TAB
   (in `telnet 127.0.0.1 {places.read_port}` the same lines can be typed):
     printf '{find}' | {to_reads}

2. The same row and its neighbours through SQL, which works on the same data at the same time:
     {sql} "SELECT name, version, description FROM package WHERE name >= 'bash' LIMIT 3"

3. Change a user's name over the write port, and look at it from SQL:
     printf '{rename}' | {to_writes}
     {sql} "SELECT * FROM user WHERE user_id = 42"
"""
