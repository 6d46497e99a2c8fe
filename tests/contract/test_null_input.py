"""Tests that the contract of `Input` rejects an implementation that does nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import pytest

from provisioning.protocols import Button
from tests.contract import test_machine
from tests.contract.machines import fake_desktop, fake_phone

if TYPE_CHECKING:
    from collections.abc import Callable

    from provisioning.protocols import Machine

CONTRACT = test_machine.TestInput()
EFFECTS: dict[str, Callable[[Any], None]] = {
    "click": lambda subject: CONTRACT.test_buttons_click(subject, Button.LEFT),
    "drag": CONTRACT.test_drag_goes_from_start_to_end,
    "scroll": CONTRACT.test_wheel_scrolls_down_and_up,
    "key": CONTRACT.test_keys_are_pressed_together,
    "text": CONTRACT.test_any_unicode_can_be_typed,
    "move": CONTRACT.test_pointer_reaches_every_corner,
}


class NullInput:
    """Input that accepts everything and does nothing."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_args, **_kwargs: None


@dataclass
class Deaf:
    """A machine whose input does nothing."""

    machine: Machine
    input: NullInput

    def __getattr__(self, name: str) -> object:
        return getattr(self.machine, name)


@pytest.mark.parametrize("make", [fake_desktop, fake_phone], ids=["desktop", "phone"])
@pytest.mark.parametrize("method", EFFECTS)
def test_input_that_does_nothing_fails(
    monkeypatch: pytest.MonkeyPatch, make: Callable[[], Any], method: str
) -> None:
    monkeypatch.setattr(test_machine, "arrives", lambda is_there: is_there())
    with make() as subject:
        if method == "move" and not subject.receiver.has_pointer:
            pytest.skip("a phone has no pointer")
        EFFECTS[method](subject)
    with make() as subject:
        deaf = replace(subject, machine=cast("Machine", Deaf(subject.machine, NullInput())))
        with pytest.raises(AssertionError):
            EFFECTS[method](deaf)
