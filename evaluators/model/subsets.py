"""The subsets that a suite declares in ``suite.yaml``."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from evaluators.model.platforms import Platform  # noqa: TC001  (pydantic reads it)
from foundation.strict import Name, Strict


class Subset(Strict):
    """One entry of the key ``subsets``: a list of tasks, or the hardest ones.

    Attributes:
        description: what it is for.
        tasks: ids of tasks, in the order in which they are tried.
        hardest: number of tasks, hardest first; see `evaluators.metrics.hardness`.
        platforms: how many of the hardest ones each platform provides; any by default.
    """

    description: str = ""
    tasks: Annotated[tuple[Name, ...], Field(strict=False)] = ()
    hardest: int | None = Field(default=None, ge=1)
    platforms: dict[Platform, Annotated[int, Field(ge=1)]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _require_one_way(self) -> Self:
        if bool(self.tasks) == (self.hardest is not None):
            raise PydanticCustomError("subset", "A subset has either `tasks` or `hardest`.")
        if self.platforms and sum(self.platforms.values()) != self.hardest:
            message = "The numbers of `platforms` must add up to `hardest`."
            raise PydanticCustomError("subset", message)
        return self
