"""An agent for a model that reads: trees as text, no pictures, and few tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.agents.model.calls import CallReader, remembered
from controller.models.adapters import require_model
from controller.models.endpoint import ModelEndpoint
from controller.models.messages import Message, Request, Role
from controller.models.specification import read_settings
from controller.protocol import Turn

if TYPE_CHECKING:
    from controller.observation.observer import Observation
    from controller.protocol import AgentContext

_TOOLS = ("desktop__click", "desktop__type_text", "session__complete")
_MAX_ELEMENTS = 12


class TreeAgent:
    """Sends the elements of the screen as text, and returns the calls of the model's reply."""

    def __init__(self, context: AgentContext) -> None:
        self._reader = CallReader(context.space)
        tools = context.space.model_tools()
        self._tools = tuple(tool for tool in tools if tool.name in _TOOLS)
        self._messages = [Message(Role.SYSTEM, (f"Call tools. Task: {context.instruction}",))]
        settings = require_model(read_settings())
        self._endpoint = ModelEndpoint(settings, write=context.diary.write)

    def act(self, observation: Observation) -> Turn:
        """Ask the model once; its last reply is all that it remembers."""
        lines = [
            f"{element.role} {element.name!r} at {element.bounds.center}"
            for element in observation.trees["desktop"]
            if element.name
        ]
        shown = "\n".join((observation.feedback[:300], *lines[:_MAX_ELEMENTS]))
        asked = (*self._messages[:2], Message(Role.USER, (shown,)))
        reply = self._endpoint.ask(Request(asked, self._tools)).reply
        calls = self._reader.read(reply, {})
        message = remembered(reply.message, calls)
        self._messages[1:] = [Message(Role.MODEL, (message.text[:200] or "I called a tool.",))]
        return Turn(calls.actions, reply.usage, message.text, calls.fault)
