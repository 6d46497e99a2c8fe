"""What is filled in on a page to ask for a run."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, Field

from appliance.base.errors import UsageError
from controller.service.api.errors import WrongValueError
from controller.service.requests import parse_request

if TYPE_CHECKING:
    from collections.abc import Iterator

    from controller.service.requests import RunRequest

_SAME = ("suite", "agent", "model", "repeats", "parallel", "seed", "order", "fleet")
_BUDGET = ("tokens", "usd", "seconds")


class RunForm(BaseModel):
    """The fields of a run; what is left empty has the default of `mesocosm run`.

    Attributes:
        tasks: ids or patterns of ids, apart by blanks.
        budget_tokens: of all attempts together, as the others that begin so.
    """

    suite: str = Field(max_length=200)
    agent: str = Field(max_length=200)
    model: str = Field(default="", max_length=200)
    tasks: str = Field(default="", max_length=20_000)
    repeats: str = Field(default="", max_length=20)
    parallel: str = Field(default="", max_length=20)
    seed: str = Field(default="", max_length=20)
    order: Literal["", "suite", "shuffled"] = ""
    fleet: Literal["real", "fake"] = "real"
    budget_tokens: str = Field(default="", max_length=20)
    budget_usd: str = Field(default="", max_length=20)
    budget_seconds: str = Field(default="", max_length=20)

    def request(self) -> RunRequest:
        """Return the run that is asked for.

        Raises:
            WrongValueError: a value is wrong; names each.
        """
        values: dict[str, object] = {name: text for name in _SAME if (text := getattr(self, name))}
        budget = {name: text for name in _BUDGET if (text := getattr(self, f"budget_{name}"))}
        with refusing_wrong_values():
            return parse_request({**values, "tasks": self.tasks.split(), "budget": budget})


@contextlib.contextmanager
def refusing_wrong_values() -> Iterator[None]:
    """Refuse what was filled in where the block finds it wrong.

    Raises:
        WrongValueError: the block raised a `UsageError`.
    """
    try:
        yield
    except UsageError as exc:
        raise WrongValueError(exc.brief, exc.details, exc.resolution) from exc
