"""What the format of an API consists of, for the stand-in server."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from controller.model_server.drafting import Draft, DraftCall
    from controller.model_server.seen import Seen


class Api(Protocol):
    """Reads requests and writes replies of one API."""

    def match(self, path: str) -> str | None:
        """Return the model that a path names, empty if the body does; None for paths of other APIs."""
        ...

    def key(self, headers: Mapping[str, str]) -> str:
        """Return the API key of a request; names of headers are in lower case."""
        ...

    def read(self, body: dict[str, Any], model: str, path: str) -> Seen:
        """Return what a request contains.

        Raises:
            BadRequestError: it is not in the API's format.
        """
        ...

    def write(self, draft: Draft, model: str) -> dict[str, Any]:
        """Return a reply."""
        ...

    def events(self, reply: dict[str, Any]) -> Sequence[tuple[str, dict[str, Any] | str]]:
        """Return a reply as the names and data of server-sent events; names may be empty."""
        ...

    def error(self, status: int, message: str) -> dict[str, Any]:
        """Return the body of an error."""
        ...


def bearer(headers: Mapping[str, str]) -> str:
    """Return the token of the header Authorization."""
    return headers.get("authorization", "").removeprefix("Bearer ")


def as_text(call: DraftCall) -> str:
    """Return the arguments of a call as text."""
    return call.args if isinstance(call.args, str) else json.dumps(call.args)


def as_object(call: DraftCall) -> Any:  # noqa: ANN401 - malformed if the script says so
    """Return the arguments of a call as an object; text that is malformed stays text."""
    if not isinstance(call.args, str):
        return call.args
    try:
        return json.loads(call.args)
    except ValueError:
        return call.args


def present(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object without the fields that are None."""
    return {name: value for name, value in values.items() if value is not None}
