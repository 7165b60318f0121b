# SPDX-License-Identifier: GPL-2.0-only
from collections.abc import Sequence
from pathlib import Path

import pytest

from rowsocket_x import build, setup
from rowsocket_x.build import Preset
from rowsocket_x.server_fetch import Server
from rowsocket_x.server_series import Series


@pytest.fixture
def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The presets that cmake was run for; nothing is installed, fetched or configured."""
    presets: list[str] = []

    def run(command: Sequence[object], **_: object) -> str:
        words = [str(word) for word in command]
        presets.append(words[words.index("--preset") + 1])
        folder = Path(words[words.index("-B") + 1])
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "build.ninja").touch()
        return ""

    monkeypatch.setattr(build, "BUILD", tmp_path)
    monkeypatch.setattr(build, "run", run)
    monkeypatch.setattr(setup, "packages", lambda *layers: None)
    monkeypatch.setattr(setup, "server", lambda series: Server("1", tmp_path, tmp_path / series))
    return presets


def configure(preset: Preset) -> None:
    build.configure.__wrapped__(preset)


def test_the_plugin_alone_is_content_with_a_folder_for_everything(configured: list[str]) -> None:
    configure(Preset.RELEASE)
    configure(Preset.PLUGIN)
    assert configured == ["release"]


def test_everything_goes_on_in_the_folder_of_the_plugin(configured: list[str]) -> None:
    configure(Preset.PLUGIN)
    configure(Preset.RELEASE)
    configure(Preset.RELEASE)
    assert configured == ["plugin", "release"]


def test_another_server_is_built_for_in_a_folder_of_its_own() -> None:
    assert build.folder_of(Preset.PLUGIN, Series.V11_8).name == "release-11.8"
    assert build.folder_of(Preset.DEBUG, Series.V11_8) == build.folder_of(Preset.DEBUG)


def test_the_plugin_alone_needs_no_packages_of_tests() -> None:
    assert set(Preset.PLUGIN.packages) < set(Preset.RELEASE.packages)
