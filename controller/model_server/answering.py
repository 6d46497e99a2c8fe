"""Answer requests by a script, and record what each member was sent."""

from __future__ import annotations

import hashlib
import json
import logging
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from controller.model_server.drafting import ForbiddenError, check, draft, matches
from controller.model_server.formats.anthropic import AnthropicApi
from controller.model_server.formats.chat import ChatApi
from controller.model_server.formats.google import GoogleApi
from controller.model_server.formats.responses import ResponsesApi
from controller.model_server.seen import BadRequestError
from controller.models.failures import RefusedRequestError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from controller.model_server.formats.api import Api
    from controller.model_server.script import Rule, Script
    from controller.model_server.seen import Seen

_log = logging.getLogger(__name__)
APIS: tuple[Api, ...] = (ChatApi(), ResponsesApi(), AnthropicApi(), GoogleApi())
"""The APIs that the server speaks, told apart by their paths."""

JSON, _EVENTS = "application/json", "text/event-stream"
_OK, _INVALID, _UNKNOWN_KEY, _UNKNOWN = 200, 400, 401, 404


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP response.

    Attributes:
        status: its status.
        content: its body.
        kind: its content type.
        rule: the rule that it follows; None for errors that no rule asks for.
    """

    status: int
    content: bytes
    kind: str = JSON
    rule: Rule | None = None


class Responder:
    """Answers requests; thread-safe.

    Args:
        script: what it replies.
        note: receives a record of each request, as JSON: model, status, what was sent and replied.

    Attributes:
        records: these records.
        violations: requests whose content was forbidden, or that no rule answers.
    """

    def __init__(self, script: Script, note: Callable[[dict[str, Any]], object]) -> None:
        self._script = script
        self._note = note
        self._lock = threading.Lock()
        self._used: dict[tuple[str, int], int] = {}
        self._number = 0
        self.records: list[dict[str, Any]] = []
        self.violations: list[str] = []

    def models(self) -> Answer:
        """Return the list of models."""
        rows = [{"id": name, "object": "model"} for name in self._script.members]
        return Answer(_OK, json.dumps({"object": "list", "data": rows}).encode())

    def answer(self, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Return the response to a request.

        Args:
            path: its path, without a query.
            headers: its headers, with names in lower case.
            body: its body.
        """
        found = next(((api, name) for api in APIS if (name := api.match(path)) is not None), None)
        if found is None:
            message = f"no API has the path {path}"
            return Answer(_UNKNOWN, json.dumps({"error": {"message": message}}).encode())
        api, model = found
        seen: Seen | None = None
        try:
            seen = api.read(_object(body), model, path)
            answer, reply = self._reply(api, seen, headers)
        except BadRequestError as exc:
            answer, reply = _error(api, _INVALID, f"invalid request: {exc.brief}")
        except ForbiddenError as exc:
            answer, reply = _error(api, _INVALID, f"the script forbids this: {exc.brief}")
            self._violate(exc.brief)
        except RefusedRequestError as exc:
            answer, reply = _error(api, exc.status, exc.brief)
        self._record(answer.status, seen, reply)
        return answer

    def _reply(self, api: Api, seen: Seen, headers: Mapping[str, str]) -> tuple[Answer, object]:
        """Return the response to a request that was read, and the reply or error in it.

        Raises:
            RefusedRequestError: the model is unknown, or the key wrong.
            ForbiddenError: the request has forbidden content, or no rule answers it.
        """
        rule = self._rule(api, seen, headers)
        with self._lock:
            self._number += 1
            number = self._number
        if rule.status != _OK:
            error = api.error(rule.status, rule.message)
            return Answer(rule.status, _bytes(error), rule=rule), error
        if rule.raw is not None:
            return Answer(_OK, _bytes(rule.raw), rule=rule), rule.raw
        reply = api.write(draft(rule, seen, number), seen.model)
        if seen.is_streamed:
            return Answer(_OK, _streamed(api, reply), _EVENTS, rule), reply
        return Answer(_OK, _bytes(reply), rule=rule), reply

    def _rule(self, api: Api, seen: Seen, headers: Mapping[str, str]) -> Rule:
        member = self._script.members.get(seen.model)
        if member is None:
            raise RefusedRequestError(_UNKNOWN, f"there is no model {seen.model!r}")
        if member.key and api.key(headers) != member.key:
            raise RefusedRequestError(_UNKNOWN_KEY, "the key is wrong")
        check(member, seen)
        with self._lock:
            for place, rule in enumerate(member.rules):
                used = self._used.get((seen.model, place), 0)
                if (rule.times is None or used < rule.times) and matches(rule.when, seen):
                    self._used[seen.model, place] = used + 1
                    return rule
        shown = seen.recent[:200]
        raise ForbiddenError(f"no rule of {seen.model} answers turn {seen.turn}: {shown!r}")

    def _violate(self, message: str) -> None:
        _log.warning("%s", message)
        with self._lock:
            self.violations.append(message)

    def _record(self, status: int, seen: Seen | None, reply: object) -> None:
        record: dict[str, Any] = {"status": status, "reply": reply}
        if seen is not None:
            record |= {
                "model": seen.model,
                "turn": seen.turn,
                "system": seen.system,
                "text": seen.recent,
                "images": [hashlib.sha256(image).hexdigest() for image in seen.images],
                "tools": seen.tools,
            }
        with self._lock:
            self.records.append(record)
            self._note(record)


def _error(api: Api, status: int, message: str) -> tuple[Answer, object]:
    error = api.error(status, message)
    return Answer(status, _bytes(error)), error


def _object(body: bytes) -> dict[str, Any]:
    try:
        values = json.loads(body)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise BadRequestError("the body is not a JSON object")
    return values


def _bytes(reply: object) -> bytes:
    text = reply if isinstance(reply, str) else json.dumps(reply)
    return text.encode(errors="surrogatepass")


def _streamed(api: Api, reply: dict[str, Any]) -> bytes:
    lines: list[str] = []
    for name, data in api.events(reply):
        lines += [f"event: {name}"] if name else []
        lines += [f"data: {data if isinstance(data, str) else json.dumps(data)}", ""]
    return "\n".join((*lines, "")).encode()
