"""The interface of adapters: one for each vendor's API.

An adapter is a folder beside this module and a row of the table in `adapters`. It alone knows the
vendor's wire format: to send requests (`ModelClient`) and to let programs without the key send them
(`GatewayRules`). Deadlines, retries, outages and logs are not its business.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from controller.models.messages import Reply, Request
    from controller.models.settings import ModelSettings
    from controller.models.usage import Usage
    from foundation.clock import Clock


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an API can carry; whether a model can use it is found by preflight.

    Attributes:
        vision: pictures in messages.
        tools: calls of tools.
        seed: a sampling seed.
    """

    vision: bool = True
    tools: bool = True
    seed: bool = True


class ModelClient(Protocol):
    """Sends requests to one model, for one agent in one trial."""

    def request(self, request: Request, log: Callable[[str], object]) -> Reply:
        """Send a request once and return the reply.

        Args:
            request: the request.
            log: called with the raw text of the reply, before it is parsed.

        Raises:
            UnansweredError: there is no usable reply; see `controller.models.failures`.
            ModelRefusalError: the model refuses the request.
        """
        ...


class UsageReader(Protocol):
    """Reads the usage from the bytes of a reply as they pass, streamed or not."""

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes."""
        ...

    def usage(self) -> Usage:
        """Return the usage that the reply reports; counts that it does not report are unknown."""
        ...


@dataclass(frozen=True, slots=True)
class Route:
    """A request that programs may send.

    Attributes:
        method: its HTTP method.
        is_call: whether it asks the model: its body names the model, and its reply is billed.
    """

    method: str
    is_call: bool = True


class GatewayRules(Protocol):
    """What a program may send to a vendor's API through the gateway, which has the key."""

    prefix: str
    """Start of the paths that programs request; the endpoint's address replaces it."""

    def routes(self, model: str) -> Mapping[str, Route]:
        """Return the requests that are forwarded to a model, by path."""
        ...

    def check(self, body: bytes, model: str) -> tuple[bytes, str]:
        """Return the body of a call as it is forwarded, and its content type.

        Only what was checked is forwarded, so that the endpoint cannot read it differently.

        Raises:
            RefusedRequestError: it is malformed or for another model.
        """
        ...

    def headers(self, settings: ModelSettings) -> Mapping[str, str]:
        """Return the headers that authenticate a request."""
        ...

    def error(self, message: str) -> tuple[bytes, str]:
        """Return the body of an error in the vendor's format, and its content type."""
        ...

    def read_usage(self, content_type: str) -> UsageReader:
        """Return the reader of a call's reply.

        Args:
            content_type: the reply's content type.
        """
        ...

    def environment(self, base_url: str) -> Mapping[str, str]:
        """Return the variables from which the vendor's SDK reads an address, and a dummy key."""
        ...


class Adapter(Protocol):
    """Everything about one vendor's API."""

    capabilities: Capabilities
    default_url: str
    """Address of the vendor's API; empty if settings must have one."""
    own_fields: frozenset[str]
    """Fields of requests that the adapter sets: settings must not set them as `extra`."""
    texts: tuple[str, ...]
    """All texts in which its replies name what is malformed, for the digest of prompts."""
    gateway: GatewayRules

    def require(self) -> None:
        """Verify that its packages are installed, without importing them.

        Raises:
            RequirementError: one is missing.
        """
        ...

    def load(self) -> None:
        """Import its packages, which may take seconds that no agent must be charged for."""
        ...

    def connect(self, settings: ModelSettings, clock: Clock) -> ModelClient:
        """Return a client of the model.

        Args:
            settings: the model, with its timeout.
            clock: tells the time for pauses that servers request until a date.
        """
        ...
