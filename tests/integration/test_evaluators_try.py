"""Tests of ``mesocosm evaluators try`` on a live desktop container."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from appliance.cli.main import main
from foundation.settings import get_settings
from provisioning.desktop.container.backend import ContainerBackend
from tests.standins.container import desktop_container_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.docker]


@pytest.fixture(scope="module")
def machine_id(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Create a machine in a separate state folder, and release it."""
    state_dir, source_settings = tmp_path_factory.mktemp("state"), desktop_container_settings()
    for name, folder in (
        ("images", source_settings.images_dir),
        ("keys", source_settings.keys_dir),
    ):
        (state_dir / name).symlink_to(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MESOCOSM_STATE_DIR", str(state_dir))
        patch.setenv("MESOCOSM_DESKTOP", "container")
        get_settings.cache_clear()
        machine_handle = ContainerBackend(get_settings()).make(lambda _message: None)
        machine = machine_handle.machine
        machine_handle.release()
        yield machine.info.machine_id
        machine.delete()
    get_settings.cache_clear()


def tried(capsys: pytest.CaptureFixture[str], machine_id: str, *args: str) -> tuple[int, object]:
    capsys.readouterr()
    code = main(["evaluators", "try", *args, "--machine", machine_id, "--json"])
    return code, json.loads(capsys.readouterr().out)["met"]


@pytest.mark.parametrize(
    ("args", "code", "met"),
    [
        (("window_open", "app=gnome-panel"), 0, True),
        (("window_open", "app=gnome-calculator"), 1, False),
        (("process_running", "program=/usr/bin/gnome-panel"), 0, True),
        (("file_exists", "path=~/nope"), 1, False),
        (("gsetting_equals", "schema=org.no", "key=x", "value=y"), 1, None),
        (("screen_size_equals", "width=1280", "height=800"), 0, True),
    ],
)
def test_evaluator_is_tried_on_a_live_machine(
    machine_id: str,
    capsys: pytest.CaptureFixture[str],
    args: tuple[str, ...],
    code: int,
    met: object,
) -> None:
    assert tried(capsys, machine_id, *args) == (code, met)
