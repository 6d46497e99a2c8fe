"""Determine which layers of a PDF are off when the file is opened.

Source: ISO 32000-1, 8.11 (optional content).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_POLICIES: dict[str, Callable[[Iterable[object]], bool]] = {
    "/AllOn": all,
    "/AnyOn": any,
    "/AnyOff": lambda shown: not all(shown),
    "/AllOff": lambda shown: not any(shown),
}
"""Policies for showing content of several layers, given which layers are on."""


class Layers:
    """The layers of a file.

    Args:
        root: catalogue of the file.
    """

    def __init__(self, root: Any) -> None:  # noqa: ANN401 - pypdf's dictionary
        layers = root.get("/OCProperties", {})
        usual = layers.get("/D", {}) if layers else {}
        off = list(usual.get("/OFF", []))
        if usual.get("/BaseState") == "/OFF":
            shown = {layer.idnum for layer in usual.get("/ON", [])}
            off += [layer for layer in layers.get("/OCGs", []) if layer.idnum not in shown]
        self._off = frozenset(layer.idnum for layer in off)

    def is_off(self, layer: Any) -> bool:  # noqa: ANN401
        """Return whether content of a layer is not shown.

        Args:
            layer: reference to a layer or membership dictionary, or the dictionary itself; None for
                no layer.
        """
        return layer is not None and not self._is_on(layer)

    def _is_on(self, layer: Any) -> bool:  # noqa: ANN401
        entry = layer.get_object()
        if entry.get("/Type") != "/OCMD":
            return getattr(layer, "idnum", None) not in self._off
        if "/VE" in entry:
            return self._holds(entry["/VE"])
        groups = entry.get("/OCGs", [])
        members = groups.get_object() if hasattr(groups, "get_object") else groups
        shown = [
            self._is_on(group) for group in (members if isinstance(members, list) else [groups])
        ]
        return not shown or _POLICIES[entry.get("/P", "/AnyOn")](shown)

    def _holds(self, expression: Any) -> bool:  # noqa: ANN401
        """Return the value of a visibility expression: a layer, or a list that starts with an operator."""
        content = expression.get_object()
        if not isinstance(content, list):
            return self._is_on(expression)
        operator, *operands = content
        values = [self._holds(operand) for operand in operands]
        if operator == "/Not":
            return not values[0]
        return all(values) if operator == "/And" else any(values)
