"""The command ``ime``; the only input method is the phone's own keyboard.

Source: AOSP ``InputMethodManagerService.java``, ``ImeTracing``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from images.phone.device.commands.base import EXIT_USAGE, CommandError

if TYPE_CHECKING:
    from images.phone.device.commands.base import Invocation

METHOD = "org.mesocosm.keyboard/.Keyboard"
"""Component name of the input method."""


def run_ime(call: Invocation) -> str:
    """Run ``ime``."""
    match [word for word in call.args if word not in {"--user", "0"}]:
        case ["list", *options] if set(options) <= {"-a", "-s"}:
            return f"{METHOD}\n" if "-s" in options else f"mId={METHOD} mIsDefault=true\n"
        case ["set" | "enable" | "disable" as verb, method]:
            if method != METHOD:
                raise CommandError(
                    f"Unknown input method {method} cannot be {_DONE[verb]} for user #0"
                )
            return f"Input method {method} {_DONE[verb]} for user #0\n"
        case ["reset"]:
            return (
                f"Reset current and enabled IMEs for user #0\n  Newly selected IME:\n    {METHOD}\n"
            )
    raise CommandError("usage: ime list [-a] [-s] | enable|disable|set ID | reset", EXIT_USAGE)


_DONE = {"set": "selected", "enable": "enabled", "disable": "disabled"}
