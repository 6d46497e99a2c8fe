"""Sends requests to OpenAI's Responses API through its SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import finalize

from controller.models.json_replies import load_reply
from controller.models.openai_responses.items import read_reply, request_body
from controller.models.sdk_errors import failure_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.models.messages import Reply, Request
    from controller.models.settings import ModelSettings
    from foundation.clock import Clock


class ResponsesClient:
    """A client of one model.

    Args:
        settings: the model.
        clock: tells the time for pauses that servers request until a date.
    """

    def __init__(self, settings: ModelSettings, clock: Clock) -> None:
        from openai import OpenAI  # noqa: PLC0415 - an extra, slow to import

        self._settings = settings
        self._clock = clock
        self._sdk = OpenAI(
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
        import openai  # noqa: PLC0415 - an extra, slow to import

        values: dict[str, Any] = self._settings.sampling()
        if "max_tokens" in values:
            values["max_output_tokens"] = values.pop("max_tokens")
        try:
            raw = self._sdk.responses.with_raw_response.create(
                model=self._settings.name,
                extra_body=self._settings.extra or None,
                **request_body(request),
                **values,
            )
            text = raw.text
        except openai.APITimeoutError as exc:
            raise TimeoutError from exc
        except openai.OpenAIError as exc:
            raise failure_of(exc, self._settings.endpoint, self._clock.now_s()) from None
        log(text)
        return read_reply(load_reply(text, "a response", "output", self._settings.endpoint))
