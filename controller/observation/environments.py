"""What a machine is, in words for a model, and the text of its clipboard."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from foundation.errors import LinkClosedError, LinkError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from provisioning.protocols import Machine

_log = logging.getLogger(__name__)
_MAX_CHARS = 2000
_TIMEOUT_S = 5.0
_XCLIP = ("/usr/bin/xclip", "-selection", "clipboard", "-out", "-target", "UTF8_STRING")
_DESKTOP, _PHONE = "desktop", "phone"
_DESCRIPTIONS = {
    _DESKTOP: "a computer with the desktop GNOME ({image}), a mouse and a keyboard; the user is {user}",
    _PHONE: "an Android phone with a touch screen; there is no mouse",
}
_OTHER = "a machine of the kind {kind}"
TEXTS = (*_DESCRIPTIONS.values(), _OTHER)
"""All descriptions, for the digest of prompts."""


def describe_environments(machines: Mapping[str, Machine]) -> dict[str, str]:
    """Return one line on each machine: what it is, and the size of its screen."""
    lines = {}
    for role, machine in machines.items():
        info, (width, height) = machine.info, machine.screen.size()
        text = _DESCRIPTIONS.get(info.kind, _OTHER)
        about = text.format(kind=info.kind, image=info.image, user=info.user)
        lines[role] = f"{about}; its screen has {width} x {height} px"
    return lines


def read_clipboard(machine: Machine) -> str | None:
    """Return the text of a desktop's clipboard, at most 2000 characters; None if it has no text.

    Raises:
        LinkClosedError: the machine is gone.
    """
    if machine.info.kind != _DESKTOP:
        return None
    try:
        result = machine.run(list(_XCLIP), timeout_s=_TIMEOUT_S)
    except LinkClosedError:
        raise
    except LinkError as exc:
        _log.debug("%s: clipboard: %s", machine.info.machine_id, exc)
        return None
    return result.text[:_MAX_CHARS] if result.exit_code == 0 else None
