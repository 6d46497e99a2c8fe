"""What a world's state consists of, for the detection of side effects."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from provisioning.protocols import StateKind
from provisioning.world.state.mailbox import MAILBOX

if TYPE_CHECKING:
    from collections.abc import Mapping

    from provisioning.protocols import StateSummary

_MAIL = re.compile(
    rf"{MAILBOX}/(?:\.(?P<folder>[^/]+)/)?(?:cur|new)/(?P<stem>[^/:]+)(?P<flags>:2,\w*)?"
)
_INBOX = "INBOX"
_OWN = re.compile(rf"{MAILBOX}/(?:.*/)?(?:dovecot[^/]*|tmp/.*)")
"""What Dovecot writes for itself."""
_FOLDER_MODE = "4"
"""First digit of a folder's mode."""


def summarize_state(rows: Mapping[str, str]) -> StateSummary:
    """Return the files of a state, with mails by folder and name, whatever their flags.

    Args:
        rows: a digest, as `images.world.program.state.digest_state` writes it.
    """
    files: dict[str, str] = {}
    for path, row in rows.items():
        if _OWN.fullmatch(path) or row.startswith(_FOLDER_MODE):
            continue
        if mail := _MAIL.fullmatch(path):
            name = f"{MAILBOX}/{mail['folder'] or _INBOX}/{mail['stem']}"
            flags = "".join(sorted((mail["flags"] or "").removeprefix(":2,")))
            files[name] = f"{row.rpartition(' ')[2]} {flags}"
        else:
            files[path] = row
    return {StateKind.FILE: files}
