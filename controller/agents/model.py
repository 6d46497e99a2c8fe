"""One agent for every OpenAI-compatible endpoint: screenshots in, tool calls out."""

from __future__ import annotations

import base64
import importlib.util
import json
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from appliance.base.errors import ModelError, RequirementError
from controller.agents.protocol import Turn, Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from openai import OpenAI

    from controller.actions.space import Action
    from controller.agents.protocol import Seat
    from controller.observation.observer import Observation
    from provisioning.protocols import Element

_SYSTEM = """\
You use computers and phones for a person. You see a screenshot of each machine and act by calling \
tools; the part of a tool's name before "__" is the machine it acts on. Coordinates are pixels of \
that machine's screenshot, origin top left. Call one tool at a time and look at the new \
screenshots before you go on. When the task is done, call session__complete; if an answer was \
asked for, call session__submit first.

The task: {instruction}"""
_NO_TOOL = "You called no tool. Call exactly one of the tools."
_ELEMENTS = 150
_OMITTED = "[older screenshots left out]"


class ModelSettings(BaseSettings):
    """Where the model is: environment MESOCOSM_MODEL_*.

    Attributes:
        base_url: of the OpenAI-compatible API, such as ``http://127.0.0.1:8000/v1``.
        api_key: sent as bearer token; never written anywhere.
        name: of the model.
        timeout_s: of one request.
        retries: after 429, 5xx and broken connections, with growing pauses.
        history: how many past turns the model is reminded of.
        pictures: in how many of these the screenshots are still there.
    """

    model_config = SettingsConfigDict(
        env_prefix="MESOCOSM_MODEL_", frozen=True, protected_namespaces=()
    )

    base_url: str = ""
    api_key: SecretStr = SecretStr("")
    name: str = ""
    timeout_s: float = Field(default=120.0, gt=0)
    retries: int = Field(default=4, ge=0)
    history: int = Field(default=10, ge=1)
    pictures: int = Field(default=2, ge=1)

    def require(self) -> ModelSettings:
        """Return self if there is enough to ask a model.

        Raises:
            RequirementError: the address or the model's name is missing, or the SDK.
        """
        if importlib.util.find_spec("openai") is None:
            raise RequirementError(
                "The model agent needs the `openai` package.",
                resolution="Install the extra: pip install 'mesocosm[openai]'.",
            )
        for field, value in (("BASE_URL", self.base_url), ("NAME", self.name)):
            if not value:
                raise RequirementError(
                    "The model agent does not know its model.",
                    details=f"MESOCOSM_MODEL_{field} is not set.",
                    resolution="Set MESOCOSM_MODEL_BASE_URL, MESOCOSM_MODEL_NAME and, where "
                    "needed, MESOCOSM_MODEL_API_KEY.",
                )
        return self


class _Function(BaseModel):
    name: str
    arguments: str = "{}"


class _ToolCall(BaseModel):
    id: str
    function: _Function


class _Message(BaseModel):
    content: str | None = None
    tool_calls: list[_ToolCall] | None = None


class _Choice(BaseModel):
    message: _Message


class _Tokens(BaseModel):
    prompt_tokens: int = Field(default=0, ge=0)
    completion_tokens: int = Field(default=0, ge=0)


class _Reply(BaseModel):
    choices: list[_Choice] = Field(min_length=1)
    usage: _Tokens | None = None


class ModelAgent:
    """Asks a model what to do.

    Args:
        seat: where it acts.
        settings: which model.
    """

    def __init__(self, seat: Seat, settings: ModelSettings) -> None:
        self._settings = settings
        self._space = seat.space
        self._tools = seat.space.openai_tools()
        self._system = _SYSTEM.format(instruction=seat.task.instruction)
        self._turns: list[list[dict[str, Any]]] = []
        self._client = _connect(settings)

    def act(self, observation: Observation) -> Turn:
        """Show the screenshots and take the model's tool calls.

        Raises:
            ModelError: the endpoint failed, also after retries, or sent what is no completion.
        """
        turn = [*self._answers(observation.feedback), _shown(observation)]
        self._turns = [*self._turns, turn][-self._settings.history :]
        reply = self._ask()
        message = reply.choices[0].message
        turn.append(_remembered(message))
        tokens = reply.usage or _Tokens()
        usage = Usage(tokens.prompt_tokens, tokens.completion_tokens)
        actions, fault = self._actions(message.tool_calls or [])
        return Turn(actions, usage, message.content or "", fault)

    def _actions(self, calls: Sequence[_ToolCall]) -> tuple[tuple[Action, ...], str]:
        if not calls:
            return (), _NO_TOOL
        actions = []
        for call in calls:
            try:
                args = json.loads(call.function.arguments or "{}")
            except ValueError as exc:
                return (), f"The arguments of {call.function.name} are not JSON: {exc}."
            if not isinstance(args, dict):
                return (), f"The arguments of {call.function.name} are not a JSON object."
            actions.append(self._space.action_of_tool(call.function.name, args))
        return tuple(actions), ""

    def _answers(self, feedback: str) -> list[dict[str, Any]]:
        """Answer the last turn's tool calls, as the API demands, with what came of them."""
        if not self._turns:
            return []
        calls = self._turns[-1][-1].get("tool_calls", [])
        said = feedback or "Done."
        if not calls:
            return [{"role": "user", "content": said}]
        return [{"role": "tool", "tool_call_id": call["id"], "content": said} for call in calls]

    def _messages(self) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = [{"role": "system", "content": self._system}]
        first_shown = len(self._turns) - self._settings.pictures
        for index, turn in enumerate(self._turns):
            # The calls which the first turn's tool messages answer may have been forgotten.
            kept = turn if index else [each for each in turn if each["role"] != "tool"]
            messages += [each if index >= first_shown else _without_pictures(each) for each in kept]
        return messages

    def _ask(self) -> _Reply:
        import openai  # noqa: PLC0415 - an extra, slow to import

        try:
            raw = self._client.chat.completions.with_raw_response.create(
                model=self._settings.name,
                messages=self._messages(),  # type: ignore[arg-type]  # built to its wire form
                tools=self._tools,  # type: ignore[arg-type]
            )
            return _Reply.model_validate_json(raw.text)
        except ValidationError as exc:
            raise ModelError(
                f"{self._settings.base_url} sent what is no chat completion.",
                details=self._clean(str(exc)),
            ) from None
        except openai.OpenAIError as exc:
            raise ModelError(
                f"The model {self._settings.name!r} could not be asked: {type(exc).__name__}.",
                details=self._clean(str(exc)),
                resolution=f"Check {self._settings.base_url}, the model's name and its key.",
            ) from None

    def _clean(self, text: str) -> str:
        key = self._settings.api_key.get_secret_value()
        return (text.replace(key, "***") if key else text)[:2000]


def _connect(settings: ModelSettings) -> OpenAI:
    from openai import OpenAI  # noqa: PLC0415 - an extra, slow to import

    return OpenAI(
        base_url=settings.base_url,
        api_key=settings.api_key.get_secret_value() or "none",
        timeout=settings.timeout_s,
        max_retries=settings.retries,
    )


def _shown(observation: Observation) -> dict[str, Any]:
    parts: list[dict[str, Any]] = []
    for role, shot in observation.shots.items():
        height, width = shot.frame.shape[:2]
        url = f"data:image/png;base64,{base64.b64encode(shot.png).decode()}"
        parts.append({"type": "text", "text": f"{role}, {width} x {height} px:"})
        parts.append({"type": "image_url", "image_url": {"url": url}})
        if role in observation.trees:
            parts.append({"type": "text", "text": _listed(observation.trees[role])})
    return {"role": "user", "content": parts}


def _listed(elements: Sequence[Element]) -> str:
    """Give the named elements, one a line, with the place to click."""
    lines = [
        f"{each.role} {each.name[:80]!r} at {each.bounds.center}"
        for each in elements
        if each.name.strip()
    ]
    return "Elements:\n" + "\n".join(lines[:_ELEMENTS])


def _remembered(message: _Message) -> dict[str, Any]:
    kept: dict[str, Any] = {"role": "assistant", "content": message.content or ""}
    if message.tool_calls:
        kept["tool_calls"] = [
            {"id": call.id, "type": "function", "function": call.function.model_dump()}
            for call in message.tool_calls
        ]
    return kept


def _without_pictures(message: dict[str, Any]) -> dict[str, Any]:
    if isinstance(message["content"], list):
        return {**message, "content": _OMITTED}
    return message
