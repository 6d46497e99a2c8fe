"""In-memory phone that replies in Android's formats, for tests of their parsers."""

from __future__ import annotations

import base64
import io
import shlex
import struct
from dataclasses import dataclass, field

from PIL import Image

from foundation.clock import FakeClock
from foundation.errors import GuestCallError
from foundation.process import CommandResult

SIZE = (6, 4)
_KEYBOARD = "com.android.adbkeyboard/.AdbIME"
_DUMP = (
    '<hierarchy><node text="x" bounds="[0,0][1,1]"/></hierarchy>UI hierchary dumped to: /dev/tty\n'
)
_NO_DUMP = b"ERROR: could not get idle state.\n"


@dataclass
class FakeAdbDevice:
    """Fake of `provisioning.phone.adb.device.AdbDevice`.

    Attributes:
        methods: installed input methods; the last one is the default.
        frame: number of the frame; None if the phone has no frame numbers.
        pending: number of pending frames.
        color: RGB of every pixel.
        costs_s: seconds that each screenshot method takes; methods not listed are refused.
        clock: advanced by these seconds.
        typed: text that was typed.
        dumps: number of hierarchies that were read.
        empty_dumps: how many of the first dumps have no hierarchy.
        dump_s: seconds that each hierarchy takes.
        taken: screenshot methods that were used, in order.
    """

    methods: list[str] = field(default_factory=list)
    frame: int | None = None
    pending: int = 0
    color: tuple[int, int, int] = (1, 2, 3)
    costs_s: dict[str, float] = field(
        default_factory=lambda: {"png": 0.3, "raw": 0.2, "framebuffer": 0.1}
    )
    clock: FakeClock = field(default_factory=FakeClock)
    typed: str = ""
    dumps: int = 0
    empty_dumps: int = 0
    dump_s: float = 2.0
    taken: list[str] = field(default_factory=list)
    method: str = ""

    def __post_init__(self) -> None:
        self.method = self.methods[-1] if self.methods else ""

    def shell(self, command: str, timeout_s: float = 10.0) -> CommandResult:
        """Run a command line; unknown commands return exit code 127."""
        code, output = self._obey(shlex.split(command))
        return CommandResult((command,), code, output.encode(), b"")

    def _obey(self, argv: list[str]) -> tuple[int, str]:  # noqa: C901 - a case a command
        match argv:
            case ["input", "text", text] if text.isascii():
                self.typed += text.replace("%s", " ")
            case ["input", "text", _]:
                return 255, "java.lang.NullPointerException: Attempt to get length of null array"
            case ["input", "keyevent", "ENTER"]:
                self.typed += "\n"
            case ["ime", "list", "-a", "-s"]:
                return 0, "\n".join(self.methods)
            case ["ime", "enable", _]:
                pass
            case ["ime", "set", method]:
                self.method = method
            case ["settings", "get", "secure", "default_input_method"]:
                return 0, self.method
            case ["am", "broadcast", "-a", "ADB_INPUT_B64", "--es", "msg", message]:
                assert self.method == _KEYBOARD
                self.typed += base64.b64decode(message).decode()
            case ["dumpsys", "reference_phone", "frame"] if self.frame is not None:
                return 0, f"frame={self.frame}\npending={self.pending}\n"
            case ["dumpsys", *_]:
                return 1, "Can't find service: reference_phone"
            case _:
                return 127, ""
        return 0, ""

    def read(self, command: str, timeout_s: float = 10.0) -> bytes:
        """Return the output of a command."""
        match command:
            case "uiautomator dump /dev/tty":
                self.dumps += 1
                self.clock.advance(self.dump_s)
                return _DUMP.encode() if self.dumps > self.empty_dumps else _NO_DUMP
            case "screencap -p":
                return self._picture("png")
            case "screencap":
                return self._picture("raw")
        return b""

    def read_service(self, service: str, timeout_s: float = 10.0) -> bytes:
        """Return the output of a service."""
        assert service == "framebuffer:"
        return self._picture("framebuffer")

    def _picture(self, way: str) -> bytes:
        if way not in self.costs_s:
            raise GuestCallError("The phone has no such service.")
        self.clock.advance(self.costs_s[way])
        self.taken.append(way)
        return picture(way, self.color)


def picture(way: str, color: tuple[int, int, int], size: tuple[int, int] = SIZE) -> bytes:
    """Return a picture of one colour in one of Android's formats: ``png``, ``raw``, ``framebuffer``."""
    width, height = size
    pixels = bytes((*color, 255)) * (width * height)
    if way == "raw":
        return struct.pack("<4I", width, height, 1, 1) + pixels
    if way == "framebuffer":
        layout = (0, 8, 16, 8, 8, 8, 24, 8)
        return struct.pack("<14I", 2, 32, 1, len(pixels), width, height, *layout) + pixels
    file = io.BytesIO()
    Image.new("RGB", size, color).save(file, "PNG")
    return file.getvalue()
