"""Threat model of what evaluators use of the machine: disk, inodes, processes, descriptors, time.

What the agent's user can do:

* **Write** until the disk, ``/tmp`` or the inodes are full; take memory until the kernel ends programs.
* **Start** as many processes and open as many files as its limits allow.
* **Serve** a session that ends: it can end its window manager, panel and bus.
* It cannot take what is reserved for root, nor end root's processes.

What stands against it: evaluators write to ``/run`` alone, bounded; whoever they cannot ask on a machine
that is in order, or that the agent's programs hinder, is unmet (`provisioning.desktop.obstruction`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from appliance.base.clock import wait_until
from evaluators.graph.outcome import Call
from tests.attacks.calls import ALL, REPORT, SECRET, SETTING, WRONG_REPORT
from tests.attacks.databases.attacks import DATABASE
from tests.attacks.model import NO_TOOL, VM, Evidence, ShellAttack, leaves
from tests.attacks.repositories.attacks import REPOSITORY

if TYPE_CHECKING:
    from tests.attacks.arenas import Arena

FAMILY = "machine"
_EATERS = 4
_COPIED = (REPORT, DATABASE.check("~/shop.db"), REPOSITORY.check("~/project"))
_MAKE_COPIED = f"""
{WRONG_REPORT}
database() {{
{DATABASE.wrong}
}}
repository() {{
{REPOSITORY.wrong}
}}
database ~/shop.db; repository ~/project
"""
RACED = tuple(
    Call(f"{path}-{number}", "file_text_equals", {"path": f"~/{path}", "text": SECRET})
    for path in ("report.txt", "d/report.txt")
    for number in range(20)
)
_FILL = """
fallocate -l "$(df --output=avail -B1 PLACE | tail -1)" PLACE/full 2> /dev/null
head -c 1000000000 /dev/zero > PLACE/full2 2> /dev/null
df --output=avail PLACE | tail -1
"""
_INODES = """
mkdir -p many; cd many
n=0; while [ $n -lt 200 ] && mkdir $n 2> /dev/null; do n=$((n + 1)); done
for d in $(seq 0 199); do (cd $d 2> /dev/null && seq 1 400 | xargs -n 100 touch 2> /dev/null) || break; done
df --output=iavail . | tail -1
"""
_PROCESSES = """
n=0; while [ $n -lt 200 ]; do setsid sleep 600 > /dev/null 2>&1 < /dev/null & n=$((n + 1)); done
ls /proc | grep -c '^[0-9]'
"""
_DESCRIPTORS = """
cat > open.py << 'END'
import os, resource, time
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
told = open("opened", "w")
kept = []
try:
    while len(kept) < 20000:
        kept.append(os.open("/dev/null", os.O_RDONLY))
except OSError:
    pass
told.write(str(len(kept)))
told.flush()
time.sleep(600)
END
for n in 1 2 3 4; do setsid python3 open.py > /dev/null 2>&1 < /dev/null & done
n=0; until [ -s opened ] || [ $n -gt 100 ]; do sleep 0.1; n=$((n + 1)); done; cat opened
"""
# On desktops of the appliance alone: anywhere else the memory is somebody else's.
_MEMORY = f"""
[ "$(cat /etc/hostname)" = mesocosm-desktop ] || {{ echo {NO_TOOL}; exit 0; }}
cat > eat.py << 'END'
with open("eaten", "a") as told:
    told.write("x\\n")
kept = []
while True:
    kept.append(bytearray(1 << 20))
END
for n in 1 2 3 4; do
    setsid sh -c 'while :; do python3 eat.py; sleep 1; done' > /dev/null 2>&1 < /dev/null &
done
"""
_LOGIN = f"""
pgrep -x sshd > before || {{ echo {NO_TOOL}; exit 0; }}
pkill -9 -x sshd 2>&1; sleep 1; pgrep -x sshd > after; cmp before after && echo it runs on
"""
RACE = f"""
printf %s '{SECRET}' > elsewhere.txt
mkdir -p d e; cp elsewhere.txt e/report.txt; echo wrong > d/report.txt; mv d plain
while :; do
    ln -sfn elsewhere.txt next; mv -fT next report.txt
    echo wrong > next; mv -fT next report.txt
    ln -sfn e d; rm d
    mv plain d; mv d plain
done > /dev/null 2>&1
"""


def _is_full(_arena: Arena, output: str) -> None:
    assert output.rsplit(maxsplit=1)[-1] == "0", output


def _is_eaten(arena: Arena, output: str) -> None:
    """Assert that the kernel ended a program of those that take memory: a fifth was started."""

    def is_short() -> bool:
        return int(arena.shell("cat eaten 2> /dev/null | wc -l").split()[0]) > _EATERS

    assert wait_until(is_short, timeout_s=180, every_s=2.0), output


def _runs_on(_arena: Arena, output: str) -> None:
    assert output.endswith("it runs on\n"), output


def _is_large(least: int) -> Evidence:
    def check(_arena: Arena, output: str) -> None:
        assert int(output.rsplit(maxsplit=1)[-1]) >= least, output

    return check


ATTACKS = (
    # A container's disk is the host's: it is never filled.
    ShellAttack(
        name="filling the disk",
        family=FAMILY,
        script=_FILL.replace("PLACE", "$HOME"),
        defence="evaluators write nothing to the disk",
        calls=_COPIED,
        prepare=_MAKE_COPIED,
        differs_on=frozenset({VM}),
        represents_on=frozenset({VM}),
        fills_disk=True,
        evidence=_is_full,
    ),
    ShellAttack(
        name="filling the folder of temporary files",
        family=FAMILY,
        script=_FILL.replace("PLACE", "/tmp"),
        defence="copies are made below `/run`, which is root's",
        calls=_COPIED,
        prepare=_MAKE_COPIED,
        differs_on=frozenset({VM}),
        fills_disk=True,
        evidence=_is_full,
    ),
    ShellAttack(
        name="using up the inodes",
        family=FAMILY,
        script=_INODES,
        defence="copies are made below `/run`, which is root's",
        calls=_COPIED,
        prepare=_MAKE_COPIED,
        differs_on=frozenset({VM}),
        fills_disk=True,
        only_nightly="filling the disk and the temporary files are played",
    ),
    ShellAttack(
        name="many processes",
        family=FAMILY,
        script=_PROCESSES,
        defence="processes are listed in one pass",
        calls=ALL,
        prepare=WRONG_REPORT,
        evidence=_is_large(200),
    ),
    ShellAttack(
        name="many open files",
        family=FAMILY,
        script=_DESCRIPTORS,
        defence="the limit is each process' own",
        calls=(SETTING, *_COPIED),
        prepare=_MAKE_COPIED,
        evidence=_is_large(500),
    ),
    ShellAttack(
        name="taking all memory",
        family=FAMILY,
        script=_MEMORY,
        defence="the kernel ends the largest, which is the agent's; what shows itself as short is the agent's",
        calls=(REPORT, SETTING),
        prepare=WRONG_REPORT,
        differs_on=frozenset({VM}),
        fills_disk=True,
        only_nightly="it takes minutes on a VM, and nowhere else is the memory the desktop's own",
        effect=_is_eaten,
        wave_timeout_s=120.0,
    ),
    ShellAttack(
        name="ending the login server",
        family=FAMILY,
        script=_LOGIN,
        defence="it is root's, and no evaluator needs it",
        calls=ALL,
        prepare=WRONG_REPORT,
        differs_on=frozenset({VM}),
        only_nightly="only a booted machine has a login server",
        evidence=_runs_on,
    ),
    # Files are opened by the same code on every kernel.
    ShellAttack(
        name="racing a symlink",
        family=FAMILY,
        script=RACE,
        defence="files are opened piece by piece, links refused",
        calls=RACED,
        goes_on=True,
        rounds=10,
        effect=leaves("elsewhere.txt"),
    ),
)
