# SPDX-License-Identifier: GPL-2.0-only
"""When a trained plugin is made anew, and what its counts serve for."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from rowsocket_x import build, setup, training, training_load
from rowsocket_x.build import Preset
from rowsocket_x.server_fetch import Server

HEADERS_OF_ANOTHER_RELEASE = Path("headers")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one source, whose builds only write down which training they are for."""
    source = tmp_path / "project/src/one.cc"
    source.parent.mkdir(parents=True)
    source.write_text("int one;\n")

    def run_cmake(_preset: Preset, folder: Path, arguments: Sequence[str]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        [wanted] = [text for text in arguments if text.startswith("-DROWSOCKET_TRAINING=")]
        with (folder / "trainings").open("a") as file:
            file.write(wanted.partition("=")[2] + "\n")

    def train(folder: Path, _tree: Path) -> None:
        (folder / "src").mkdir(exist_ok=True)
        (folder / "src/one.cc.gcda").write_text("counts")

    monkeypatch.setattr(training, "ROOT", tmp_path / "project")
    monkeypatch.setattr(training, "run", lambda words, **_: "")
    monkeypatch.setattr(build, "run_cmake", run_cmake)
    monkeypatch.setattr(training, "_OF_THE_BUILD", ("src",))
    monkeypatch.setattr(training, "_train", train)
    monkeypatch.setattr(build, "BUILD", tmp_path / "build")
    monkeypatch.setattr(setup, "packages", lambda *layers: None)
    monkeypatch.setattr(setup, "server", lambda series: Server("1", tmp_path / "tree", tmp_path / "headers"))
    return tmp_path / "project"


def trainings(folder: Path) -> list[str]:
    return (folder / "trainings").read_text().split()


def test_a_plugin_that_counts_serves_before_the_one_that_uses_its_counts(project: Path) -> None:
    folder = training.trained()
    assert trainings(folder) == ["count", "use"]
    assert (folder / "src/one.cc.gcda").is_file()


def test_a_trained_plugin_of_the_same_sources_is_taken_as_it_is(project: Path) -> None:
    training.trained()
    assert trainings(training.trained()) == ["count", "use"]


def test_a_changed_source_trains_anew(project: Path) -> None:
    old = training.trained()
    (old / "src/gone.cc.gcda").write_text("counts of a source that is gone")
    (project / "src/one.cc").write_text("int two;\n")
    folder = training.trained()
    assert trainings(folder) == ["count", "use"]
    assert not (folder / "src/gone.cc.gcda").exists()


def test_another_point_release_is_compiled_by_the_same_counts(project: Path, tmp_path: Path) -> None:
    trained = training.trained()
    training.trained_like(trained, tmp_path / "other", HEADERS_OF_ANOTHER_RELEASE)
    assert trainings(tmp_path / "other") == ["use"]
    assert (tmp_path / "other/src/one.cc.gcda").read_text() == "counts"


def test_the_training_has_requests_of_every_port() -> None:
    ports = {kind.port for kind in training_load.KINDS}
    assert ports == {
        name.removeprefix("rowsocket-port-")
        for name in training_load.OPTIONS
        if name.startswith("rowsocket-port-")
    }
