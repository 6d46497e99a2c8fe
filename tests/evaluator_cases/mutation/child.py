"""Apply a mutant in a forked child process with resource limits, and run cases there."""

from __future__ import annotations

import inspect
import os
import resource
import signal
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluators.schema import forget
from tests.evaluator_cases.mutation.exceptions import EQUIVALENT, UNDETECTED
from tests.evaluator_cases.mutation.report import MutantResult, reason_for

if TYPE_CHECKING:
    from types import FunctionType, ModuleType

    from evaluators.testing.runner import PreparedCase
    from tests.evaluator_cases.mutation.mutants import Mutant

CPU_S = 30.0
WALL_S = 120.0
MAX_MEMORY_BYTES = 1 << 30
_SURVIVED, _KILLED = 0, 1


def run_mutant(mutant: Mutant, cases: list[PreparedCase]) -> MutantResult:
    """Run cases against a mutant until one fails.

    Args:
        mutant: applied only in the child process.
        cases: cases that execute its lines; without any, the mutant survives.
    """
    reasons = reason_for(mutant.name, EQUIVALENT), reason_for(mutant.name, UNDETECTED)
    if not cases:
        return MutantResult(mutant.name, False, "no case executes it", *reasons)
    read_fd, write_fd = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # forking while threads of servers run
        pid = os.fork()
    if pid == 0:
        os.close(read_fd)
        _run_child(mutant, cases, write_fd)
    os.close(write_fd)
    with os.fdopen(read_fd, "rb") as pipe:
        killer = pipe.read().decode()
    status = os.waitpid(pid, 0)[1]
    if os.WIFSIGNALED(status):
        killer = f"signal {os.WTERMSIG(status)}"
    return MutantResult(mutant.name, status != _SURVIVED, killer or "no case fails", *reasons)


def _run_child(mutant: Mutant, cases: list[PreparedCase], write_fd: int) -> None:
    """Run cases with the mutant applied; the process ends with the result."""
    try:
        _limit_resources()
        _apply(mutant)
        for case in cases:
            if not case.passes():
                os.write(write_fd, case.name.encode())
                os._exit(_KILLED)
    except BaseException as exc:  # noqa: BLE001  (any exception is a detection)
        os.write(write_fd, f"{type(exc).__name__}: {exc}"[:500].encode())
        os._exit(_KILLED)
    os._exit(_SURVIVED)


def _limit_resources() -> None:
    for number in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(number, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, CPU_S)
    signal.setitimer(signal.ITIMER_REAL, WALL_S)
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    limit = pages * resource.getpagesize() + MAX_MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _apply(mutant: Mutant) -> None:
    module = sys.modules[mutant.module]
    if not mutant.is_constant:
        _function(module, mutant.function).__code__ = mutant.code
        return
    for name, code in ((mutant.function, mutant.code), *mutant.derived):
        before = vars(module)[name]
        after = eval(code, dict(vars(module)))  # noqa: S307  (our own source)
        for module_name, other in list(sys.modules.items()):
            if module_name.startswith("evaluators.") and vars(other).get(name) is before:
                setattr(other, name, after)
    forget()  # types of parameters may be derived from it


def _function(module: ModuleType, name: str) -> FunctionType:
    owner: Any = module
    for part in name.split("."):
        owner = inspect.getattr_static(owner, part)
    owner = getattr(owner, "fget", None) or getattr(owner, "__func__", None) or owner
    function: FunctionType = inspect.unwrap(owner)
    return function
