"""Configuration of a sandbox, which Inspect's logs keep and read again."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class MesocosmConfig(BaseModel):
    """Which episode a sample gets. The token comes from the environment and is in no log.

    Attributes:
        task: suite and task, such as ``smoke/desktop-editor``.
        seed: seed of the task's parameters.
        server: address of the service; None for that of the environment.
        commands: whose commands the sandbox runs: ``root`` for any user, as Inspect's injected
            tools want it, or ``agent``, so that nothing gets around the task.
        screen: size of the screen that `computer` presents: ``native``, a size in pixels, or
            ``auto``: Inspect's fixed size for models whose provider assumes it, else ``native``.
        trees: whether observations include accessibility trees.
        feedback: feedback on progress in observations.
        fleet: ``fake`` leases machines in memory.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    task: str
    seed: int = Field(default=0, ge=0)
    server: str | None = None
    commands: Literal["agent", "root"] = "agent"
    screen: Literal["auto", "native"] | tuple[int, int] = "auto"
    trees: bool = False
    feedback: Literal["none", "hints", "nodes"] = "none"
    fleet: Literal["real", "fake"] = "real"

    def options(self) -> dict[str, Any]:
        """Return the options of `Client.open`."""
        names = {"seed", "commands", "trees", "feedback", "fleet"}
        return self.model_dump(include=names)
