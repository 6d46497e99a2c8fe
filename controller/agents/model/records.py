"""What the log and the results of a trial have of requests to a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.models.usage import usage_of

if TYPE_CHECKING:
    from controller.models.messages import Tool
    from controller.models.settings import ModelSettings
    from controller.models.usage import Tokens
    from provisioning.protocols import Json


def price(tokens: Tokens, settings: ModelSettings) -> float:
    """Return the price of tokens, US dollars."""
    return usage_of(tokens).priced(*settings.prices).usd


def declared_fields(tool: Tool) -> dict[str, Json]:
    """Return a tool as the trial's log has it."""
    fields: dict[str, Json] = {"name": tool.name}
    if tool.native:
        return {**fields, "native": dict(tool.native)}
    return {**fields, "description": tool.description, "parameters": dict(tool.parameters)}
