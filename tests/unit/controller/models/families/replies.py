"""Replies of models, as their clients return them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from controller.models.messages import Message, Reply, Role, Stop, ToolCall

if TYPE_CHECKING:
    from collections.abc import Mapping


def said(text: str, stop: Stop = Stop.END) -> Reply:
    return Reply(Message(Role.MODEL, (text,)), stop)


def called(*calls: tuple[str, Mapping[str, object] | str], text: str = "") -> Reply:
    made = tuple(
        ToolCall(f"c{number}", name, args if isinstance(args, str) else json.dumps(args))
        for number, (name, args) in enumerate(calls)
    )
    return Reply(Message(Role.MODEL, (text,) if text else (), made))
