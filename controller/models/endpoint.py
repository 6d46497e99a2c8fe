"""Query a model with deadlines, retries and an outage budget, through its vendor's adapter."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from controller.models.adapters import find_adapter
from controller.models.conversation import Conversation
from controller.models.failures import UnansweredError, clean
from controller.models.messages import Stop
from controller.models.outage import FIRST_PAUSE_S, MAX_PAUSE_S
from foundation.bounded import CallThread, NoAnswerError
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import AgentError, ModelRefusalError, ModelUnavailableError
from foundation.masking import mask, redact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from controller.models.client import ModelClient
    from controller.models.messages import Reply, Request
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
        settings: the model, with its adapter, timeouts and retries.
        clock: measures outages and waits between retries.
        write: receives entries for each request: what is sent, the reply, or why there was none.
        keep: receives each picture that is sent for the first time, with its media type; without it,
            what is sent is not recorded.

    Attributes:
        outage_s: seconds that the trial has lost to outages so far.

    Raises:
        UnknownNameError: there is no such adapter.
    """

    def __init__(
        self,
        settings: ModelSettings,
        clock: Clock = SYSTEM_CLOCK,
        write: Callable[..., object] = _ignore,
        keep: Callable[[bytes, str], object] | None = None,
    ) -> None:
        for secret in settings.secrets():
            redact(secret)
        self._settings = settings
        self._adapter = find_adapter(settings.adapter)
        self._clock = clock
        self._write = write
        self._conversation = None if keep is None else Conversation(write, keep)
        self._warnings: set[str] = set()
        self._is_warned = False
        self._client: ModelClient | None = None
        self.outage_s = 0.0

    def ask(self, request: Request) -> Answer:
        """Send a request until it is answered, and return the endpoint's reply.

        Raises:
            ModelRefusalError: the model refuses, or the request is too large for it.
            ModelUnavailableError: the model cannot be reached despite retries, or the trial's
                outage budget is used up.
        """
        before_s = self.outage_s
        if self._conversation is not None:
            self._conversation.ask(request)
        try:
            reply = self._ask(request)
        except AgentError as exc:
            exc.outage_s = self.outage_s - before_s
            raise
        return Answer(reply, self.outage_s - before_s)

    def _ask(self, request: Request) -> Reply:
        """Retry until there is a reply, within the limits for unusable replies and outages."""
        unusable = 0
        self._connect()  # its slow import must not count as an outage
        for pause_s in _pauses():
            start_s = self._clock.monotonic_s()
            try:
                reply = self._request(request)
                if self._conversation is not None:
                    self._conversation.answer(reply, self._clock.monotonic_s() - start_s)
                return _accepted(reply)
            except UnansweredError as exc:
                if exc.is_final:
                    raise self._unavailable(exc) from None
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

    def _request(self, request: Request) -> Reply:
        client = self._connect()
        try:
            with CallThread() as thread:
                reply = thread.run(
                    lambda: client.request(request, self._log_reply),
                    timeout_s=self._settings.timeout_s,
                )
        except NoAnswerError as exc:
            # Its connection may still be open in the abandoned thread.
            self._client = None
            raise self._hung(exc.brief) from None
        except TimeoutError:
            # The client's own timeout, which is as long as ours, expired first.
            raise self._hung(f"No answer within {self._settings.timeout_s:g} s.") from None
        for warning in set(reply.warnings) - self._warnings:
            _LOG.warning("%s: %s", self._settings.name, warning)
            self._write("warning", text=warning)
        self._warnings.update(reply.warnings)
        return reply

    def _log_reply(self, text: str) -> None:
        """Log a raw reply, in several entries if it is long."""
        raw = mask(text)[:_MAX_KEPT_CHARS]
        self._write("reply", raw=raw[:_ENTRY_CHARS])
        for begin in range(_ENTRY_CHARS, len(raw), _ENTRY_CHARS):
            self._write("reply_continued", raw=raw[begin : begin + _ENTRY_CHARS])

    def _connect(self) -> ModelClient:
        if self._client is None:
            self._client = self._adapter.connect(self._settings, self._clock)
        return self._client

    def _hung(self, brief: str) -> UnansweredError:
        return UnansweredError(
            brief,
            f"{self._settings.endpoint} sent neither a complete reply nor an error.",
            "Check whether its server is stuck or overloaded, or increase MESOCOSM_MODEL_TIMEOUT_S "
            f"({self._settings.timeout_s:g} s).",
        )


def _pauses() -> Iterator[float]:
    """Yield the pause after each unanswered request, in seconds."""
    pause_s = FIRST_PAUSE_S
    while True:
        yield pause_s
        pause_s = min(MAX_PAUSE_S, 2 * pause_s)


_REFUSALS = {
    Stop.REFUSED: "The model refuses.",
    Stop.FILTERED: "The model's reply was withheld by its content filter.",
}


def _accepted(reply: Reply) -> Reply:
    if reply.stop not in _REFUSALS:
        return reply
    about = f"finish reason: {reply.finish_reason}"
    if reply.message.reasoning:
        about += f"\nreasoning: {reply.message.reasoning}"
    brief, text = _REFUSALS[reply.stop], reply.message.text
    refusal = ModelRefusalError(brief, clean(f"{text}\n{about}".strip()))
    refusal.tokens = reply.usage.tokens
    raise refusal
