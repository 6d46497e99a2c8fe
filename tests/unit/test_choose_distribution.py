from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from images.distribution import Reachability
from tests import choose_distribution

if TYPE_CHECKING:
    from images.distribution import Distribution


@pytest.mark.parametrize(("answers", "chosen"), [(True, "ubuntu-22.04"), (False, "debian-12")])
def test_tests_run_on_ubuntu_if_its_archive_responds(
    monkeypatch: pytest.MonkeyPatch, *, answers: bool, chosen: str
) -> None:
    asked: list[str] = []

    def check(distribution: Distribution, _settings: object) -> Reachability:
        asked.append(distribution.name)
        return Reachability(ok=answers, reason="")

    monkeypatch.setenv("MESOCOSM_DISTRIBUTION", "auto")
    monkeypatch.setattr(choose_distribution, "check_archive", check)
    assert choose_distribution.choose() == chosen
    assert asked == ["ubuntu-22.04"]
