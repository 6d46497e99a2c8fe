"""Threat model of evaluators of screens and pictures.

What the agent's user can do to their input:

* **Write** any picture to its files, including originals and templates in its home folder: delete
  them, make them smaller, grey, or monochrome.
* **Start** programs that draw anything anywhere on the screen, under any title and class.
* **Resize** the screen, so that a region lies outside it.

Defences: a screen shows what any program draws on it (QEMU's own capture and the guest's agree), so
a node that checks for a text also checks for the genuine program's window; if a file that an
evaluator needs existed at the start and is missing later, the agent removed it, and the node is
unmet. Originals that the agent can write can be replaced, and an unmanaged window can cover the
genuine one (docs/red-team.md).
"""

from __future__ import annotations

import base64
import io
import zlib
from functools import cache
from typing import TYPE_CHECKING

from PIL import Image, ImageDraw, ImageFont

from controller.actions.vocabulary import vocabulary
from evaluators.graph.outcome import Call
from evaluators.runners import machine_runner
from foundation.clock import wait_until
from tests.attacks.model import MACHINES, NO_TOOL, ShellAttack
from tests.attacks.windows.wire import WIRE

if TYPE_CHECKING:
    from provisioning.protocols import Json
    from tests.attacks.arenas import Arena

FAMILY = "vision"
TEXT = "Report sent"
_TEXT_CALL = Call("text", "screen_has_text", {"text": TEXT})
_SIZE = (480, 80)
_REGION: Json = [40, 100, 900, 700]
"""Larger than the screen after the attack, smaller than the screen of any desktop."""

# A window that covers the screen, with the class and title of the genuine program.
_PAINT = (
    WIRE
    + r"""
cat > paint.py << 'END'
from wire import *
import base64, zlib
wire = Wire()
window, picture, pen = wire.base | 1, wire.base | 2, wire.base | 3
wire.send(14, 0, struct.pack("<I", wire.root))
reply = wire.reply()
depth, (width, height) = reply[1], struct.unpack_from("<HH", reply, 16)
wire.send(1, 0, struct.pack("<IIhhHHHHII", window, wire.root, 0, 0, width, height, 0, 1, 0, 0))
wire.send(53, depth, struct.pack("<IIHH", picture, wire.root, width, height))
wire.send(55, 0, struct.pack("<IIII", pen, picture, 4, 0xFFFFFF))
wire.send(70, 0, struct.pack("<IIhhHH", picture, pen, 0, 0, width, height))
data = zlib.decompress(base64.b64decode("PIXELS"))
wire.send(72, 2, struct.pack("<IIHHhhBB2x", picture, pen, WIDTH, HEIGHT, 200, 300, 0, depth) + data)
wire.send(2, 0, struct.pack("<III", window, 1, picture))
names = b"gnome-calculator\0Gnome-calculator\0"
wire.send(18, 0, struct.pack("<IIIB3xI", window, 67, 31, 8, len(names)) + names)
wire.write(window, "", b"Calculator")
state, full = wire.atom("_NET_WM_STATE"), wire.atom("_NET_WM_STATE_FULLSCREEN")
wire.send(18, 0, struct.pack("<IIIB3xII", window, state, 4, 32, 1, full))
wire.send(8, 0, struct.pack("<I", window))
wire.sync()
open("painted", "w").close()
time.sleep(600)
END
command -v python3 > /dev/null || { echo NO_TOOL; exit 0; }
rm -f painted
PYTHONPATH=. setsid python3 paint.py > paint.log 2>&1 < /dev/null &
n=0; until [ -e painted ] || [ $n -gt 100 ]; do sleep 0.1; n=$((n + 1)); done
""".replace("NO_TOOL", NO_TOOL)
)
_SHRINK = f"""
xrandr 2> /dev/null | grep -q ' 640x480 ' || {{ echo {NO_TOOL}; exit 0; }}
xrandr | sed -n 's/.*current \\([0-9]*\\) x \\([0-9]*\\).*/\\1x\\2/p' > size
xrandr -s 640x480; sleep 2; xrandr | sed -n 's/.*current \\([0-9]*\\) x.*/\\1/p'
"""


@cache
def _pixels() -> str:
    """Return a picture of the text as compressed pixels in the X server's format."""
    picture = Image.new("RGB", _SIZE, "white")
    font = ImageFont.load_default(size=48)
    ImageDraw.Draw(picture).text((20, 8), TEXT, fill="black", font=font)
    return base64.b64encode(zlib.compress(picture.tobytes("raw", "BGRX"))).decode()


def _paint() -> str:
    width, height = _SIZE
    return (
        _PAINT.replace("PIXELS", _pixels())
        .replace("WIDTH", str(width))
        .replace("HEIGHT", str(height))
    )


def _png(colour: str = "", size: tuple[int, int] = (64, 48)) -> str:
    """Return a picture in base64, of the given colour or many colours."""
    picture = Image.new("RGB", size, colour or "white")
    for x in range(0 if colour else size[0]):
        for y in range(size[1]):
            picture.putpixel((x, y), (x * 4 % 256, y * 5 % 256, (x * y) % 256))
    raw = io.BytesIO()
    picture.save(raw, "png")
    return base64.b64encode(raw.getvalue()).decode()


def _write(path: str, data: str) -> str:
    return f"echo {data} | base64 -d > {path}\n"


def _is_painted(arena: Arena, output: str) -> None:
    """Assert that the screen shows the text: on its own, its evaluator is met."""

    def text_is_found() -> bool:
        runner = machine_runner(arena.machine, vocabulary())
        return runner.evaluate([_TEXT_CALL], timeout_s=60)[0].met is True

    assert wait_until(text_is_found, timeout_s=90), output + arena.shell("cat paint.log")


def _is_small(arena: Arena, output: str) -> None:
    assert output.rsplit(maxsplit=1)[-1] == "640", output
    arena.shell('xrandr -s "$(cat size)"')


_ORIGINALS = (
    Call("turned", "image_turned", {"path": "~/a.png", "original": "~/o.png", "how": "clockwise"}),
    Call("grey", "image_made_grey", {"path": "~/a.png", "original": "~/o.png"}),
    Call(
        "cropped",
        "image_cropped",
        {"path": "~/a.png", "original": "~/o.png", "left": 0, "top": 0, "width": 40, "height": 40},
    ),
    Call("template", "screen_has_template", {"template": "~/o.png"}),
)
_WRITE_ORIGINAL = _write("a.png", _png()) + _write("o.png", _png())


def _original(name: str, script: str) -> ShellAttack:
    return ShellAttack(
        name=name,
        family=FAMILY,
        prepare=_WRITE_ORIGINAL,
        script=script,
        defence="a reference file that the agent removes makes the node unmet",
        calls=_ORIGINALS,
        wave_timeout_s=60.0,
    )


ATTACKS = (
    ShellAttack(
        name="a forged screen",
        family=FAMILY,
        script=_paint(),
        defence="the node also requires the genuine program's window in front",
        calls=(_TEXT_CALL,),
        also_required=(Call("window", "window_in_front", {"app": "Gnome-calculator"}),),
        effect=_is_painted,
        differs_on=MACHINES,
        wave_timeout_s=60.0,
    ),
    # The X servers of stand-ins and containers have a fixed size.
    ShellAttack(
        name="a screen smaller than the region",
        family=FAMILY,
        script=_SHRINK,
        defence="a region outside the screen is empty",
        calls=(Call("text", "screen_has_text", {"text": TEXT, "region": _REGION}),),
        evidence=_is_small,
        differs_on=MACHINES,
        wave_timeout_s=60.0,
    ),
    ShellAttack(
        name="a picture smaller than the region",
        family=FAMILY,
        prepare=_WRITE_ORIGINAL,
        script=_write("a.png", _png(size=(8, 8))),
        defence="a region outside the picture is empty",
        calls=(
            Call(
                "contains",
                "image_contains_picture",
                {"path": "~/a.png", "picture": "~/o.png", "region": [10, 10, 20, 20]},
            ),
        ),
        wave_timeout_s=60.0,
    ),
    _original("a deleted original", "rm o.png"),
    _original("a damaged original", "echo x > o.png"),
    _original("a monochrome original", _write("o.png", _png("#808080"))),
    _original("a small original", _write("o.png", _png(size=(8, 8)))),
)
