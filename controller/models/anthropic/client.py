"""Sends requests to Anthropic's Messages API through its SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import finalize

from controller.models.anthropic.messages import beta_headers, read_reply, request_body
from controller.models.json_replies import load_reply
from controller.models.sdk_errors import failure_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.models.messages import Reply, Request
    from controller.models.settings import ModelSettings
    from foundation.clock import Clock

_MAX_TOKENS = 8192
"""Length of a reply where the settings have none: the API requires one."""


class AnthropicClient:
    """A client of one model.

    Args:
        settings: the model.
        clock: tells the time for pauses that servers request until a date.
    """

    def __init__(self, settings: ModelSettings, clock: Clock) -> None:
        from anthropic import Anthropic  # noqa: PLC0415 - an extra, slow to import

        self._settings = settings
        self._clock = clock
        self._sdk = Anthropic(
            base_url=settings.base_url,
            api_key=settings.api_key.get_secret_value() or "none",
            timeout=settings.timeout_s,
            max_retries=0,
        )
        finalize(self, self._sdk.close)

    def request(self, request: Request, log: Callable[[str], object]) -> Reply:
        """Send a request once and return the reply.

        Raises:
            UnansweredError: there is no usable reply.
            ModelRefusalError: the model refuses the request.
        """
        import anthropic  # noqa: PLC0415 - an extra, slow to import

        # The SDK has no parameters for sampling any more; older models accept them.
        extra: dict[str, Any] = self._settings.sampling() | self._settings.extra
        max_tokens = int(extra.pop("max_tokens", _MAX_TOKENS))
        try:
            raw = self._sdk.messages.with_raw_response.create(
                model=self._settings.name,
                max_tokens=max_tokens,
                extra_body=extra or None,
                extra_headers=beta_headers(request),
                **request_body(request),
            )
            text = raw.text()
        except anthropic.APITimeoutError as exc:
            raise TimeoutError from exc
        except anthropic.AnthropicError as exc:
            raise failure_of(exc, self._settings.endpoint, self._clock.now_s()) from None
        log(text)
        return read_reply(load_reply(text, "a message", "content", self._settings.endpoint))
