from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest

from foundation.errors import MachineError
from provisioning.desktop.qemu.screen import VmScreen, parse_ppm

if TYPE_CHECKING:
    from provisioning.desktop.qemu.connection import Hypervisor


class Painter:
    """Writes screenshots of one color, as QEMU does."""

    def __init__(self) -> None:
        self.sizes = [(3, 2), (5, 4)]
        self.pictures = 0

    def qmp(self, _name: str, _command: str, arguments: dict[str, str]) -> None:
        width, height = self.sizes[self.pictures]
        self.pictures += 1
        data = b"P6\n%d %d\n255\n" % (width, height) + bytes(width * height * 3)
        Path(arguments["filename"]).write_bytes(data)


def test_last_size_is_known_without_another_picture(tmp_path: Path) -> None:
    painter = Painter()
    screen = VmScreen(cast("Hypervisor", painter), "it", tmp_path)
    assert screen.last_size() == (3, 2)
    assert (screen.last_size(), painter.pictures) == ((3, 2), 1)
    screen.capture()
    assert (screen.last_size(), painter.pictures) == ((5, 4), 2)


def test_picture_is_rows_of_rgb_from_the_top_left() -> None:
    pixels = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3)

    frame = parse_ppm(b"P6\n3 2\n255\n" + pixels.tobytes())

    assert frame.dtype == np.uint8
    assert np.array_equal(frame, pixels)


def test_whitespace_bytes_after_the_header_are_pixels() -> None:
    assert parse_ppm(b"P6\n1 1\n255\n\n \t").tolist() == [[[10, 32, 9]]]


@pytest.mark.parametrize(
    "data",
    [b"", b"P5\n1 1\n255\n\0", b"P6\n2 2\n255\n" + bytes(11), b"P6\n1 1\n65535\n" + bytes(6)],
    ids=["empty", "grey", "short", "16 bit"],
)
def test_other_data_is_rejected(data: bytes) -> None:
    with pytest.raises(MachineError):
        parse_ppm(data)
