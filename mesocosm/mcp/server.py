"""The server of one episode: its tools are the task's actions, and each returns the screens."""

from __future__ import annotations

import asyncio
import base64
from typing import TYPE_CHECKING, Any

from mcp import types
from mcp.server import Server, ServerRequestContext

from mesocosm.client.errors import EpisodeOverError, ServiceError
from mesocosm.client.models import act

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mesocosm.client.aio import AsyncEnv
    from mesocosm.client.models import ActionInfo, Element, Observation, Outcome

OBSERVE = "observe"
"""Tool that returns the task and the latest observation, without acting."""

_OVER = "The episode is over; further actions are not carried out."
Content = types.TextContent | types.ImageContent


class EpisodeTools:
    """The tools of one episode.

    Args:
        env: the episode.
        on_over: called with the outcome once the episode is over.

    Attributes:
        env: see above.
        has_acted: whether an action was carried out or refused.

    Raises:
        ValueError: two actions would have the same name.
    """

    def __init__(
        self, env: AsyncEnv, on_over: Callable[[Outcome | None], None] = lambda _: None
    ) -> None:
        self.env = env
        self.has_acted = False
        self._on_over = on_over
        self._turn = asyncio.Lock()
        self._actions: dict[str, ActionInfo] = {}
        for action in env.actions:
            name = tool_name(action)
            if name in self._actions or name == OBSERVE:
                raise ValueError(f"Two actions are called {name}.")
            self._actions[name] = action

    def tools(self) -> list[types.Tool]:
        """Return the tools: the actions, and one that looks."""
        nothing: dict[str, Any] = {"type": "object", "properties": {}}
        look = types.Tool(
            name=OBSERVE,
            description="Return the task, the latest screens and the feedback; takes no action.",
            input_schema=nothing,
        )
        acts = [
            types.Tool(
                name=name,
                description=_described(action),
                input_schema=action.parameters or nothing,
            )
            for name, action in self._actions.items()
        ]
        return [look, *acts]

    async def call(self, name: str, arguments: Mapping[str, Any]) -> types.CallToolResult:
        """Carry out an action, or look; calls are carried out one after the other."""
        action = self._actions.get(name)
        if action is None and name != OBSERVE:
            return _failed(f"There is no tool {name!r}; the tools are {', '.join(self._actions)}.")
        async with self._turn:
            try:
                if action is None:
                    return self._answer(await self.env.observe(), self.env.instruction)
                self.has_acted = True
                step = await self.env.step([act(action.do, action.on, **arguments)])
                if step.done:
                    self._on_over(await self.env.close())
            except EpisodeOverError:
                return _failed(_OVER)
            except ServiceError as exc:
                return _failed(str(exc))
        return self._answer(step.observation, _OVER if step.done else "")

    def _answer(self, observation: Observation, text: str) -> types.CallToolResult:
        return types.CallToolResult(
            content=[*_content(observation, text)],
            structured_content={"step": observation.step, "is_over": self.env.is_over},
        )


def make_server(tools: EpisodeTools) -> Server[Any]:
    """Return a server for the tools of an open episode."""
    env = tools.env

    async def list_tools(
        _context: ServerRequestContext[Any], _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools.tools())

    async def call_tool(
        _context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        return await tools.call(params.name, params.arguments or {})

    return Server(
        f"mesocosm {env.suite}/{env.task}",
        instructions=env.instruction,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def tool_name(action: ActionInfo) -> str:
    """Return the name of an action's tool: the role and the action's name."""
    return action.do if action.on is None else f"{action.on}_{action.do}"


def _described(action: ActionInfo) -> str:
    return action.description if action.on is None else f"On {action.on}: {action.description}"


def _content(observation: Observation, text: str) -> list[Content]:
    parts: list[Content] = []
    texts = [text, observation.feedback, *observation.progress]
    texts += [f"{result.call}: {result.text}" for result in observation.results]
    parts += [types.TextContent(text=part) for part in texts if part]
    parts += [_image(result.png) for result in observation.results if result.png]
    for role, screen in observation.screens.items():
        parts.append(types.TextContent(text=f"{role}, {screen.width} x {screen.height} px"))
        if screen.png is not None:
            parts.append(_image(base64.b64encode(screen.png).decode()))
        if tree := observation.trees.get(role):
            parts.append(types.TextContent(text="\n".join(map(_line, tree))))
    return parts


def _image(data: str) -> types.ImageContent:
    return types.ImageContent(data=data, mime_type="image/png")


def _line(element: Element) -> str:
    return f"{'  ' * element.depth}{element.role} {element.name!r} {element.bounds}"


def _failed(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)
