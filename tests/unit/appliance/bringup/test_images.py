"""Images are built in parallel, each after its dependencies."""

from __future__ import annotations

import contextlib
import io
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from appliance.bringup.currency import needed_names
from appliance.bringup.images import Builds, ensure_image, require_recipes
from appliance.bringup.steps import Steps
from foundation.clock import SYSTEM_CLOCK, FakeClock
from foundation.errors import (
    ImageBuildError,
    ImageMissingError,
    RequirementError,
    ToolFailedError,
)
from foundation.process import bound_to_thread, run
from foundation.settings import Settings
from images.builder import Builder
from images.log import ignore_progress
from images.recipe import Image, Report

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

NEEDS = {"base": (), "phone": ("base",), "controller": ("base",), "desktop": ()}
DEADLINE_S = 10


def image(name: str) -> Image:
    return Image(name, "x", "d", "r", Path())


@contextlib.contextmanager
def ended_within(limit_s: float) -> Iterator[None]:
    start_s = SYSTEM_CLOCK.monotonic_s()
    yield
    assert SYSTEM_CLOCK.monotonic_s() - start_s < limit_s


def build_all(needs: Mapping[str, Collection[str]], ensure: Callable[[str], Image]) -> set[str]:
    builds = Builds(needs, ensure)
    builds.start()
    return set(builds.wait())


def test_every_image_is_built_after_its_dependencies() -> None:
    begun: list[str] = []

    def ensure(name: str) -> Image:
        assert {needed for needed in NEEDS[name] if needed not in begun} == set()
        begun.append(name)
        return image(name)

    assert build_all(NEEDS, ensure) == set(NEEDS)
    assert sorted(begun) == sorted(NEEDS)


def test_at_most_two_images_are_built_at_a_time() -> None:
    together, lock = threading.Barrier(2, timeout=DEADLINE_S), threading.Lock()
    running, most = 0, 0

    def ensure(name: str) -> Image:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        if name in {"base", "desktop"}:
            together.wait()  # neither ends before the other has started
        with lock:
            running -= 1
        return image(name)

    build_all(NEEDS, ensure)
    assert most == 2


def test_cancelled_builds_end_with_their_programs_and_are_cleaned_up() -> None:
    begun, removed = threading.Semaphore(0), []

    def ensure(name: str) -> Image:
        try:
            with bound_to_thread():
                begun.release()
                run(["sleep", "600"], timeout_s=900).require()
        finally:
            removed.append(name)
        return image(name)

    builds = Builds(NEEDS, ensure)
    builds.start()
    assert begun.acquire(timeout=DEADLINE_S)
    assert begun.acquire(timeout=DEADLINE_S)
    with ended_within(5.0):
        builds.abandon()
    assert sorted(removed) == ["base", "desktop"]  # and no other was started afterwards
    with pytest.raises(ToolFailedError, match="sleep"):
        builds.wait()


def test_failed_build_lets_running_ones_finish_and_starts_none() -> None:
    failed, finished = threading.Event(), []

    def ensure(name: str) -> Image:
        if name == "base":
            failed.set()
            raise ImageBuildError("The image base could not be built.")
        assert failed.wait(DEADLINE_S)
        finished.append(name)
        return image(name)

    with pytest.raises(ImageBuildError, match="base"):
        build_all(NEEDS, ensure)
    assert finished == ["desktop"]


def test_selected_images_can_be_waited_for() -> None:
    may_end = threading.Event()

    def ensure(name: str) -> Image:
        assert name != "controller" or may_end.wait(DEADLINE_S)
        return image(name)

    builds = Builds(NEEDS, ensure)
    builds.start()
    assert {"desktop", "phone"} <= builds.wait({"desktop", "phone"}).keys() < set(NEEDS)
    may_end.set()
    assert builds.wait().keys() == set(NEEDS)


def test_later_failure_ends_the_wait_for_other_images() -> None:
    may_fail = threading.Event()

    def ensure(name: str) -> Image:
        if name == "controller":
            assert may_fail.wait(DEADLINE_S)
            raise ImageBuildError("The image controller could not be built.")
        return image(name)

    builds = Builds(NEEDS, ensure)
    builds.start()
    assert "desktop" in builds.wait({"desktop"})
    may_fail.set()
    with pytest.raises(ImageBuildError, match="controller"):
        builds.wait()


def test_builds_are_settled_when_running_ones_have_ended() -> None:
    begun, may_end = threading.Semaphore(0), threading.Event()
    ended: list[str] = []

    def ensure(name: str) -> Image:
        begun.release()
        assert may_end.wait(DEADLINE_S)
        ended.append(name)
        return image(name)

    builds = Builds(NEEDS, ensure)
    builds.start()
    for _ in range(2):
        assert begun.acquire(timeout=DEADLINE_S)
    threading.Timer(0.1, may_end.set).start()
    builds.settle()
    assert sorted(ended) == ["base", "desktop"]


def test_dependency_cycles_are_rejected() -> None:
    with pytest.raises(ValueError, match="cycle"):
        build_all({"a": ("b",), "b": ("a",)}, image)


class SlowBuilder(Builder):
    """Takes two seconds to find an image, and builds it if it was created with phases."""

    def __init__(self, clock: FakeClock, phases: tuple[str, ...]) -> None:
        self._clock = clock
        self._phases = phases

    def ensure(
        self,
        name: str,
        report: Report = ignore_progress,
        *,
        repair: bool = False,
        rebuild: bool = False,
    ) -> Image:
        self._clock.advance(2.0)
        for phase in self._phases:
            report(phase)
        return image(name)


@pytest.mark.parametrize(("phases", "note"), [((), "(present)"), (("packages", "disk"), "(built)")])
def test_image_is_reported_as_built_only_where_it_was(phases: tuple[str, ...], note: str) -> None:
    clock = FakeClock()
    steps = Steps(Console(file=io.StringIO()), clock=clock)
    ensure_image("desktop", SlowBuilder(clock, phases), steps, ignore_progress)
    assert steps.done[0].note.endswith(note)


def test_image_of_the_chosen_kind_of_phone_is_needed() -> None:
    assert "android" not in needed_names(Settings())
    assert {"android", "phone"} <= set(needed_names(Settings(phone="emulator")))


@pytest.mark.slow
def test_image_that_this_host_cannot_run_is_refused_before_any_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Builder, "find", _not_built)
    require_recipes(Settings(state_dir=tmp_path))
    with pytest.raises(RequirementError, match="licence"):
        require_recipes(Settings(state_dir=tmp_path, phone="emulator"))


@pytest.mark.slow
def test_built_image_is_not_checked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Builder, "find", lambda _self, name: image(name))
    require_recipes(Settings(state_dir=tmp_path, phone="emulator"))


def _not_built(_self: Builder, name: str) -> Image:
    raise ImageMissingError(f"{name} is not built.")
