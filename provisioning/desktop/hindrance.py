"""Find what programs in a desktop do to keep evaluators from answering."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, cast

from appliance.base.errors import LinkTimeoutError
from appliance.base.process import CommandResult

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from provisioning.protocols import Json, Link

    RunAsRoot = Callable[[Sequence[str]], CommandResult]

_TIMEOUT_S = 15.0
_MIN_FREE_KIB = 512
_MIN_FREE_INODES = 16
_MAX_PROCESSES = 1000
_MAX_RUNNABLE = 64
_MIN_FREE_MEMORY_SHARE = 2

_SCRIPT = r"""
user=$1
uid=$(id -u "$user") || exit 0
home=$(getent passwd "$user" | cut -d: -f6)
df -Pk / "$home" /tmp | awk -v least="$2" 'NR > 1 && $4 < least {print "the disk is full at " $6}'
df -Pi / "$home" /tmp | awk -v least="$3" 'NR > 1 && $2 > 0 && $4 < least {print "no inode is free at " $6}'
awk -v uid="user_id=$uid" '$3 ~ /^fuse/ && index($4, uid) && $2 !~ /^\/run\/user\// {
    print "the user mounted " $2 }' /proc/mounts
ls -ln /proc 2>/dev/null | awk -v uid="$uid" -v most="$4" '
    $3 == uid && $NF ~ /^[0-9]+$/ {n++} END {if (n > most) print n " processes of the user run"}'
awk -v most="$5" '{split($4, runs, "/"); if (runs[1] > most) print runs[1] " processes want to run"}' \
    /proc/loadavg
awk -v least="$6" '/^MemTotal/ {all = $2} /^MemAvailable/ {free = $2} END {
    if (free * 100 < all * least) print "the memory is full"}' /proc/meminfo
"""


def find_hindrance(link: Link, user: str) -> str:
    """Return what keeps evaluators from answering, one line; empty when nothing does.

    Args:
        link: to the probe, which is root.
        user: login name that the agent acts as.

    Raises:
        LinkError: the probe does not answer.
    """
    lines = [] if _is_session_up(link) else ["the graphical session ended"]
    found = ask_guest(lambda argv: _run(link, argv), user)
    return "; ".join([*lines, *([found] if found else [])])


def ask_guest(run: RunAsRoot, user: str) -> str:
    """Return what a look at disks, mounts, processes and memory finds; empty when all is well.

    It needs no probe: SSH is enough.

    Args:
        run: runs a program in the guest.
        user: login name that the agent acts as.

    Raises:
        LinkError: the guest does not answer.
    """
    bounds = (_MIN_FREE_KIB, _MIN_FREE_INODES, _MAX_PROCESSES, _MAX_RUNNABLE)
    words = [*map(str, bounds), str(_MIN_FREE_MEMORY_SHARE)]
    result = run(["/bin/sh", "-c", _SCRIPT, "look", user, *words])
    return "; ".join(dict.fromkeys(result.text.splitlines()))


def _is_session_up(link: Link) -> bool:
    try:
        reply = link.call("session", timeout_s=_TIMEOUT_S)
    except LinkTimeoutError:  # overload, which is looked for next
        return True
    return isinstance(reply, dict) and reply.get("ready") is True


def _run(link: Link, argv: Sequence[str]) -> CommandResult:
    params: dict[str, Json] = {"argv": list(argv), "timeout_s": _TIMEOUT_S}
    reply = cast("dict[str, Json]", link.call("exec", params, timeout_s=_TIMEOUT_S + 5))
    streams = [base64.b64decode(str(reply[f"{name}_b64"])) for name in ("stdout", "stderr")]
    return CommandResult(tuple(argv), int(str(reply["exit_code"])), *streams)
