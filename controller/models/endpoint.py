"""Ask an OpenAI-compatible endpoint, with deadlines, retries and a budget for its outages."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from appliance.base.bounded import CallThread, NoAnswerError
from appliance.base.clock import SYSTEM_CLOCK
from appliance.base.errors import (
    AgentError,
    MesocosmError,
    ModelRefusalError,
    ModelUnavailableError,
)
from appliance.base.masking import mask, redact
from controller.models.reply import Reply

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import openai

    from appliance.base.clock import Clock
    from controller.models.settings import ModelSettings

_LOG = logging.getLogger(__name__)
_FIRST_PAUSE_S = 0.5
_MAX_PAUSE_S = 8.0
_MAX_ASKED_PAUSE_S = 60.0
_MAX_DETAIL_CHARS = 2000
_MAX_KEPT_CHARS = 100_000
_RETRIED = frozenset({408, 409, 425, 429})
_REFUSED = frozenset({400, 413, 422})
_SERVER_ERROR = 500
_TOO_LARGE = re.compile(
    r"context.{0,20}(length|window|size)|too (large|long|many tokens)|maximum.{0,40}tokens",
    re.IGNORECASE,
)
_FLAGGED = re.compile(r"content.{0,3}(policy|filter)|moderation|flagged|safety", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a request came to.

    Attributes:
        reply: of the endpoint.
        outage_s: seconds waited before it, for requests that were not answered.
    """

    reply: Reply
    outage_s: float


class _UnansweredError(MesocosmError):
    """One request was not answered; another may be."""

    code = "unanswered"
    pause_s: float | None = None
    is_reply: bool = False


def _ignore(_kind: str, **_data: object) -> None:
    """Drop a line."""


class ModelEndpoint:
    """One model, asked by one agent for one trial.

    Args:
        settings: which model, and how patiently it is asked.
        clock: measures outages and waits between retries.
        write: takes a line for each request: what was replied, or why nothing was.

    Attributes:
        outage_s: how long the trial has waited for it in vain so far.
    """

    def __init__(
        self,
        settings: ModelSettings,
        clock: Clock = SYSTEM_CLOCK,
        write: Callable[..., object] = _ignore,
    ) -> None:
        for secret in settings.secrets():
            redact(secret)
        self._settings = settings
        self._clock = clock
        self._write = write
        self._warnings: set[str] = set()
        self._is_warned = False
        self._client: openai.OpenAI | None = None
        self.outage_s = 0.0

    def ask(
        self,
        messages: list[dict[str, Any]],
        tools: list[dict[str, Any]],
        *,
        seed: int | None = None,
    ) -> Answer:
        """Send a chat completion and return what the endpoint replied.

        Args:
            messages: of the conversation.
            tools: that the model may call.
            seed: of its sampling; None sends none.

        Raises:
            ModelRefusalError: the model refuses, or the request is too large for it.
            ModelUnavailableError: it cannot be reached, retries included, or the trial has no
                patience left for it.
        """
        before_s = self.outage_s
        try:
            reply = self._ask(messages, tools, seed)
        except AgentError as exc:
            exc.outage_s = self.outage_s - before_s
            raise
        return Answer(reply, self.outage_s - before_s)

    def _ask(
        self, messages: list[dict[str, Any]], tools: list[dict[str, Any]], seed: int | None
    ) -> Reply:
        """Ask until there is a reply, within the bounds of unusable replies and of outages."""
        unusable = 0
        self._connect()  # its import takes a while that is no outage
        for pause_s in _pauses():
            start_s = self._clock.monotonic_s()
            try:
                return _accepted(self._request(messages, tools, seed))
            except _UnansweredError as exc:
                self._warn(exc)
                self._write("unanswered", why=f"{exc.brief} {exc.details}".strip())
                unusable += exc.is_reply
                self.outage_s += self._clock.monotonic_s() - start_s
                if unusable <= self._settings.retries:
                    self._pause(pause_s if exc.pause_s is None else exc.pause_s)
                    if self.outage_s < self._settings.outage_s:
                        continue
                raise self._unavailable(exc.brief, exc.details) from None
        raise AssertionError

    def _warn(self, error: _UnansweredError) -> None:
        """Say once a trial that it waits."""
        if not self._is_warned:
            self._is_warned = True
            _LOG.warning("%s: %s It is asked again.", self._settings.name, error.brief)

    def _pause(self, pause_s: float) -> None:
        pause_s = min(pause_s, max(0.0, self._settings.outage_s - self.outage_s))
        self._clock.sleep(pause_s)
        self.outage_s += pause_s

    def _unavailable(self, brief: str, details: str) -> ModelUnavailableError:
        return ModelUnavailableError(
            f"The model {self._settings.name!r} could not be asked: {brief}",
            details=details,
            resolution=f"Check {self._settings.endpoint}, the model's name and its key.",
        )

    def _request(
        self, messages: list[dict[str, Any]], tools: list[dict[str, Any]], seed: int | None
    ) -> Reply:
        import openai  # noqa: PLC0415 - an extra, slow to import

        client = self._connect()

        def send() -> Reply:
            raw = client.chat.completions.with_raw_response.create(
                model=self._settings.name,
                messages=messages,  # type: ignore[arg-type]  # built to its wire form
                tools=tools,  # type: ignore[arg-type]
                extra_body=({} if seed is None else {"seed": seed}) | self._settings.extra,
                **self._settings.sampling(),
            )
            return self._read(raw.text)

        try:
            with CallThread() as thread:
                return thread.run(send, timeout_s=self._settings.timeout_s)
        except NoAnswerError as exc:
            # Its connection may still be open, in a thread that nobody waits for.
            self._client = None
            raise _UnansweredError(exc.brief) from None
        except ValidationError as exc:
            detail = _clean(str(exc))
            unusable = _UnansweredError("it sent what is no chat completion.", detail)
            unusable.is_reply = True
            raise unusable from None
        except openai.OpenAIError as exc:
            raise self._mapped(exc) from None

    def _read(self, text: str) -> Reply:
        """Keep what was sent, and read it.

        Raises:
            ValidationError: it is no chat completion.
        """
        self._write("reply", raw=mask(text)[:_MAX_KEPT_CHARS])
        reply = Reply.model_validate_json(text)
        for warning in set(reply.warnings) - self._warnings:
            _LOG.warning("%s: %s", self._settings.name, warning)
            self._write("warning", text=warning)
        self._warnings.update(reply.warnings)
        return reply

    def _connect(self) -> openai.OpenAI:
        from openai import OpenAI  # noqa: PLC0415 - an extra, slow to import

        if self._client is None:
            self._client = OpenAI(
                base_url=self._settings.base_url,
                api_key=self._settings.api_key.get_secret_value() or "none",
                timeout=self._settings.timeout_s,
                max_retries=0,
            )
        return self._client

    def _mapped(self, error: openai.OpenAIError) -> AgentError | _UnansweredError:
        """Return our error for one of the SDK's."""
        detail = _clean(_explained(error))
        name = type(error).__name__
        status = getattr(error, "status_code", None)
        if status is None:
            return _UnansweredError(f"{name}.", detail)
        if _is_refusal(status, detail):
            refusal = ModelRefusalError(f"The model refused the request: {name}.", detail)
            refusal.status = status
            return refusal
        if status in _RETRIED or status >= _SERVER_ERROR:
            unanswered = _UnansweredError(f"{name}.", detail)
            unanswered.pause_s = _asked_pause_s(getattr(error, "response", None))
            return unanswered
        return self._unavailable(f"{name}.", detail)


def _explained(error: openai.OpenAIError) -> str:
    """Return what an error says, with what the server said or what the network did."""
    more = getattr(getattr(error, "response", None), "text", "") or str(error.__cause__ or "")
    return "\n".join(dict.fromkeys(part for part in (str(error), more.strip()) if part))


def _clean(text: str) -> str:
    return mask(text)[:_MAX_DETAIL_CHARS]


def _pauses() -> Iterator[float]:
    """Return the pause after each request that is not answered, seconds."""
    pause_s = _FIRST_PAUSE_S
    while True:
        yield pause_s
        pause_s = min(_MAX_PAUSE_S, 2 * pause_s)


def _is_refusal(status: int, detail: str) -> bool:
    if status in _REFUSED:
        return True
    if status in _RETRIED:
        return False
    return bool(_FLAGGED.search(detail) if status < _SERVER_ERROR else _TOO_LARGE.search(detail))


def _accepted(reply: Reply) -> Reply:
    choice = reply.choices[0]
    message = choice.message
    about = f"finish reason: {choice.finish_reason}"
    if message.reasoning:
        about += f"\nreasoning: {message.reasoning[1]}"
    if message.refusal:
        raise ModelRefusalError("The model refuses.", _clean(f"{message.refusal}\n{about}"))
    if choice.finish_reason == "content_filter":
        raise ModelRefusalError(
            "The model's answer was withheld by its content filter.",
            _clean(f"{message.content or ''}\n{about}".strip()),
        )
    return reply


def _asked_pause_s(response: Any) -> float | None:  # noqa: ANN401 - the SDK's HTTP response
    """Return the pause that a server asks for, seconds; None when it asks for none or too long."""
    headers = {} if response is None else response.headers
    for name, unit_s in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            pause_s = float(headers.get(name, "")) * unit_s
        except ValueError:
            continue
        if 0 <= pause_s <= _MAX_ASKED_PAUSE_S:
            return pause_s
    return None
