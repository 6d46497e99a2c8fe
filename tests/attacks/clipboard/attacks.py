"""Threat model of evaluators of the clipboard.

What the agent's user can do to their input: **own** the selection with a program that answers each
requester differently, slowly, endlessly, or not at all. The clipboard contains whatever its owner
returns; an owner that returns the right text proves the state, not who made it.

Defences: the owner is queried for its formats, and once for its text in each of them, within 3 s
each, and all texts must agree; text beyond 1 MiB is truncated; if the owner does not provide its text on a healthy desktop, the node is unmet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.graph.outcome import Call
from tests.attacks.model import NO_TOOL, REPEATED_TIMEOUTS, ShellAttack
from tests.attacks.windows.wire import WIRE

if TYPE_CHECKING:
    from tests.attacks.arenas import Arena

FAMILY = "clipboard"
TEXT = "0441234567"
_CALLS = (
    Call("equals", "clipboard_equals", {"text": TEXT}),
    Call("contains", "clipboard_contains", {"text": TEXT}),
)

# Owns CLIPBOARD, and answers requests in one of several ways.
_OWNER = (
    WIRE
    + r"""
cat > owner.py << 'END'
from wire import *
how = sys.argv[1]
wire = Wire()
window = wire.base | 1
wire.send(1, 0, struct.pack("<IIhhHHHHII", window, wire.root, 0, 0, 9, 9, 0, 1, 0, 0))
clipboard, text = wire.atom(b"CLIPBOARD".decode()), wire.atom("UTF8_STRING")
wire.send(22, 0, struct.pack("<III", window, clipboard, 0))
wire.sync()
open("owned", "w").close()
asked = 0
while True:
    event = wire.get(32)
    if event[0] & 127 != 30:
        continue
    when, owner, asker, selection, target, place = struct.unpack_from("<IIIIII", event, 4)
    asked += 1
    open("asked", "a").write("x")
    if how == "silent":
        continue
    if how == "late":
        time.sleep(6)
    if how == "target":
        listed = target == wire.atom("TARGETS")
        said = struct.pack("<II", text, 31) if listed else b"0441234567" if target == text else b"1"
        kind, bits = (4, 32) if listed else (target, 8)
        wire.send(18, 0, struct.pack("<IIIB3xI", asker, place, kind, bits, len(said) * 8 // bits) + said)
        wire.send(25, 0, struct.pack("<II", asker, 0)
                  + struct.pack("<BBHIIIII8x", 31, 0, 0, when, asker, selection, target, place))
        continue
    said = {"each": b"%d" % asked, "endless": b"9" * 200000, "late": b"0441234567"}.get(how, b"")
    if how == "promise":
        wire.send(18, 0, struct.pack("<IIIB3xI", asker, place, wire.atom("INCR"), 32, 1) + struct.pack("<I", 9))
    elif how != "refuse":
        wire.send(18, 0, struct.pack("<IIIB3xI", asker, place, text, 8, len(said)) + said)
    told = 0 if how == "refuse" else place
    wire.send(25, 0, struct.pack("<II", asker, 0)
              + struct.pack("<BBHIIIII8x", 31, 0, 0, when, asker, selection, target, told))
END
command -v python3 > /dev/null && [ -x /usr/bin/xclip ] || { echo NO_TOOL; exit 0; }
rm -f owned asked
PYTHONPATH=. setsid python3 owner.py HOW > owner.log 2>&1 < /dev/null &
n=0; until [ -e owned ] || [ $n -gt 100 ]; do sleep 0.1; n=$((n + 1)); done
""".replace("NO_TOOL", NO_TOOL)
)


def _was_queried(arena: Arena, _output: str) -> None:
    assert arena.shell("cat asked").strip(), arena.shell("cat owner.log")


def _attack(name: str, how: str, defence: str, *, is_slow: bool = False) -> ShellAttack:
    return ShellAttack(
        name=name,
        family=FAMILY,
        script=_OWNER.replace("HOW", how),
        defence=defence,
        calls=_CALLS,
        rounds=1,
        evidence=_was_queried,
        only_nightly=REPEATED_TIMEOUTS if is_slow else "",
    )


ATTACKS = (
    _attack(
        "owner that answers each requester differently",
        "each",
        "its text is requested only once in each format",
    ),
    _attack(
        "owner that sends an endless INCR transfer",
        "promise",
        "an unfinished transfer is unmet",
        is_slow=True,
    ),
    _attack(
        "owner that does not answer",
        "silent",
        "an owner that does not answer is unmet",
        is_slow=True,
    ),
    _attack("owner that answers late", "late", "a late answer is unmet", is_slow=True),
    _attack("owner that sends a huge text", "endless", "the complete text is compared"),
    _attack(
        "owner that answers differently by target",
        "target",
        "all plain text targets must have the same text",
    ),
    _attack("owner that refuses", "refuse", "an owner that refuses is unmet"),
)
