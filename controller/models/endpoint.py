"""Query an OpenAI-compatible endpoint with deadlines, retries and an outage budget."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from controller.models.failures import (
    RETRIED,
    SERVER_ERROR,
    UnansweredError,
    advice,
    asked_pause_s,
    clean,
    explain,
    is_refusal,
    message_of,
    name_of,
    shorten,
)
from controller.models.outage import FIRST_PAUSE_S, MAX_PAUSE_S
from controller.models.reply import read_reply
from foundation.bounded import CallThread, NoAnswerError
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import AgentError, ModelRefusalError, ModelUnavailableError
from foundation.masking import mask, redact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import openai

    from controller.models.reply import Reply
    from controller.models.settings import ModelSettings
    from foundation.clock import Clock

_LOG = logging.getLogger(__name__)
_MAX_KEPT_CHARS = 10_000_000
_ENTRY_CHARS = 100_000
"""Maximum length of a reply in one entry of the log, which may have ten times as many as JSON."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome of a request.

    Attributes:
        reply: the endpoint's reply.
        outage_s: seconds spent on unanswered requests before it.
    """

    reply: Reply
    outage_s: float


def _ignore(_kind: str, **_data: object) -> None:
    """Discard a log entry."""


class ModelEndpoint:
    """A model's endpoint, used by one agent in one trial.

    Args:
        settings: the model, with its timeouts and retries.
        clock: measures outages and waits between retries.
        write: receives an entry for each request: the reply, or why there was none.

    Attributes:
        outage_s: seconds that the trial has lost to outages so far.
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
        """Request a chat completion and return the endpoint's reply.

        Args:
            messages: the conversation.
            tools: tools that the model may call.
            seed: sampling seed; None sends none.

        Raises:
            ModelRefusalError: the model refuses, or the request is too large for it.
            ModelUnavailableError: the model cannot be reached despite retries, or the trial's
                outage budget is used up.
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
        """Retry until there is a reply, within the limits for unusable replies and outages."""
        unusable = 0
        self._connect()  # its slow import must not count as an outage
        for pause_s in _pauses():
            start_s = self._clock.monotonic_s()
            try:
                return _accepted(self._request(messages, tools, seed))
            except UnansweredError as exc:
                self._write("unanswered", why=f"{exc.brief} {exc.details}".strip())
                unusable += exc.is_reply
                self.outage_s += self._clock.monotonic_s() - start_s
                if unusable <= self._settings.retries:
                    self._pause(exc, pause_s)
                    if self.outage_s < self._settings.outage_s:
                        continue
                raise self._unavailable(exc) from None
        raise AssertionError

    def _pause(self, error: UnansweredError, pause_s: float) -> None:
        """Wait as long as the server requests, or else `pause_s`; warn once per trial."""
        pause_s = pause_s if error.pause_s is None else error.pause_s
        pause_s = min(pause_s, max(0.0, self._settings.outage_s - self.outage_s))
        if not self._is_warned and pause_s > 0:
            self._is_warned = True
            why = f"{error.brief} {error.message}".strip().rstrip(".")
            _LOG.warning("%s: %s. Retrying in %g s.", self._settings.name, why, pause_s)
        self._clock.sleep(pause_s)
        self.outage_s += pause_s

    def _unavailable(self, error: UnansweredError) -> ModelUnavailableError:
        return ModelUnavailableError(
            f"The model {self._settings.name!r} is unavailable: {error.brief}",
            details=error.details,
            resolution=error.resolution,
        )

    def _request(
        self, messages: list[dict[str, Any]], tools: list[dict[str, Any]], seed: int | None
    ) -> Reply:
        import openai  # noqa: PLC0415 - an extra, slow to import

        client = self._connect()

        def send() -> Reply:
            raw = client.chat.completions.with_raw_response.create(
                model=self._settings.name,
                messages=messages,  # type: ignore[arg-type]  # already in wire format
                tools=tools or openai.omit,  # type: ignore[arg-type]  # servers reject an empty list
                extra_body=({} if seed is None else {"seed": seed}) | self._settings.extra,
                **self._settings.sampling(),
            )
            return self._read(raw.text)

        try:
            with CallThread() as thread:
                return thread.run(send, timeout_s=self._settings.timeout_s)
        except NoAnswerError as exc:
            # Its connection may still be open in the abandoned thread.
            self._client = None
            raise self._hung(exc.brief) from None
        except openai.APITimeoutError:
            # The client's own timeout, which is as long as ours, expired first.
            raise self._hung(f"No answer within {self._settings.timeout_s:g} s.") from None
        except ValidationError as exc:
            raise self._unusable(exc) from None
        except openai.OpenAIError as exc:
            raise self._mapped(exc) from None

    def _read(self, text: str) -> Reply:
        """Log a raw reply, in several entries if it is long, and parse it.

        Raises:
            ValidationError: the reply is not a chat completion.
        """
        raw = mask(text)[:_MAX_KEPT_CHARS]
        self._write("reply", raw=raw[:_ENTRY_CHARS])
        for begin in range(_ENTRY_CHARS, len(raw), _ENTRY_CHARS):
            self._write("reply_continued", raw=raw[begin : begin + _ENTRY_CHARS])
        reply = read_reply(text)
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

    def _hung(self, brief: str) -> UnansweredError:
        return UnansweredError(
            brief,
            f"{self._settings.endpoint} sent neither a complete reply nor an error.",
            "Check whether its server is stuck or overloaded, or increase MESOCOSM_MODEL_TIMEOUT_S "
            f"({self._settings.timeout_s:g} s).",
        )

    def _unusable(self, error: ValidationError) -> UnansweredError:
        unusable = UnansweredError(
            "the reply is not a chat completion.",
            clean("\n".join(_lines(error))),
            f"Check that {self._settings.endpoint} is the address of an OpenAI-compatible API; "
            "such addresses often end in /v1.",
        )
        unusable.is_reply = True
        unusable.message = shorten(next(_lines(error)))
        return unusable

    def _mapped(self, error: openai.OpenAIError) -> AgentError | UnansweredError:
        """Map an SDK error to ours."""
        detail = explain(error)
        status = getattr(error, "status_code", None)
        if status is not None and is_refusal(status, detail):
            name = type(error).__name__
            refusal = ModelRefusalError(f"The model refused the request: {name}.", detail)
            refusal.status = status
            return refusal
        unanswered = UnansweredError(
            name_of(error), detail, advice(status, self._settings.endpoint, error.__cause__)
        )
        unanswered.message = message_of(error)
        unanswered.pause_s = asked_pause_s(getattr(error, "response", None), self._clock.now_s())
        if status is None or status in RETRIED or status >= SERVER_ERROR:
            return unanswered
        return self._unavailable(unanswered)


def _lines(error: ValidationError) -> Iterator[str]:
    """Yield what is wrong with a reply, starting with the server's own error message, if any."""
    rows = error.errors(include_url=False)
    cause = rows[0]["input"].get("error") if isinstance(rows[0]["input"], dict) else None
    if cause:
        yield f"Server message: {cause.get('message', cause) if isinstance(cause, dict) else cause}"
    for row in rows:
        yield f"{'.'.join(map(str, row['loc'])) or 'reply'}: {row['msg']}"


def _pauses() -> Iterator[float]:
    """Yield the pause after each unanswered request, in seconds."""
    pause_s = FIRST_PAUSE_S
    while True:
        yield pause_s
        pause_s = min(MAX_PAUSE_S, 2 * pause_s)


def _accepted(reply: Reply) -> Reply:
    choice = reply.choices[0]
    message = choice.message
    about = f"finish reason: {choice.finish_reason}"
    if message.reasoning:
        about += f"\nreasoning: {message.reasoning[1]}"
    if message.refusal:
        brief, text = "The model refuses.", message.refusal
    elif choice.finish_reason == "content_filter":
        brief, text = (
            "The model's reply was withheld by its content filter.",
            message.content or "",
        )
    else:
        return reply
    refusal = ModelRefusalError(brief, clean(f"{text}\n{about}".strip()))
    refusal.tokens = reply.tokens.tokens
    raise refusal
