"""Sends requests to Google's Gemini API through its SDK.

The SDK is given the JSON of the API, and returns the reply unparsed: its own types reject what a model
writes wrongly, and lag behind the API.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any
from weakref import finalize

from controller.models.failures import Failure
from controller.models.google.messages import read_reply, request_body
from controller.models.json_replies import load_reply
from controller.models.sdk_errors import NOBODY_LISTENS

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.models.failures import UnansweredError
    from controller.models.messages import Reply, Request
    from controller.models.settings import ModelSettings
    from foundation.clock import Clock
    from foundation.errors import AgentError

VERSION = "v1beta"
_SAMPLING = {"temperature": "temperature", "top_p": "topP", "max_tokens": "maxOutputTokens"}
_REPLACED = "replaced by extra_body"


class GoogleClient:
    """A client of one model.

    Args:
        settings: the model.
        clock: tells the time for pauses that servers request until a date.
    """

    def __init__(self, settings: ModelSettings, clock: Clock) -> None:
        from google import genai  # noqa: PLC0415 - an extra, slow to import

        self._settings = settings
        self._clock = clock
        self._numbers = count()
        self._sdk = genai.Client(
            vertexai=False,
            api_key=settings.api_key.get_secret_value() or "none",
            http_options={
                "base_url": settings.base_url,
                "api_version": VERSION,
                "timeout": round(settings.timeout_s * 1000),
            },
        )
        finalize(self, self._sdk.close)

    def request(self, request: Request, log: Callable[[str], object]) -> Reply:
        """Send a request once and return the reply.

        Raises:
            UnansweredError: there is no usable reply.
            ModelRefusalError: the model refuses the request.
        """
        import httpx2  # noqa: PLC0415 - an extra
        from google.genai import errors  # noqa: PLC0415 - an extra, slow to import

        body = request_body(request)
        if config := self._config(request.seed):
            body["generationConfig"] = config
        try:
            response = self._sdk.models.generate_content(
                model=self._settings.name,
                contents=_REPLACED,
                config={
                    "should_return_http_response": True,
                    "http_options": {"extra_body": body | self._settings.extra},
                },
            )
        except httpx2.TimeoutException as exc:
            raise TimeoutError from exc
        except (errors.APIError, httpx2.HTTPError, ValueError) as exc:
            raise self._failure(exc) from None
        raw = response.sdk_http_response
        text = (raw.body if raw is not None else None) or ""
        log(text)
        data = load_reply(
            text,
            "a reply of generateContent",
            "candidates",
            self._settings.endpoint,
            instead="promptFeedback",
        )
        return read_reply(data, next(self._numbers))

    def _config(self, seed: int | None) -> dict[str, Any]:
        values = {_SAMPLING[name]: value for name, value in self._settings.sampling().items()}
        return values | ({} if seed is None else {"seed": seed})

    def _failure(self, error: Exception) -> AgentError | UnansweredError:
        response = getattr(error, "response", None)
        headers = {} if response is None else response.headers
        message = getattr(error, "message", None)
        return Failure(
            name=type(error).__name__,
            detail=str(error),
            message=message if isinstance(message, str) else str(error),
            status=getattr(error, "code", None),
            headers=headers,
            is_listening=type(error).__name__ != NOBODY_LISTENS,
        ).error(self._settings.endpoint, self._clock.now_s())
