"""Attacks on files and folders, generated from a threat model.

An evaluator of files judges a *target*: a file or folder whose correct content the agent has
(copied from elsewhere, or guessed) but does not store at the expected path. Each *technique* makes
the correct content appear there to some observer, or prevents the evaluator from reading. The path
itself always has the wrong content, so no technique may meet a node.
"""

from __future__ import annotations

import base64
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.attacks.model import MACHINES, NO_TOOL, VM, ShellAttack

if TYPE_CHECKING:
    from collections.abc import Callable

    from evaluators.graph.outcome import Call
    from tests.attacks.arenas import Arena

_MARKER_FOLDER = ".played"
_MAX_POLLS = 100


@dataclass(frozen=True)
class Target:
    """A file or folder that is judged.

    Attributes:
        name: for the attacks' names.
        file: name of the file or folder.
        right: script that creates the correct content at ``$1``.
        wrong: script that creates the wrong content at ``$1``.
        check: returns the evaluator for a path.
        inner: for a folder, relative path of a file in it that must be read; empty for a file.
    """

    name: str
    file: str
    right: str
    wrong: str
    check: Callable[[str], Call]
    inner: str = ""


@dataclass(frozen=True)
class Technique:
    """One way to deceive or delay an evaluator of a target.

    Attributes:
        name: of the technique.
        script: run in the home folder; see `_FRAME` for its variables. It calls ``played`` once the
            deception works for the agent itself.
        defence: what stops it.
        is_for_folders: whether it applies to folders.
        differs_on: machines with a different defence, see `ShellAttack`.
        root: script that root runs before, see `ShellAttack`.
        represents_on: see `ShellAttack`.
    """

    name: str
    script: str
    defence: str
    is_for_folders: bool = True
    differs_on: frozenset[str] = frozenset()
    root: str = ""
    represents_on: frozenset[str] = frozenset()


@dataclass(frozen=True)
class ThreatModel:
    """What an agent's user can do to the input of a family of evaluators.

    Attributes:
        family: of evaluators: the folder's name.
        targets: files and folders that they read and the user can write.
        writes: techniques that need write access.
        mounts: techniques that mount file systems.
        times: techniques that depend on timing.
    """

    family: str
    targets: tuple[Target, ...]
    writes: tuple[Technique, ...] = ()
    mounts: tuple[Technique, ...] = ()
    times: tuple[Technique, ...] = ()

    @property
    def techniques(self) -> tuple[Technique, ...]:
        """All techniques."""
        return (*self.writes, *self.mounts, *self.times)


# $right and $wrong: the contents. $place: the folder. $at: the target in it. $inner: a file of the
# target that must be read. see: calls `played` if the agent sees the correct content at $at, or at
# a given path. later: waits until `played` was called.
_FRAME = """
tag={tag} place=$HOME/attacks/{tag} right=$HOME/attacks/{tag}.right wrong=$HOME/attacks/{tag}.wrong
at=$place/{file} inner=$place/{inner}
put() {{ rm -rf "$2"; cp -a "$1" "$2"; }}
played() {{ mkdir -p ~/{played}; touch ~/{played}/$tag; }}
see() {{ diff -r -q "$right" "${{1:-$at}}" > /dev/null && played; }}
later() {{ n=0; while [ ! -e ~/{played}/$tag ] && [ $n -lt {tries} ]; do sleep 0.1; n=$((n + 1)); done; }}
export tag place right wrong at inner
{script}
"""
_MAKE = """
make() {{
{script}
}}
kit="$HOME/attacks/kit/{target}.{kind}"
mkdir -p "$HOME/attacks/kit"
[ -e "$kit" ] || make "$kit"
cp -a "$kit" "$HOME/attacks/{tag}.{kind}"
"""

# Docker's containers do not allow user namespaces.
_NAMESPACE = """
unshare -Ur true 2> /dev/null || {{ echo NO_TOOL; exit 0; }}
setsid unshare -Urm sh -c '{mounts} && diff -r -q "$right" "$at" > /dev/null &&
    mkdir -p ~/.played && touch ~/.played/$tag && exec sleep 600' > /dev/null 2>&1 < /dev/null &
later
""".replace("NO_TOOL", NO_TOOL)

_EXCHANGE = r"""
cat > exchange.py << 'END'
import ctypes, os, sys
place, at, right, tag = (os.environ[name] for name in ("place", "at", "right", "tag"))
libc = ctypes.CDLL(None, use_errno=True)
other = place + ".other"
os.symlink(right, other)
watch = libc.inotify_init()
# IN_OPEN, IN_ACCESS, IN_CLOSE_NOWRITE of the folder and of the target
for path in (place, at):
    assert libc.inotify_add_watch(watch, path.encode(), 0x20 | 0x1 | 0x10) >= 0
def exchange():
    # RENAME_EXCHANGE: at every moment there is something at the place
    return libc.syscall(316, -100, other.encode(), -100, at.encode(), 2)
assert exchange() == 0 and os.path.islink(at) and exchange() == 0
os.makedirs(os.path.expanduser("~/.played"), exist_ok=True)
open(os.path.expanduser("~/.played/") + tag, "w").close()
while True:
    os.read(watch, 65536)
    exchange()
END
command -v python3 > /dev/null || { echo NO_TOOL; exit 0; }
setsid python3 exchange.py > exchange.log 2>&1 < /dev/null &
later
""".replace("NO_TOOL", NO_TOOL)

_LEASE = r"""
cat > lease.py << 'END'
import fcntl, os, signal, time
handle = os.open(os.environ["inner"], os.O_RDWR)
signal.signal(signal.SIGIO, signal.SIG_IGN)
fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_WRLCK)
os.makedirs(os.path.expanduser("~/.played"), exist_ok=True)
open(os.path.expanduser("~/.played/") + os.environ["tag"], "w").close()
while True:
    time.sleep(0.2)
    try:
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    except OSError:
        pass
END
command -v python3 > /dev/null || { echo NO_TOOL; exit 0; }
setsid python3 lease.py > lease.log 2>&1 < /dev/null &
later
""".replace("NO_TOOL", NO_TOOL)

# A FUSE file system of the agent that serves the correct file. The image's setuid helper mounts it,
# or root does so in the helper's place. Root cannot read it: it is mounted without allow_other.
FUSE = r"""
import ctypes, errno, os, shutil, socket, stat, struct, subprocess, sys
place, name, source = sys.argv[1:4]
def by_helper(tool):
    ours, theirs = socket.socketpair()
    env = dict(os.environ, _FUSE_COMMFD=str(theirs.fileno()))
    subprocess.run([tool, "--", place], pass_fds=[theirs.fileno()], env=env, check=True)
    _, data, _, _ = socket.socket.recvmsg(ours, 1, socket.CMSG_SPACE(4))
    return struct.unpack("i", data[0][2][:4])[0]
def by_root(uid, gid):
    handle = os.open("/dev/fuse", os.O_RDWR)
    options = b"fd=%d,rootmode=40755,user_id=%d,group_id=%d" % (handle, uid, gid)
    if ctypes.CDLL(None).mount(b"red", place.encode(), b"fuse", 6, options):
        sys.exit("cannot mount")
    os.setgroups([]); os.setresgid(gid, gid, gid); os.setresuid(uid, uid, uid)
    return handle
tool = shutil.which("fusermount3") or shutil.which("fusermount")
if len(sys.argv) > 4:
    handle = by_root(int(sys.argv[4]), int(sys.argv[5]))
elif tool:
    handle = by_helper(tool)
else:
    sys.exit("no tool")
with open(source, "rb") as file:
    content = file.read()
def attributes(node):
    mode, size = (stat.S_IFDIR | 0o755, 0) if node == 1 else (stat.S_IFREG | 0o644, len(content))
    return struct.pack("<6Q10I", node, size, 1, 0, 0, 0, 0, 0, 0, mode, 1, os.getuid(), os.getgid(), 0, 4096, 0)
def answer(opcode, node, body):
    if opcode == 26:
        return struct.pack("<IIIIHHIIHHI7I", 7, 31, 65536, 0, 12, 9, 65536, 1, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    if opcode == 1:
        if body.rstrip(b"\0").decode() != name:
            return errno.ENOENT
        return struct.pack("<4QII", 2, 0, 0, 0, 0, 0) + attributes(2)
    if opcode == 3:
        return struct.pack("<QII", 0, 0, 0) + attributes(node)
    if opcode in (14, 27):
        return struct.pack("<QII", 1, 0, 0)
    if opcode == 15:
        offset, size = struct.unpack_from("<QI", body, 8)
        return content[offset:offset + size]
    if opcode in (18, 29, 25):
        return b""
    return errno.ENOSYS
while True:
    try:
        request = os.read(handle, 1 << 18)
    except OSError as exc:
        if exc.errno in (errno.EINTR, errno.ENOENT):
            continue
        sys.exit(str(exc))
    size, opcode, unique, node = struct.unpack_from("<IIQQ", request)
    if opcode in (2, 36, 42):
        continue
    reply = answer(opcode, node, request[40:])
    data, error = (b"", reply) if isinstance(reply, int) else (reply, 0)
    try:
        os.write(handle, struct.pack("<IiQ", 16 + len(data), -error, unique) + data)
    except OSError:
        pass
"""
# What the image's setuid helper does for any caller; the stand-in has no such helper.
_FUSE_ROOT = r"""
command -v fusermount3 > /dev/null || command -v fusermount > /dev/null && exit 0
uid=$(stat -c %u .) gid=$(stat -c %g .)
setsid python3 attacks/fuse.py "$PWD/attacks/{tag}" '{file}' "$PWD/attacks/{tag}.right" $uid $gid \
    > /dev/null 2>&1 < /dev/null &
"""
_FUSE = """
[ -e /dev/fuse ] || { echo NO_TOOL; exit 0; }
if command -v fusermount3 > /dev/null || command -v fusermount > /dev/null; then
    setsid python3 attacks/fuse.py "$place" "${at##*/}" "$right" > /dev/null 2>&1 < /dev/null &
fi
n=0
until see || [ $n -gt 100 ]; do sleep 0.1; n=$((n + 1)); done
""".replace("NO_TOOL", NO_TOOL)

LINK = Technique(
    "symbolic link",
    'rm -rf "$at"; ln -s "$right" "$at"; see',
    "symbolic links below the home folder are not followed",
)
LINKED_FOLDER = Technique(
    "symbolic link as parent folder",
    'mkdir "$place.beside"; put "$right" "$place.beside/${at##*/}"; mv "$place" "$place.aside"; '
    'ln -s "$place.beside" "$place"; see',
    "each path component is opened relative to its parent, without following links",
)
WORKING_FOLDER = Technique(
    "symbolic link to a process's working folder",
    'mkdir "$place.beside"; put "$right" "$place.beside/${at##*/}"; '
    '(cd "$place.beside" && exec setsid sleep 600) > /dev/null 2>&1 < /dev/null & pid=$!; '
    'sleep 0.1; mv "$place" "$place.aside"; ln -s "/proc/$pid/cwd" "$place"; see',
    "`/proc` links are treated like any other link",
)
PIPE = Technique(
    "named pipe",
    'rm -f "$inner"; mkfifo "$inner" && played; '
    '(exec setsid cat "$right" > "$inner") > /dev/null 2>&1 < /dev/null &',
    "only regular files are read, without blocking",
)
HUGE = Technique(
    "huge sparse file",
    'truncate -s 4T "$inner" 2> /dev/null || truncate -s 8G "$inner"; played',
    "reads are bounded",
)
BIND = Technique(
    "bind mount in a namespace",
    _NAMESPACE.format(mounts='mount --bind "$right" "$at"'),
    "evaluators do not run in the agent's namespaces",
    differs_on=MACHINES,
)
TMPFS = Technique(
    "tmpfs in a namespace",
    _NAMESPACE.format(
        mounts='cp -a "$right" "$place.kept" && mount -t tmpfs none "$place" && cp -a "$place.kept" "$at"'
    ),
    "evaluators do not run in the agent's namespaces",
    differs_on=MACHINES,
)
OVERLAY = Technique(
    "overlay in a namespace",
    'mkdir "$place.up" "$place.work"; put "$right" "$place.up/${at##*/}"\n'
    + _NAMESPACE.format(
        mounts='mount -t overlay overlay -o lowerdir=$place.up:$place "$place" || '
        'mount -t overlay overlay -o lowerdir=$place,upperdir=$place.up,workdir=$place.work "$place"'
    ),
    "evaluators do not run in the agent's namespaces",
    differs_on=MACHINES,
)
FUSE_MOUNT = Technique(
    "FUSE mount that root cannot read",
    _FUSE,
    "files hidden by the agent's own mount are unmet",
    is_for_folders=False,
    differs_on=frozenset({VM}),
    root=_FUSE_ROOT,
    represents_on=frozenset({VM}),
)
EXCHANGE = Technique(
    "swapped at each access",
    _EXCHANGE,
    "the opened file itself is judged, and opening follows no links",
)
LEASE = Technique(
    "file lease that delays opening",
    _LEASE,
    "files are opened without blocking, and a refused open is unmet",
)

WRITES = (LINK, LINKED_FOLDER, WORKING_FOLDER, PIPE, HUGE)
MOUNTS = (BIND, TMPFS, OVERLAY, FUSE_MOUNT)
TIMES = (EXCHANGE, LEASE)


def contents(data: bytes | str) -> str:
    """Return the script that writes a file at ``$1``."""
    raw = data.encode() if isinstance(data, str) else data
    text = textwrap.fill(base64.b64encode(raw).decode(), 120)
    return f'base64 -d > "$1" << END\n{text}\nEND'


def generate(model: ThreatModel) -> tuple[ShellAttack, ...]:
    """Return the attacks of a threat model: each technique on each target that it applies to."""
    return tuple(
        _attack(model.family, target, technique)
        for target in model.targets
        for technique in model.techniques
        if technique.is_for_folders or not target.inner
    )


def honest(family: str, target: Target) -> ShellAttack:
    """Return the honest solution for a target, in the form of an attack: it must be met."""
    technique = Technique("honest solution", 'put "$right" "$at"; see', "")
    return _attack(family, target, technique)


def hostile(family: str, target: Target, name: str, content: str, defence: str) -> ShellAttack:
    """Return an attack that stores hostile content in place of a target.

    Args:
        family: of evaluators.
        target: file or folder that is judged.
        name: of the technique.
        content: script that creates the hostile content at ``$1``.
        defence: what stops it.
    """
    script = f'make() {{\n{content}\n}}\nrm -rf "$at"; make "$at"; [ -e "$at" ] && played'
    return _attack(family, target, Technique(name, script, defence))


def _attack(family: str, target: Target, technique: Technique) -> ShellAttack:
    name = f"{target.name}: {technique.name}"
    tag = "".join(letter if letter.isalnum() else "-" for letter in name)
    call = target.check(f"~/attacks/{tag}/{target.file}")
    prepare = "".join(
        _MAKE.format(script=script, tag=tag, kind=kind, target=target.file)
        for kind, script in (("right", target.right), ("wrong", target.wrong))
    )
    inner = f"{target.file}/{target.inner}" if target.inner else target.file

    def marker_exists(arena: Arena, output: str) -> None:
        names = arena.shell(f"ls ~/{_MARKER_FOLDER}").split()
        assert tag in names, f"{name} did not run: {output}"

    frame = _FRAME.format(
        tag=tag,
        file=target.file,
        inner=inner,
        played=_MARKER_FOLDER,
        tries=_MAX_POLLS,
        script=technique.script,
    )
    return ShellAttack(
        name=name,
        family=family,
        script=frame,
        defence=technique.defence,
        calls=(call,),
        differs_on=technique.differs_on,
        represents_on=technique.represents_on if target.name == "text" else frozenset(),
        prepare=f"mkdir -p ~/attacks/{tag}\n{prepare}"
        f"cp -a ~/attacks/{tag}.wrong ~/attacks/{tag}/'{target.file}'\n",
        evidence=marker_exists,
        root=technique.root.replace("{tag}", tag).replace("{file}", target.file),
        is_isolated=True,
    )
