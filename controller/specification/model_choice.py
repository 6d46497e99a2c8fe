"""What a user has chosen for the model of an agent."""

from __future__ import annotations

from pydantic import JsonValue  # noqa: TC002 - read by pydantic

from controller.specification.agent import Record


class ModelChoice(Record):
    """A user's choice of an agent's model; None leaves it to the environment or the run.

    It may contain credentials, which specifications of agents never do.

    Attributes:
        adapter: adapter of the vendor's API.
        family: format in which the model acts.
        name: name of the model.
        base_url: URL of its endpoint.
        extra: further fields of each request.
        image_scale: factor that screenshots are scaled down by.
        history: number of past turns that each request includes.
        pictures: number of these turns that include their screenshots.
        key: environment variable with its key; None for that of all models.
    """

    adapter: str | None = None
    family: str | None = None
    name: str | None = None
    base_url: str | None = None
    extra: dict[str, JsonValue] | None = None
    image_scale: float | None = None
    history: int | None = None
    pictures: int | None = None
    key: str | None = None
