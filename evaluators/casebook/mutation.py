"""Find out whether the casebook would notice a fault: in an evaluator's code, or in a state.

Code: each mutant is put into the running evaluators of a forked child, which judges the cases that
run through the fault's line; it is killed when one of them comes out otherwise. States: each
positive case is spoilt, one way at a time, and its evaluator must no longer be met.
"""

from __future__ import annotations

import contextlib
import fnmatch
import importlib
import inspect
import os
import pkgutil
import random
import re
import resource
import signal
import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluators.casebook.equivalent import EQUIVALENT, STATES, UNNOTICED
from evaluators.casebook.judging import Prepared, prepared
from evaluators.casebook.mutants import Mutant, mutants_of
from evaluators.casebook.spoiling import spoilings
from evaluators.schema import forget

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from types import FrameType, FunctionType, ModuleType

    from evaluators.casebook.case import Table

_CPU_S = 30.0
_WALL_S = 120.0
_MAX_MEMORY_BYTES = 1 << 30
_SURVIVED, _KILLED = 0, 1

Line = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of one fault.

    Attributes:
        name: of the mutant, or of the case and how it was spoilt.
        is_killed: the casebook notices it.
        how: the case that noticed it, or why none could.
        equivalent: why it changes nothing that counts; empty for all others.
        explained: why no case notices it although it counts; empty where nobody has said so.
    """

    name: str
    is_killed: bool
    how: str
    equivalent: str = ""
    explained: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """What became of many faults.

    Attributes:
        fates: in the order of modules and lines, or of tables and cases.
    """

    fates: tuple[Fate, ...]

    @property
    def killed(self) -> int:
        """How many were noticed."""
        return sum(fate.is_killed for fate in self.fates)

    @property
    def equivalent(self) -> int:
        """How many were not, and change nothing that counts."""
        return sum(not fate.is_killed and bool(fate.equivalent) for fate in self.fates)

    @property
    def score(self) -> float:
        """Share noticed of those that change something; 1 when there are none."""
        total = len(self.fates) - self.equivalent
        return self.killed / total if total else 1.0

    @property
    def survivors(self) -> list[Fate]:
        """Those that were not noticed, the equivalent ones included."""
        return [fate for fate in self.fates if not fate.is_killed]


def mutate_code(
    tables: Sequence[Table],
    *,
    module: str = "",
    sample: int | None = None,
    seed: int = 0,
    is_whole: bool = True,
) -> Report:
    """Put faults into the code of evaluators.

    Args:
        tables: whose cases are judged, and whose evaluators' packages are mutated.
        module: mutate this one only.
        sample: at most this many mutants, drawn with `seed`; all when None.
        seed: of the draw.
        is_whole: mutants in lines that no case runs through survive; False leaves them out, and
            constants that only types of parameters name, for when `tables` are only some.

    Raises:
        ValueError: a case is not judged as it should be even without a fault.
    """
    with contextlib.ExitStack() as stack:
        cases = [
            stack.enter_context(prepared(table, case)) for table in tables for case in table.cases
        ]
        cases = _by_time(cases)
        seen = [_lines_of(case) for case in cases]
        touched = {module for lines in seen for module, _ in lines}
        modules = [
            one
            for one in ([importlib.import_module(module)] if module else _modules(tables))
            if is_whole or one.__name__ in touched
        ]
        mutants = [mutant for module in modules for mutant in _mutants(module)]
        todo = [(mutant, _concerned(mutant, cases, seen)) for mutant in mutants]
        if not is_whole:
            todo = [
                (mutant, concerned)
                for mutant, concerned in todo
                if concerned and (mutant.uses or not mutant.is_constant)
            ]
        if sample is not None and sample < len(todo):
            kept = sorted(random.Random(seed).sample(range(len(todo)), sample))  # noqa: S311
            todo = [todo[number] for number in kept]
        return Report(tuple(_try(mutant, concerned) for mutant, concerned in todo))


def mutated_modules(tables: Iterable[Table]) -> list[str]:
    """Give the names of the modules that hold the evaluators of some tables, or stand beside them."""
    return [module.__name__ for module in _modules(tables)]


def tables_of(module: str, tables: Iterable[Table]) -> list[Table]:
    """Choose the tables whose evaluators are in a module, or in one that imports it."""
    found = {module}
    package = importlib.import_module(module.rpartition(".")[0])
    sources = {
        f"{package.__name__}.{info.name}": Path(f"{package.__path__[0]}/{info.name}.py").read_text(
            encoding="utf-8"
        )
        for info in pkgutil.iter_modules(package.__path__)
    }
    count = 0
    while count < len(found):
        count = len(found)
        found |= {
            name
            for name, source in sources.items()
            if any(re.search(rf"^\s*from {used} import ", source, re.MULTILINE) for used in found)
        }
    return [table for table in tables if table.evaluator.__module__ in found]


def mutate_states(tables: Iterable[Table]) -> Report:
    """Spoil the states and arguments of positive cases; a verdict that stays met survives."""
    fates = []
    for table in tables:
        for spoiling in spoilings(table):
            name = f"{table.mark.name}: {spoiling.name}"
            reason = _excuse(spoiling.name, table.equivalent) or _excuse(name, STATES)
            is_met = spoiling.judge().met is True
            fates.append(Fate(name, not is_met, "" if is_met else "no longer met", reason))
    return Report(tuple(fates))


def _excuse(name: str, reasons: Mapping[str, str]) -> str:
    return next((why for like, why in reasons.items() if fnmatch.fnmatchcase(name, like)), "")


def _modules(tables: Iterable[Table]) -> Iterator[ModuleType]:
    """Give the modules beside those the evaluators are in, but for fakes."""
    packages = {table.evaluator.__module__.rpartition(".")[0] for table in tables}
    for package in sorted(packages):
        for info in pkgutil.iter_modules(importlib.import_module(package).__path__):
            if info.name != "fake":
                yield importlib.import_module(f"{package}.{info.name}")


def _mutants(module: ModuleType) -> list[Mutant]:
    return mutants_of(module.__name__, Path(str(module.__file__)).read_text(encoding="utf-8"))


def _by_time(cases: list[Prepared]) -> list[Prepared]:
    """Put the quickest first: a mutant that many cases would kill is killed by a quick one."""
    taken = {}
    for number, case in enumerate(cases):
        start_s = time.perf_counter()
        case.judge()
        taken[number] = time.perf_counter() - start_s
    return [cases[number] for number in sorted(taken, key=taken.__getitem__)]


def _lines_of(case: Prepared) -> set[Line]:
    """Judge a case and give the lines of evaluators that were run through."""
    seen: set[Line] = set()

    def trace(frame: FrameType, *_: object) -> Callable[..., Any] | None:
        name = str(frame.f_globals.get("__name__", ""))
        if not name.startswith("evaluators.") or name.startswith("evaluators.casebook"):
            return None
        seen.add((name, frame.f_lineno))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        is_right = case.is_right()
    finally:
        sys.settrace(before)
    if not is_right:
        raise ValueError(f"{case.name}: judged wrongly without any fault: {case.judge()}")
    return seen


def _concerned(mutant: Mutant, cases: list[Prepared], seen: list[set[Line]]) -> list[Prepared]:
    lines = mutant.uses if mutant.is_constant else range(mutant.first_line, mutant.last_line + 1)

    def is_run(case: Prepared, done: set[Line]) -> bool:
        if mutant.is_constant and not lines:  # it is used elsewhere, or in parameters' types
            is_own = case.table.evaluator.__module__ == mutant.module
            return is_own or any(module == mutant.module for module, _ in done)
        return any((mutant.module, line) in done for line in lines)

    return [case for case, done in zip(cases, seen, strict=True) if is_run(case, done)]


def _try(mutant: Mutant, cases: list[Prepared]) -> Fate:
    reasons = _excuse(mutant.name, EQUIVALENT), _excuse(mutant.name, UNNOTICED)
    if not cases:
        return Fate(mutant.name, False, "no case runs through it", *reasons)
    read_fd, write_fd = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # forking beside servers' threads
        pid = os.fork()
    if pid == 0:
        os.close(read_fd)
        _be_child(mutant, cases, write_fd)
    os.close(write_fd)
    with os.fdopen(read_fd, "rb") as pipe:
        killer = pipe.read().decode()
    status = os.waitpid(pid, 0)[1]
    if os.WIFSIGNALED(status):
        killer = f"signal {os.WTERMSIG(status)}"
    return Fate(mutant.name, status != _SURVIVED, killer or "no case comes out otherwise", *reasons)


def _be_child(mutant: Mutant, cases: list[Prepared], write_fd: int) -> None:
    """Judge with the fault in place; end the process with what became of it."""
    try:
        for number in (signal.SIGALRM, signal.SIGPROF):
            signal.signal(number, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, _CPU_S)
        signal.setitimer(signal.ITIMER_REAL, _WALL_S)
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        bound = pages * resource.getpagesize() + _MAX_MEMORY_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (bound, resource.getrlimit(resource.RLIMIT_AS)[1]))
        _put(mutant)
        for case in cases:
            if not case.is_right():
                os.write(write_fd, case.name.encode())
                os._exit(_KILLED)
    except BaseException as exc:  # noqa: BLE001  (whatever a fault leads to has been noticed)
        os.write(write_fd, f"{type(exc).__name__}: {exc}"[:500].encode())
        os._exit(_KILLED)
    os._exit(_SURVIVED)


def _put(mutant: Mutant) -> None:
    module = sys.modules[mutant.module]
    if not mutant.is_constant:
        _function(module, mutant.function).__code__ = mutant.code
        return
    for name, code in ((mutant.function, mutant.code), *mutant.derived):
        before = vars(module)[name]
        after = eval(code, dict(vars(module)))  # noqa: S307  (our own source)
        for place, other in list(sys.modules.items()):
            if place.startswith("evaluators.") and vars(other).get(name) is before:
                setattr(other, name, after)
    forget()  # parameters' types may be made of it


def _function(module: ModuleType, name: str) -> FunctionType:
    found: Any = module
    for part in name.split("."):
        found = inspect.getattr_static(found, part)
    found = getattr(found, "fget", None) or getattr(found, "__func__", None) or found
    function: FunctionType = inspect.unwrap(found)
    return function
