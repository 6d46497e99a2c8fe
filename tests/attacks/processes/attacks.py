"""Threat model of evaluators of running programs.

What the agent's user can do to their input:

* **Start** any program under any name and with any arguments; copies of programs; programs from
  memory.
* **Mount** other files over a program's path in its own namespaces.
* **Write** its own processes' names and arguments while they run, and their memory if it can attach
  to them: on VMs, only in its own user namespaces.
* It cannot change which file a process executes according to the kernel.

Defences: the executed file is compared by device and inode, as seen from root's namespace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.graph.outcome import Call
from tests.attacks.model import MACHINES, NO_TOOL, ShellAttack

if TYPE_CHECKING:
    from tests.attacks.arenas import Arena

FAMILY = "processes"
PROGRAM = "/usr/bin/xdotool"
_CALLS = (Call("running", "process_running", {"program": PROGRAM}),)
_SLEEP = "> /dev/null 2>&1 < /dev/null &\nsleep 0.3"


def _process_exists(arena: Arena, output: str) -> None:
    """Assert that a process of the agent has the program's name or path."""
    processes = arena.shell(
        "for p in /proc/[0-9]*; do [ -O $p ] && cat $p/comm && tr '\\0' ' ' < $p/cmdline && "
        "readlink $p/exe; done 2> /dev/null"
    )
    assert "xdotool" in processes, f"{output}\n{processes}"


def _attack(
    name: str, script: str, defence: str, *, differs_on: frozenset[str] = frozenset()
) -> ShellAttack:
    return ShellAttack(
        name=name,
        family=FAMILY,
        script=script,
        defence=defence,
        calls=_CALLS,
        evidence=_process_exists,
        is_isolated=True,
        differs_on=differs_on,
    )


_OVERWRITE = f"""
import ctypes, os, platform
libc = ctypes.CDLL(None)
libc.ptrace.restype = ctypes.c_long
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
if platform.machine() != "x86_64" or libc.unshare(0x10000000):
    raise SystemExit("{NO_TOOL}")
pid = os.fork()
if pid == 0:
    libc.ptrace(0, 0, None, None)
    os.execv("{PROGRAM}", ["{PROGRAM}", "sleep", "600"])
os.waitpid(pid, 0)
place = libc.ptrace(3, pid, 128, None)
pause = b"\\xb8\\x22\\0\\0\\0\\x0f\\x05\\xeb\\xf7".ljust(16, b"\\x90")
for offset in (0, 8):
    libc.ptrace(4, pid, place + offset, int.from_bytes(pause[offset : offset + 8], "little"))
libc.ptrace(17, pid, None, None)
"""
"""Starts the program in a user namespace, where Yama permits its parent to overwrite its code."""
_BY_FILE = "the executed file is compared by device and inode"
ATTACKS = (
    _attack(
        "another program under its name",
        f"bash -c 'exec -a {PROGRAM} sleep 600' {_SLEEP}",
        "names and arguments do not count",
    ),
    _attack(
        "a copy of another program under its name",
        f"cp /bin/sleep xdotool; ./xdotool 600 {_SLEEP}",
        _BY_FILE,
    ),
    _attack(
        "a bind mount over its path",
        f"unshare -Urm true || {{ echo {NO_TOOL}; exit 0; }}; setsid unshare -Urm sh -c "
        f"'mount --bind /bin/sleep {PROGRAM} && exec {PROGRAM} 600' {_SLEEP}",
        _BY_FILE,
        differs_on=MACHINES,
    ),
    _attack(
        "a bind mount over its folder",
        f"unshare -Urm true || {{ echo {NO_TOOL}; exit 0; }}; cp /bin/sleep xdotool; setsid unshare -Urm "
        f"sh -c 'mount --bind \"$HOME\" /usr/bin && exec {PROGRAM} 600' {_SLEEP}",
        _BY_FILE,
        differs_on=MACHINES,
    ),
    _attack(
        "a chroot of the agent",
        f"unshare -Urm true || {{ echo {NO_TOOL}; exit 0; }}; mkdir -p jail/usr/bin; "
        "for f in /bin /lib /lib64 /usr; do [ -e $f ] && mkdir -p jail$f; done; "
        "cp /bin/sleep jail/usr/bin/xdotool; setsid unshare -Urm sh -c "
        "'for f in /lib /lib64; do [ -e $f ] && mount --rbind $f jail$f; done; "
        f"mkdir -p jail/usr/lib; mount --rbind /usr/lib jail/usr/lib; exec chroot jail {PROGRAM} 600' {_SLEEP}",
        _BY_FILE,
        differs_on=MACHINES,
    ),
    _attack(
        "a program in memory",
        "cat > memory.py << 'END'\n"
        "import os\n"
        "handle = os.memfd_create('xdotool')\n"
        f"with open('{PROGRAM}', 'rb') as file:\n"
        "    os.write(handle, file.read())\n"
        "os.write(1, b'')\n"
        f"os.execve('/proc/self/fd/%d' % handle, ['{PROGRAM}', 'sleep', '600'], dict(os.environ))\n"
        f"END\npython3 memory.py {_SLEEP}",
        "a copy of a program is a different program",
    ),
    _attack(
        "the program with other code in its memory",
        f"cat > overwrite.py << 'END'{_OVERWRITE}END\nsetsid python3 overwrite.py 2>&1 < /dev/null; sleep 0.3",
        "processes in the agent's user namespaces are attributed to no program",
        differs_on=MACHINES,
    ),
    _attack(
        "a symbolic link to another program",
        f"mkdir -p links; ln -s /bin/sleep links/xdotool; links/xdotool 600 {_SLEEP}",
        _BY_FILE,
    ),
)
