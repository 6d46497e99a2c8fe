"""Threat model of machine resources of evaluators: disk, inodes, processes, descriptors, time.

What the agent's user can do:

* **Write** until the disk, ``/tmp``, or the inodes are full; use memory until the kernel kills
  programs.
* **Start** as many processes and open as many files as its limits allow.
* **Kill** its own session: window manager, panel, and bus.
* It cannot use resources that are reserved for root, nor kill root's processes.

Defences: evaluators only write to ``/run``, a limited amount; a check that cannot run on a healthy
machine, or that the agent's programs block, is unmet (`provisioning.desktop.obstruction`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.graph.outcome import Call
from foundation.clock import wait_until
from tests.attacks.calls import ALL, REPORT, SECRET, SETTING, WRONG_REPORT
from tests.attacks.databases.attacks import DATABASE
from tests.attacks.model import NO_TOOL, VM, Evidence, ShellAttack, creates_file
from tests.attacks.repositories.attacks import REPOSITORY

if TYPE_CHECKING:
    from tests.attacks.arenas import Arena

FAMILY = "machine"
_EATER_COUNT = 4
_COPIED_CALLS = (REPORT, DATABASE.check("~/shop.db"), REPOSITORY.check("~/project"))
_PREPARE_COPIES = f"""
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
# Only on the appliance's desktops: elsewhere, it would use up the host's memory.
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


def _disk_is_full(_arena: Arena, output: str) -> None:
    assert output.rsplit(maxsplit=1)[-1] == "0", output


def _memory_is_full(arena: Arena, output: str) -> None:
    """Assert that the kernel killed one of the programs that use up memory: a fifth was started."""

    def has_restarted() -> bool:
        return int(arena.shell("cat eaten 2> /dev/null | wc -l").split()[0]) > _EATER_COUNT

    assert wait_until(has_restarted, timeout_s=180, every_s=2.0), output


def _server_still_runs(_arena: Arena, output: str) -> None:
    assert output.endswith("it runs on\n"), output


def _is_at_least(minimum: int) -> Evidence:
    def check(_arena: Arena, output: str) -> None:
        assert int(output.rsplit(maxsplit=1)[-1]) >= minimum, output

    return check


ATTACKS = (
    # A container's disk is the host's and never filled.
    ShellAttack(
        name="filling the disk",
        family=FAMILY,
        script=_FILL.replace("PLACE", "$HOME"),
        defence="evaluators write nothing to the disk",
        calls=_COPIED_CALLS,
        prepare=_PREPARE_COPIES,
        differs_on=frozenset({VM}),
        represents_on=frozenset({VM}),
        fills_disk=True,
        evidence=_disk_is_full,
    ),
    ShellAttack(
        name="filling the temporary folder",
        family=FAMILY,
        script=_FILL.replace("PLACE", "/tmp"),
        defence="copies are stored below `/run`, which root owns",
        calls=_COPIED_CALLS,
        prepare=_PREPARE_COPIES,
        differs_on=frozenset({VM}),
        fills_disk=True,
        evidence=_disk_is_full,
    ),
    ShellAttack(
        name="using up the inodes",
        family=FAMILY,
        script=_INODES,
        defence="copies are stored below `/run`, which root owns",
        calls=_COPIED_CALLS,
        prepare=_PREPARE_COPIES,
        differs_on=frozenset({VM}),
        fills_disk=True,
        only_nightly="`make test` fills the disk and the temporary folder",
    ),
    ShellAttack(
        name="many processes",
        family=FAMILY,
        script=_PROCESSES,
        defence="processes are listed in one pass",
        calls=ALL,
        prepare=WRONG_REPORT,
        evidence=_is_at_least(200),
    ),
    ShellAttack(
        name="many open files",
        family=FAMILY,
        script=_DESCRIPTORS,
        defence="the limit applies per process",
        calls=(SETTING, *_COPIED_CALLS),
        prepare=_PREPARE_COPIES,
        evidence=_is_at_least(500),
    ),
    ShellAttack(
        name="using up the memory",
        family=FAMILY,
        script=_MEMORY,
        defence="the OOM killer ends the largest process, the agent's; "
        "a shortage is attributed to the agent",
        calls=(REPORT, SETTING),
        prepare=WRONG_REPORT,
        differs_on=frozenset({VM}),
        fills_disk=True,
        only_nightly="it takes minutes on a VM; elsewhere, the memory is shared with the host",
        effect=_memory_is_full,
        wave_timeout_s=120.0,
    ),
    ShellAttack(
        name="killing the login server",
        family=FAMILY,
        script=_LOGIN,
        defence="root owns it, and no evaluator needs it",
        calls=ALL,
        prepare=WRONG_REPORT,
        differs_on=frozenset({VM}),
        only_nightly="only a booted machine has a login server",
        evidence=_server_still_runs,
    ),
    # The code that opens files is the same on every kernel.
    ShellAttack(
        name="racing with a symbolic link",
        family=FAMILY,
        script=RACE,
        defence="each path component is opened relative to its parent, without following links",
        calls=RACED,
        is_background=True,
        rounds=10,
        effect=creates_file("elsewhere.txt"),
    ),
)
