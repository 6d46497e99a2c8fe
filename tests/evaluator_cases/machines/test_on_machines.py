"""Evaluators pass their cases on a leased desktop with its files, probe and programs, as in a trial."""

from __future__ import annotations

import json
import logging
import shlex
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from controller.actions.vocabulary import vocabulary
from evaluators.graph.outcome import Call
from evaluators.runners import machine_runner
from evaluators.testing.runner import EXPECTED
from tests.attacks.arenas import ARENAS
from tests.evaluator_cases.machines.exceptions import DIFFERENT_HERE, UNPLAYED
from tests.evaluator_cases.machines.staging import (
    Reason,
    StagedCase,
    is_alone,
    modules,
    pack,
    stage,
    staging_folder,
)
from tests.tiers import nightly

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from evaluators.graph.outcome import WaveRunner
    from tests.attacks.arenas import Arena

_LOG = logging.getLogger(__name__)
STORE = "/root/cases"
WAVE = 20
"""Maximum number of cases evaluated in one round trip."""
WAVE_BYTES = 2_000_000
"""Maximum size of arguments in one round trip; a message may be twice as large."""
_WAVE_S = 120.0
ARENA = "libvirt-desktop"

# A change of owner clears the set-user-ID bit.
_UNPACK = """
umask 022; mkdir -p {store} && tar -xzSf {archive} -C {store} --no-same-owner && rm {archive} &&
find {store} -type f -perm /6000 -printf '%m %p\\n' > {store}.modes && chown -R -h {user}: {store}/*/home &&
while read -r mode path; do chmod "$mode" "$path"; done < {store}.modes
"""
_SPREAD = """
mkdir -p {home}/cases /srv/cases && chown {user}: {home}/cases
cd {store} && for case in *; do
    mv "$case/home" "{home}/cases/$case" && mv "$case/outside" "/srv/cases/$case"
done; true
"""
_GIVE_ALONE = """
umount -l {home} 2> /dev/null; rm -rf /srv/* /root/.reference
mount -t tmpfs -o mode=755 cases {home} && chown {user}: {home} &&
cp -a {store}/{number}/home/. {home}/ && cd {store}/{number}/outside &&
for place in srv root/.reference; do
    [ ! -e $place ] || {{ mkdir -p /$place && cp -a $place/. /$place/; }}
done && echo given
"""
_CLEAN = "umount -l {home} 2> /dev/null; rm -rf /srv/* /root/.reference {home}/cases {store}; true"

pytestmark = [
    *ARENAS[ARENA][1],
    nightly("`make test` runs the same cases with the fixture"),
    pytest.mark.slow,
    pytest.mark.timeout(1800),
]


@pytest.fixture(scope="module")
def desktop() -> Iterator[Arena]:
    with ARENAS[ARENA][0]() as arena:
        yield arena


@pytest.fixture
def arena(desktop: Arena) -> Iterator[Arena]:
    yield desktop
    as_root(desktop, _CLEAN)


def as_root(arena: Arena, script: str, **values: object) -> str:
    filled = script.format(home=arena.home, user=arena.user, store=STORE, **values)
    return arena.shell(filled, user="root", timeout_s=300.0)


@pytest.mark.parametrize("module", [name for name in modules() if name not in UNPLAYED])
def test_a_machine_plays_the_cases(arena: Arena, module: str) -> None:
    left: Counter[str] = Counter()
    with staging_folder() as folder:
        staged = _stage(module, folder, arena.home, left)
        _LOG.info("%s: %d cases played, left out: %s", module, len(staged), dict(left))
        assert staged
        _send(arena, folder)
    runner = machine_runner(arena.machine, vocabulary())
    alone = {number: case for number, case in staged.items() if is_alone(case.table)}
    apart = {number: case for number, case in staged.items() if number not in alone}
    wrong = []
    for number, case in alone.items():
        output = as_root(arena, _GIVE_ALONE, number=number)
        assert "given" in output, output
        wrong += _judge(runner, [case])
    if apart:
        as_root(arena, _SPREAD)
    for wave in _waves(apart.values()):
        wrong += _judge(runner, wave)
    assert not wrong, "\n".join(["", *wrong])


def test_each_case_that_differs_exists() -> None:
    known = {
        (table.mark.name, case.name)
        for tables in modules().values()
        for table in tables
        for case in table.cases
    }
    assert set(DIFFERENT_HERE) <= known
    assert set(modules()) >= UNPLAYED


def _stage(module: str, folder: Path, home: str, left: Counter[str]) -> dict[int, StagedCase]:
    staged: dict[int, StagedCase] = {}
    cases = [(table, case) for table in modules()[module] for case in table.cases]
    for number, (table, case) in enumerate(cases):
        result = stage(table, case, number, folder, home)
        if isinstance(result, Reason):
            left[result.value] += 1
        else:
            staged[number] = result
    return staged


def _send(arena: Arena, folder: Path) -> None:
    archive = f"{arena.home}/cases.tgz"
    arena.machine.files.put(archive, pack(folder))
    output = as_root(arena, _UNPACK, archive=shlex.quote(archive))
    assert not output, output


def _waves(cases: Iterable[StagedCase]) -> Iterator[list[StagedCase]]:
    wave: list[StagedCase] = []
    size = 0
    for case in cases:
        own = len(json.dumps(case.args, default=str))
        if wave and (len(wave) == WAVE or size + own > WAVE_BYTES):
            yield wave
            wave, size = [], 0
        wave.append(case)
        size += own
    if wave:
        yield wave


def _judge(runner: WaveRunner, cases: Sequence[StagedCase]) -> list[str]:
    """Return a line for each case with an unexpected verdict."""
    calls = [
        Call(str(number), case.table.mark.name, case.args) for number, case in enumerate(cases)
    ]
    outcomes = {int(outcome.node): outcome for outcome in runner.evaluate(calls, timeout_s=_WAVE_S)}
    return [
        f"{case.name}: expected {EXPECTED[case.case.met]}, got {EXPECTED[outcomes[number].met]} "
        f"{outcomes[number].reason} {case.args}"
        for number, case in enumerate(cases)
        if outcomes[number].met is not case.case.met
    ]
