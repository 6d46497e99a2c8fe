"""Which program a window belongs to, from the X server and the kernel and not from the window.

What a window says of itself (title, class, process id) is whatever somebody wrote there; any
program may. The server knows by its socket which process made the window (X-Resource extension),
and the kernel knows which file that process runs.

Source: X Resource Extension 1.2, section QueryClientIds.
"""

from __future__ import annotations

import os
import re
import struct
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from Xlib.display import Display

_EXTENSION = "X-Resource"
_QUERY_CLIENT_IDS = 4
_LOCAL_CLIENT_PID = 2
_WORD = re.compile(r"[a-z]+")
# Parts of names that say nothing about which application it is.
_GENERIC = frozenset({"app", "bin", "com", "desktop", "esr", "gnome", "gtk", "org", "server", "x"})
_OTHERS_MAY_WRITE = 0o022


def program_of(display: Display, window_id: int) -> str | None:
    """Give the path of the file that a window's process runs.

    Returns:
        Empty when the process is gone or is not on this machine; None when the server has no
        X-Resource extension and nothing can be said.
    """
    pid = _pid_of(display, window_id)
    if pid is None:
        return None
    try:
        return os.readlink(f"/proc/{pid}/exe") if pid else ""
    except OSError:
        return ""


def is_credible(name: str, program: str) -> bool:
    """Tell whether a window's class or instance may be that of its program.

    The word that says most in the name must be part of the program's path, as ``libreoffice`` in
    ``/usr/lib/libreoffice/program/soffice.bin``, and nobody but root may write to that path.
    """
    words = [word for word in _WORD.findall(name.lower()) if word not in _GENERIC]
    return bool(words) and max(words, key=len) in program.lower() and _is_roots(program)


def _is_roots(program: str) -> bool:
    while True:
        try:
            found = os.stat(program, follow_symlinks=False)
        except OSError:
            return False
        if found.st_uid != 0 or found.st_mode & _OTHERS_MAY_WRITE:
            return False
        if program == "/":
            return True
        program = os.path.dirname(program)


def _pid_of(display: Display, window_id: int) -> int | None:
    """Ask the server; 0 when it knows no process on this machine."""
    from Xlib.error import XError
    from Xlib.protocol import rq

    class QueryClientIds(rq.ReplyRequest):  # type: ignore[misc] # python-xlib is untyped
        _request = rq.Struct(
            rq.Card8("opcode"),
            rq.Opcode(_QUERY_CLIENT_IDS),
            rq.RequestLength(),
            rq.Card32("count"),
            rq.Card32("client"),
            rq.Card32("mask"),
        )
        _reply = rq.Struct(
            rq.ReplyCode(),
            rq.Pad(1),
            rq.Card16("sequence_number"),
            rq.ReplyLength(),
            rq.Card32("count"),
            rq.Pad(20),
            rq.List("words", rq.Card32Obj),
        )

    found = display.query_extension(_EXTENSION)
    if found is None:
        return None
    try:
        reply: Any = QueryClientIds(
            display=display.display,
            opcode=found.major_opcode,
            count=1,
            client=window_id,
            mask=_LOCAL_CLIENT_PID,
        )
    except (XError, struct.error):
        return 0
    words = list(reply.words)
    # client, mask, length in bytes, value
    return int(words[3]) if reply.count and len(words) > 3 else 0  # noqa: PLR2004
