"""Sends requests to an OpenAI-compatible endpoint through OpenAI's SDK."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from weakref import finalize

from pydantic import ValidationError

from controller.models.failures import unusable_reply
from controller.models.openai.reply import read_reply
from controller.models.openai.requests import chat_message, chat_tool
from controller.models.sdk_errors import failure_of
from foundation.errors import ModelRefusalError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from controller.models.failures import UnansweredError
    from controller.models.messages import Reply, Request
    from controller.models.settings import ModelSettings
    from foundation.clock import Clock

_REASONING = "reasoning_content"
_SEED = re.compile(r"\bseed\b", re.IGNORECASE)


class OpenAIClient:
    """A client of one model, which adapts to what its server rejects.

    Some servers reject a conversation without the model's reasoning, others one with it; some do
    not accept a seed.

    Args:
        settings: the model.
        clock: tells the time for pauses that servers request until a date.
    """

    def __init__(self, settings: ModelSettings, clock: Clock) -> None:
        from openai import OpenAI  # noqa: PLC0415 - an extra, slow to import

        self._settings = settings
        self._clock = clock
        self._returns_reasoning = False
        self._sends_seed = True
        self._sdk = OpenAI(
            base_url=settings.base_url,
            api_key=settings.api_key.get_secret_value() or "none",
            timeout=settings.timeout_s,
            max_retries=0,
        )
        finalize(self, self._sdk.close)

    def request(self, request: Request, log: Callable[[str], object]) -> Reply:
        """Send a request and return the reply; send it again if it can be adapted to a rejection.

        Raises:
            UnansweredError: there is no usable reply.
            ModelRefusalError: the model refuses the request.
        """
        while True:
            try:
                return self._send(request, log)
            except ModelRefusalError as exc:
                if not self._yields_to(exc, request):
                    raise

    def _send(self, request: Request, log: Callable[[str], object]) -> Reply:
        import openai  # noqa: PLC0415 - an extra, slow to import

        messages = [
            chat_message(message, with_reasoning=self._returns_reasoning)
            for message in request.messages
        ]
        tools = [chat_tool(tool) for tool in request.tools]
        is_seeded = request.seed is not None and self._sends_seed
        try:
            raw = self._sdk.chat.completions.with_raw_response.create(
                model=self._settings.name,
                messages=messages,  # type: ignore[arg-type]  # already in wire format
                tools=tools or openai.omit,  # type: ignore[arg-type]  # servers reject an empty list
                extra_body=({"seed": request.seed} if is_seeded else {}) | self._settings.extra,
                **self._settings.sampling(),
            )
            text = raw.text
        except openai.APITimeoutError as exc:
            raise TimeoutError from exc
        except openai.OpenAIError as exc:
            raise failure_of(exc, self._settings.endpoint, self._clock.now_s()) from None
        log(text)
        try:
            return read_reply(text).neutral()
        except ValidationError as exc:
            raise _unusable(exc, self._settings.endpoint) from None

    def _yields_to(self, refusal: ModelRefusalError, request: Request) -> bool:
        """Adapt to a server that rejected a request; return whether to send it again."""
        if _REASONING in refusal.details and not self._returns_reasoning:
            self._returns_reasoning = True
            return True
        if _SEED.search(refusal.details) and request.seed is not None and self._sends_seed:
            self._sends_seed = False
            return True
        return False


def _unusable(error: ValidationError, endpoint: str) -> UnansweredError:
    return unusable_reply(
        "a chat completion",
        "\n".join(_lines(error)),
        next(_lines(error)),
        f"Check that {endpoint} is the address of an OpenAI-compatible API; "
        "such addresses often end in /v1.",
    )


def _lines(error: ValidationError) -> Iterator[str]:
    """Yield what is wrong with a reply, starting with the server's own error message, if any."""
    rows = error.errors(include_url=False)
    cause = rows[0]["input"].get("error") if isinstance(rows[0]["input"], dict) else None
    if cause:
        yield f"Server message: {cause.get('message', cause) if isinstance(cause, dict) else cause}"
    for row in rows:
        yield f"{'.'.join(map(str, row['loc'])) or 'reply'}: {row['msg']}"
