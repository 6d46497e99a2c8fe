from __future__ import annotations

import struct
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest

from foundation.errors import LinkProtocolError
from provisioning.phone.adb.screen import (
    PhoneScreen,
    read_framebuffer,
    read_png,
    read_raw,
)
from tests.standins.fake_adb_device import SIZE, FakeAdbDevice, picture

if TYPE_CHECKING:
    from provisioning.phone.adb.device import AdbDevice

COLOR = (10, 20, 30)


def screen(fake_device: FakeAdbDevice) -> PhoneScreen:
    return PhoneScreen(cast("AdbDevice", fake_device), clock=fake_device.clock)


@pytest.mark.parametrize(
    ("costs_s", "way"),
    [
        ({"png": 0.1, "raw": 0.2, "framebuffer": 0.3}, "png"),
        ({"png": 0.3, "raw": 0.1, "framebuffer": 0.2}, "raw"),
        ({"png": 0.3, "raw": 0.2, "framebuffer": 0.1}, "framebuffer"),
        ({"png": 0.3, "raw": 0.2}, "raw"),
        ({"png": 0.3}, "png"),
    ],
)
def test_fastest_working_method_is_kept(costs_s: dict[str, float], way: str) -> None:
    fake_device = FakeAdbDevice(costs_s=costs_s)
    eyes = screen(fake_device)
    eyes.capture()
    assert (eyes.method, set(eyes.costs_s)) == (way, set(costs_s))
    del fake_device.taken[:]
    eyes.capture()
    assert fake_device.taken == [way]


def test_failed_capture_reports_the_error_of_each_method() -> None:
    with pytest.raises(LinkProtocolError, match="framebuffer: The phone has no such service"):
        screen(FakeAdbDevice(costs_s={})).capture()


def test_picture_is_rgb_and_immutable_for_other_callers() -> None:
    fake_device = FakeAdbDevice(color=COLOR, frame=1)
    eyes = screen(fake_device)
    frame = eyes.capture()
    assert frame.shape == (SIZE[1], SIZE[0], 3)
    assert frame.dtype == np.uint8
    assert tuple(frame[0, 0]) == COLOR
    assert eyes.capture() is frame
    with pytest.raises(ValueError, match="read-only"):
        frame[:] = 0


def test_frame_is_read_once_if_frames_are_numbered() -> None:
    fake_device = FakeAdbDevice(frame=1)
    eyes = screen(fake_device)
    eyes.capture()
    count = len(fake_device.taken)
    eyes.capture()
    assert len(fake_device.taken) == count
    fake_device.frame, fake_device.color = 2, (7, 7, 7)
    assert tuple(eyes.capture()[0, 0]) == (7, 7, 7)
    eyes.forget()
    eyes.capture()
    assert len(fake_device.taken) == count + 2


def test_stillness_is_unknown_if_the_phone_does_not_report_it() -> None:
    assert screen(FakeAdbDevice()).is_still() is None
    assert screen(FakeAdbDevice(frame=1)).is_still() is True
    assert screen(FakeAdbDevice(frame=1, pending=2)).is_still() is False


@pytest.mark.parametrize("way", ["png", "raw", "framebuffer"])
def test_all_methods_return_the_same_pixels(way: str) -> None:
    read = {"png": read_png, "raw": read_raw, "framebuffer": read_framebuffer}[way]
    frame = read(picture(way, COLOR))
    assert frame.shape == (SIZE[1], SIZE[0], 3)
    assert (frame == np.array(COLOR, np.uint8)).all()


def test_pictures_of_older_androids_are_read() -> None:
    pixels = bytes((*COLOR, 255)) * 6
    assert read_raw(struct.pack("<3I", 3, 2, 1) + pixels).shape == (2, 3, 3)
    layout = (0, 8, 16, 8, 8, 8, 24, 8)
    assert read_framebuffer(struct.pack("<13I", 1, 32, 24, 3, 2, *layout) + pixels).shape == (
        2,
        3,
        3,
    )


@pytest.mark.parametrize("way", ["png", "raw", "framebuffer"])
def test_truncated_or_foreign_picture_is_rejected(way: str) -> None:
    read = {"png": read_png, "raw": read_raw, "framebuffer": read_framebuffer}[way]
    whole = picture(way, COLOR)
    for data in (b"", b"\0" * 60, whole[: len(whole) // 2], b"error: no display", whole[4:]):
        with pytest.raises(LinkProtocolError):
            read(data)


def test_other_colour_layout_is_rejected() -> None:
    layout = (16, 8, 0, 8, 8, 8, 24, 8)
    data = struct.pack("<13I", 1, 32, 24, 3, 2, *layout) + b"\0" * 24
    with pytest.raises(LinkProtocolError, match="framebuffer of an unsupported format"):
        read_framebuffer(data)


def test_absurd_size_is_rejected_before_it_is_read() -> None:
    with pytest.raises(LinkProtocolError):
        read_raw(struct.pack("<4I", 0, 1 << 20, 1, 1))
