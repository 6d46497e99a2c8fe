"""Tools of a server, described and validated like actions."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import jsonschema
from pydantic import BaseModel

from evaluators.schema import Tool
from foundation.errors import SpecError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from foundation.errors import MesocosmError
    from provisioning.protocols import Json

_SHOWN_CHARS = 300


class _Anything(BaseModel):
    """The fields of a tool whose arguments a JSON schema describes."""


@dataclass(frozen=True, slots=True)
class ServedTool(Tool):
    """A tool of a server.

    Attributes:
        machine: role of the machine that its server runs on.
        is_distractor: whether the task declares its server useless.
        schema: JSON schema of its arguments, as the server sent it.
    """

    arguments: type[BaseModel] = _Anything
    machine: str = ""
    is_distractor: bool = False
    schema: Mapping[str, Any] = field(default_factory=dict)

    def parameters(self) -> dict[str, Any]:
        """Return the JSON schema of the arguments."""
        return {"type": "object", "properties": {}, **self.schema}

    def check(
        self, args: Mapping[str, Json], *, error: type[MesocosmError] = SpecError
    ) -> dict[str, Any]:
        """Validate arguments by the server's schema, and return them.

        Raises:
            MesocosmError: there are wrong arguments; the class is `error`.
        """
        try:
            values = json.loads(json.dumps(dict(args)))
            jsonschema.validate(values, self.parameters())
        except jsonschema.ValidationError as exc:
            where = ".".join(map(str, exc.absolute_path)) or "arguments"
            message = f"{where}: {_shortened(exc.message)}"
            raise error(f"Wrong arguments for {self.name}: {message}") from exc
        except (TypeError, ValueError, RecursionError, jsonschema.SchemaError) as exc:
            raise error(f"Wrong arguments for {self.name}: {_shortened(str(exc))}") from exc
        return dict(values)


def _shortened(message: str) -> str:
    """Return a message whose middle, which quotes the arguments, is left out if it is long."""
    if len(message) <= _SHOWN_CHARS:
        return message
    half = _SHOWN_CHARS // 2
    return f"{message[:half]}...{message[-half:]}"
