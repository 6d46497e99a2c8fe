"""Detects what programs in a desktop do to block evaluators."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, cast

from foundation.errors import GuestCallError, LinkError, LinkTimeoutError
from foundation.process import CommandResult

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from provisioning.protocols import Json, Link

    RunAsRoot = Callable[[Sequence[str]], CommandResult]

_TIMEOUT_S = 15.0
_ASKED = 2
_SMALL_PROGRAM = "/bin/true"
_PROMPT_S = 5.0
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
running() { awk -v most="$1" '$1 > most {print $1 " processes are runnable"}'; }
if [ "$7" = own ]; then
    awk '{split($4, runs, "/"); print runs[1]}' /proc/loadavg | running "$5"
    awk -v least="$6" '/^MemTotal/ {all = $2} /^MemAvailable/ {free = $2} END {
        if (free * 100 < all * least) print "the memory is full"}' /proc/meminfo
else
    cat /proc/[0-9]*/stat 2>/dev/null | grep -c ') R ' | running "$5"
fi
"""
"""Arguments: user, free KiB, free inodes, processes, runnable, percent of free memory, own or shared kernel."""


def find_obstruction(link: Link, user: str, *, shares_kernel: bool = False) -> str:
    """Return what blocks evaluators, in one line; empty if nothing does.

    Args:
        link: link to the probe, which runs as root.
        user: login name that the agent acts as.
        shares_kernel: whether the desktop's kernel is the host's; see `find_guest_obstruction`.

    Raises:
        LinkError: the probe does not answer.
    """
    try:
        session = _session_trouble(link)
        guest_trouble = find_guest_obstruction(
            lambda argv: _run(link, argv), user, shares_kernel=shares_kernel
        )
    except GuestCallError as exc:
        # The probe answers, so the host is well: the guest has no memory or process left for root.
        return f"root's programs cannot run: {exc.details or exc}"
    return "; ".join(filter(None, (session, guest_trouble)))


def find_guest_obstruction(run: RunAsRoot, user: str, *, shares_kernel: bool = False) -> str:
    """Return problems with disks, mounts, processes and memory, in one line; empty if there are none.

    It needs no probe: SSH is enough.

    Args:
        run: runs a program in the guest.
        user: login name that the agent acts as.
        shares_kernel: whether the guest's kernel is the host's; load and memory are then those of
            the host and are not checked.

    Raises:
        LinkError: the guest does not answer.
    """
    bounds = (_MIN_FREE_KIB, _MIN_FREE_INODES, _MAX_PROCESSES, _MAX_RUNNABLE)
    kernel = "shared" if shares_kernel else "own"
    arguments = [*map(str, bounds), str(_MIN_FREE_MEMORY_SHARE), kernel]
    result = run(["/bin/sh", "-c", _SCRIPT, "look", user, *arguments])
    troubles = result.text.splitlines()
    if result.exit_code != 0:  # the kernel kills programs when memory runs out
        troubles.append(f"root's programs are killed (exit code {result.exit_code})")
    return "; ".join(dict.fromkeys(troubles))


def _session_trouble(link: Link) -> str:
    """Return what is wrong with the graphical session; empty if nothing is.

    If the session does not answer twice although the desktop runs root's programs promptly, its user
    is blocking it, for example by stopping the X server. On a slow desktop this proves nothing; the
    caller then checks for overload.
    """
    for _ in range(_ASKED):
        try:
            reply = link.call("session", timeout_s=_TIMEOUT_S)
        except LinkTimeoutError:
            if not _is_prompt(link):
                return ""
        else:
            is_up = isinstance(reply, dict) and reply.get("ready") is True
            return "" if is_up else "the graphical session ended"
    return "the graphical session does not answer"


def _is_prompt(link: Link) -> bool:
    try:
        _run(link, [_SMALL_PROGRAM], timeout_s=_PROMPT_S)
    except LinkError:
        return False
    return True


def _run(link: Link, argv: Sequence[str], *, timeout_s: float = _TIMEOUT_S) -> CommandResult:
    params: dict[str, Json] = {"argv": list(argv), "timeout_s": timeout_s}
    reply = cast("dict[str, Json]", link.call("exec", params, timeout_s=timeout_s + 5))
    streams = [base64.b64decode(str(reply[f"{name}_b64"])) for name in ("stdout", "stderr")]
    return CommandResult(tuple(argv), int(str(reply["exit_code"])), *streams)
