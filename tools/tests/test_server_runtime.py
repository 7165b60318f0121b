# SPDX-License-Identifier: GPL-2.0-only
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from rowsocket_x import server_runtime


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree with a program and a script, and this machine's own libraries as the other release's."""
    tree = tmp_path / "a tree"
    (tree / "usr/sbin").mkdir(parents=True)
    (tree / "usr/bin").mkdir()
    shutil.copy2("/bin/sleep", tree / "usr/sbin/sleep")
    (tree / "usr/bin/script").write_text("#!/bin/sh\necho script\n")
    (tree / "usr/bin/script").chmod(0o755)
    (tree / "usr/bin/alias").symlink_to("../sbin/sleep")
    folder = next(path.parent for path in Path("/usr/lib").glob("*-linux-gnu*/libc.so.6"))
    libraries = tree / "runtime" / folder.relative_to("/")
    libraries.mkdir(parents=True)
    for name in ("libc.so.6", *(path.name for path in folder.glob("ld-linux-*.so.*"))):
        shutil.copy2(folder / name, libraries / name)
    server_runtime.put_scripts(tree)
    return tree


def test_a_program_runs_with_the_libraries_of_its_tree(tree: Path) -> None:
    program = subprocess.Popen([tree / "usr/sbin/sleep", "60"])
    try:
        mapped: list[str] = []
        while not (
            any("sleep.program" in line for line in mapped) and any("libc.so.6" in line for line in mapped)
        ):
            assert program.poll() is None
            mapped = (
                Path(f"/proc/{program.pid}/maps").read_text().splitlines()
            )  # the script becomes the program
        ours = f" {tree.resolve()}/runtime/usr/lib/"
        assert all(ours in line for line in mapped if "libc.so.6" in line or "ld-linux" in line)
    finally:
        program.kill()
        program.wait()


def test_a_link_to_a_program_starts_it(tree: Path) -> None:
    assert subprocess.run([tree / "usr/bin/alias", "0"], env={"PATH": os.environ["PATH"]}).returncode == 0


def test_what_is_no_program_stays_as_it_is(tree: Path) -> None:
    assert subprocess.run([tree / "usr/bin/script"], capture_output=True, text=True).stdout == "script\n"
    assert not (tree / "usr/bin/script.program").exists()
