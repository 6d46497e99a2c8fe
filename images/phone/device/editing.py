"""Edit the focused text field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from images.phone.device.apps.screen import MAX_FIELD_CHARS
from images.phone.device.ui.keyboard import DIGITS, LETTERS, MORE, SHIFT, SYMBOLS

if TYPE_CHECKING:
    from images.phone.device.apps.screen import Screen

_DIGITS = {str(number): str(number) for number in range(10)}
_LETTERS = {letter.upper(): letter for letter in "abcdefghijklmnopqrstuvwxyz"}
_SIGNS = {
    "SPACE": " ",
    "COMMA": ",",
    "PERIOD": ".",
    "MINUS": "-",
    "PLUS": "+",
    "EQUALS": "=",
    "SLASH": "/",
    "AT": "@",
    "POUND": "#",
    "STAR": "*",
    "SEMICOLON": ";",
    "APOSTROPHE": "'",
    "LEFT_BRACKET": "[",
    "RIGHT_BRACKET": "]",
    "BACKSLASH": "\\",
    "GRAVE": "`",
}
CHARACTERS = {**_DIGITS, **_LETTERS, **_SIGNS}
"""The characters that keys type, by key name."""


class Editor:
    """The focused field of a screen, if any.

    Args:
        screen: the foreground screen.
    """

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._name = str(screen.state.get("focus", ""))

    def type(self, text: str) -> None:
        """Insert text before the caret; a line break acts as ENTER."""
        for number, line in enumerate(text.replace("\r\n", "\n").split("\n")):
            if number:
                self.press("ENTER")
                self._name = str(self._screen.state.get("focus", ""))
            self._insert(line)

    def press(self, key: str) -> None:
        """Press a key; without a focused field or an action for the key, nothing happens."""
        if not self._name:
            return
        if key in CHARACTERS:
            self._insert(CHARACTERS[key])
        elif key in {"ENTER", "NUMPAD_ENTER", "SEARCH"}:
            if self._screen.is_multiline(self._name) and key != "SEARCH":
                self._insert("\n")
            else:
                self._screen.submit(self._name)
        elif key == "TAB":
            self._focus_next()
        else:
            self._move(key)

    def touch(self, key: str) -> None:
        """Handle a key of the soft keyboard: a character, an action, or the name of a page."""
        state = self._screen.state
        if key == SHIFT:
            state["shift"] = not state.get("shift", False)
        elif key in {LETTERS, SYMBOLS, MORE, DIGITS}:
            state["keyboard"] = key
            state.pop("shift", None)
        elif key == "HIDE":
            state["keyboard_hidden"] = True
        elif len(key) == 1:
            self._insert(key)
            state.pop("shift", None)
        else:
            self.press(key)

    def _kept(self) -> dict[str, Any]:
        fields = self._screen.state.setdefault("fields", {})
        kept: dict[str, Any] = fields.setdefault(self._name, {"text": "", "caret": 0})
        return kept

    def _insert(self, text: str) -> None:
        if not self._name or not text:
            return
        kept = self._kept()
        self._clear_marked(kept)
        room = max(0, MAX_FIELD_CHARS - len(kept["text"]))
        text, caret = text[:room], kept["caret"]
        kept["text"] = kept["text"][:caret] + text + kept["text"][caret:]
        kept["caret"] = caret + len(text)
        self._screen.edited(self._name)

    def _clear_marked(self, kept: dict[str, Any]) -> bool:
        """Delete the selected text; return False if there is none."""
        self._screen.state.pop("popup", None)
        if self._screen.state.pop("marked", None) != self._name or not kept["text"]:
            return False
        kept.update(text="", caret=0)
        self._screen.edited(self._name)
        return True

    def _move(self, key: str) -> None:
        kept = self._kept()
        if key in {"DEL", "FORWARD_DEL"} and self._clear_marked(kept):
            return
        text, caret = kept["text"], kept["caret"]
        if key == "DEL" and caret:
            kept["text"] = text[: caret - 1] + text[caret:]
            caret -= 1
            self._screen.edited(self._name)
        elif key == "FORWARD_DEL":
            kept["text"] = text[:caret] + text[caret + 1 :]
            self._screen.edited(self._name)
        elif key == "DPAD_LEFT":
            caret = max(0, caret - 1)
        elif key == "DPAD_RIGHT":
            caret = min(len(text), caret + 1)
        elif key == "MOVE_HOME":
            caret = 0
        elif key == "MOVE_END":
            caret = len(text)
        kept["caret"] = caret

    def _focus_next(self) -> None:
        """Move the focus to the next field of the window, and from the last to the first."""
        window = self._screen.dialog() or self._screen.content()
        names = [view.name for view in window.walk() if view.kind == "EditText"]
        if self._name in names:
            self._screen.focus(names[(names.index(self._name) + 1) % len(names)])
