"""Tests of a running desktop's screen from the host: recordings, VNC, and libvirt's screenshot."""

from __future__ import annotations

import json
import socket
import struct
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from foundation.clock import SYSTEM_CLOCK, wait_until
from foundation.settings import get_settings
from provisioning.desktop.qemu.screenshot import LibvirtScreen
from provisioning.desktop.qemu.vnc import VncRelay
from provisioning.fleet.local import LocalFleet
from provisioning.recording.recorder import Recorder
from provisioning.recording.video import read_video
from provisioning.resource import DESKTOP, ResourceSpec
from tests.standins.appliance import NEEDS_APPLIANCE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [
    pytest.mark.vm,
    pytest.mark.slow,
    NEEDS_APPLIANCE,
]

RED = "gsettings set org.gnome.desktop.background primary-color '#ff0000'"


@pytest.fixture(scope="module")
def desktop() -> Iterator[Any]:
    with LocalFleet(get_settings()).acquire(
        {"desktop": ResourceSpec(DESKTOP)}
    ) as environment_lease:
        environment = environment_lease.environment
        yield environment.machines["desktop"]


def test_desktop_changes_are_recorded_with_their_time(desktop: Any, tmp_path: Path) -> None:  # noqa: ANN401
    path = tmp_path / "screen-desktop.mp4"
    began_s = SYSTEM_CLOCK.now_s()
    with Recorder(desktop.screen, path, rate_hz=10) as recorder:
        assert wait_until(lambda: recorder.stats.frames, timeout_s=20)
        acted_s = SYSTEM_CLOCK.now_s()
        desktop.link.call("exec", {"argv": ["/bin/sh", "-c", RED], "user": "user"}, timeout_s=30)

        def is_red() -> bool:
            frame = desktop.screen.capture()
            return bool((frame == (255, 0, 0)).all(axis=2).mean() > 0.3)

        assert wait_until(is_red, timeout_s=30)
        looks = recorder.stats.looks
        assert wait_until(lambda: recorder.stats.looks >= looks + 2, timeout_s=20)

    played = list(read_video(path))
    rows = [json.loads(line) for line in recorder.index.read_text().splitlines()]
    assert recorder.stats.error == ""
    assert recorder.stats.gaps == 0
    assert len(played) == recorder.stats.frames
    assert began_s <= played[0].at_s <= acted_s
    width = played[0].frame.shape[1]
    turned = [row for row in rows if row.get("changed") and row["t"] >= acted_s]
    assert any((row["changed"][2] - row["changed"][0]) > width // 2 for row in turned)
    red = [
        shown.at_s
        for shown in played
        if shown.frame[:, :, 0].mean() - shown.frame[:, :, 1].mean() > 60
    ]
    assert red
    assert acted_s - 0.2 <= red[0] <= SYSTEM_CLOCK.now_s()


def test_libvirt_screenshot_shows_the_same(desktop: Any) -> None:  # noqa: ANN401
    screen = LibvirtScreen(get_settings().libvirt_uri, desktop.info.machine_id)
    try:
        theirs = screen.capture()
    finally:
        screen.close()
    ours = desktop.screen.capture()
    assert theirs.shape == ours.shape
    assert (theirs != ours).any(axis=2).mean() < 0.02


def test_vnc_viewer_sees_the_desktop(desktop: Any) -> None:  # noqa: ANN401
    """RFB 3.8 without security, one raw frame. Source: RFC 6143, sections 7.1 to 7.7."""
    path = desktop.folder.path / "vnc.sock"
    with VncRelay(path) as relay:
        where = ("127.0.0.1", relay.port)
        with socket.create_connection(where, timeout=20) as viewer, viewer.makefile("rb") as stream:
            assert stream.read(12) == b"RFB 003.008\n"
            viewer.sendall(b"RFB 003.008\n")
            assert 1 in stream.read(stream.read(1)[0])
            viewer.sendall(b"\x01")
            assert stream.read(4) == bytes(4)
            viewer.sendall(b"\x01")  # shared with other viewers
            width, height = struct.unpack(">HH", stream.read(4))
            stream.read(16)
            stream.read(struct.unpack(">I", stream.read(4))[0])
            # 32 bits per pixel, little-endian: blue, green, red, unused.
            form = struct.pack(">BBBBHHHBBB3x", 32, 24, 0, 1, 255, 255, 255, 16, 8, 0)
            viewer.sendall(struct.pack(">B3x", 0) + form)
            viewer.sendall(struct.pack(">BxHi", 2, 1, 0))
            viewer.sendall(struct.pack(">BBHHHH", 3, 0, 0, 0, width, height))
            frame = np.zeros((height, width, 3), np.uint8)
            kind, rectangles = struct.unpack(">BxH", stream.read(4))
            assert kind == 0
            for _ in range(rectangles):
                x, y, w, h, encoding = struct.unpack(">HHHHi", stream.read(12))
                assert encoding == 0
                pixels = np.frombuffer(stream.read(4 * w * h), np.uint8).reshape(h, w, 4)
                frame[y : y + h, x : x + w] = pixels[:, :, 2::-1]
    seen = desktop.screen.capture()
    assert frame.shape == seen.shape
    assert (frame == seen).all(axis=2).mean() > 0.98  # everything except a clock or a cursor
