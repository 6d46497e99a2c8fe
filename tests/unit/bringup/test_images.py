"""Images are built side by side, each after what it needs."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from appliance.base.errors import ImageBuildError
from appliance.bringup.images import build_all
from images.recipe import Image

NEEDS = {"base": (), "phone": ("base",), "controller": ("base",), "desktop": ()}
DEADLINE_S = 10


def image(name: str) -> Image:
    return Image(name, "x", "d", "r", Path())


def test_every_image_comes_after_what_it_needs() -> None:
    begun: list[str] = []

    def ensure(name: str) -> Image:
        assert {needed for needed in NEEDS[name] if needed not in begun} == set()
        begun.append(name)
        return image(name)

    assert set(build_all(NEEDS, ensure)) == set(NEEDS)
    assert sorted(begun) == sorted(NEEDS)


def test_two_are_built_at_a_time_and_no_more() -> None:
    together, lock = threading.Barrier(2, timeout=DEADLINE_S), threading.Lock()
    running, most = 0, 0

    def ensure(name: str) -> Image:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        if name in {"base", "desktop"}:
            together.wait()  # neither ends before the other has begun
        with lock:
            running -= 1
        return image(name)

    build_all(NEEDS, ensure)
    assert most == 2


def test_a_build_beside_a_failed_one_is_finished_and_none_is_begun() -> None:
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


def test_needs_in_a_circle_are_refused() -> None:
    with pytest.raises(ValueError, match="cycle"):
        build_all({"a": ("b",), "b": ("a",)}, image)
