"""Errors of the client, mapped from the service's replies in one table.

::

    ServiceError                brief, details, resolution; code and status of the reply
    ├── AddressError            no usable address or token was given
    ├── UnreachableError        the service does not answer
    ├── ProtocolError           what answers is not a service of a known version
    ├── TokenError              the token is missing, invalid, or may only read
    ├── UnknownError            there is no such episode or picture
    ├── RequestError            a value in the request is invalid
    ├── StateConflictError      the state of the episode does not allow the request
    │   └── EpisodeOverError    the episode has ended
    ├── CapacityError           no machine was free in time; the key keeps the place
    ├── LateError               the operation continues in the service, past the deadline
    ├── InfrastructureError     machines or their host failed: not the agent's fault
    └── TaskFaultError          the task is faulty: not the agent's fault
"""

from __future__ import annotations

from http import HTTPStatus


class ServiceError(Exception):
    """A request to a service failed.

    Args:
        brief: one line on what happened.
        details: what is known about the cause.
        resolution: what the caller can do about it.
        code: the service's code of the error; empty if the service did not answer.
        status: HTTP status of the reply; 0 without one.
    """

    def __init__(
        self,
        brief: str,
        details: str = "",
        resolution: str = "",
        *,
        code: str = "",
        status: int = 0,
    ) -> None:
        super().__init__(brief, details, resolution)
        self.brief = brief
        self.details = details
        self.resolution = resolution
        self.code = code
        self.status = status

    def __str__(self) -> str:
        return "\n".join(part for part in (self.brief, self.details, self.resolution) if part)


class AddressError(ServiceError):
    """No usable address or token was given."""


class UnreachableError(ServiceError):
    """The service does not answer."""


class ProtocolError(ServiceError):
    """What answers is not a service of a known version."""


class TokenError(ServiceError):
    """The token is missing, invalid, or may only read."""


class UnknownError(ServiceError):
    """There is no such episode or picture."""


class RequestError(ServiceError):
    """A value in the request is invalid."""


class StateConflictError(ServiceError):
    """The state of the episode does not allow the request."""


class EpisodeOverError(StateConflictError):
    """The episode has ended."""


class CapacityError(ServiceError):
    """No machine was free in time; a request with the same key keeps its place in the queue."""


class LateError(ServiceError):
    """The operation continues in the service, past the deadline."""


class InfrastructureError(ServiceError):
    """Machines or their host failed: not the agent's fault."""


class TaskFaultError(ServiceError):
    """The task is faulty: not the agent's fault."""


_BY_CODE: dict[str, type[ServiceError]] = {
    "episode_over": EpisodeOverError,
    "no_capacity": CapacityError,
    "deadline": LateError,
    "infrastructure": InfrastructureError,
    "task_fault": TaskFaultError,
}
_BY_STATUS: dict[int, type[ServiceError]] = {
    HTTPStatus.BAD_REQUEST: RequestError,
    HTTPStatus.UNAUTHORIZED: TokenError,
    HTTPStatus.FORBIDDEN: TokenError,
    HTTPStatus.NOT_FOUND: UnknownError,
    HTTPStatus.CONFLICT: StateConflictError,
    HTTPStatus.UNPROCESSABLE_ENTITY: RequestError,
    HTTPStatus.TOO_MANY_REQUESTS: CapacityError,
    HTTPStatus.SERVICE_UNAVAILABLE: InfrastructureError,
    HTTPStatus.GATEWAY_TIMEOUT: LateError,
}
_TOKEN_HINT = (
    "Create one with `mesocosm service token add NAME --role operate`; set MESOCOSM_TOKEN."  # noqa: S105
)


def error_of(status: int, body: object) -> ServiceError:
    """Return the error that a reply describes.

    Args:
        status: HTTP status of the reply, 400 or above.
        body: its parsed JSON; None if it is not JSON.
    """
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict):
        return ProtocolError(
            f"A reply with status {status} is not that of a Mesocosm service.",
            resolution="Check the address: another program, or a proxy, may answer there.",
            status=status,
        )
    brief, details, resolution, code = (
        str(error.get(name, "")) for name in ("brief", "details", "resolution", "code")
    )
    kind = _BY_CODE.get(code) or _BY_STATUS.get(status, ServiceError)
    if kind is TokenError and not resolution:
        resolution = _TOKEN_HINT
    return kind(brief, details, resolution, code=code, status=status)
