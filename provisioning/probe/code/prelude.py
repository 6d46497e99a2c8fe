"""What the agent's Python kernel offers: `mouse` and `keyboard`, whose input comes from the host.

This file runs in the kernel, not in the probe.
"""

# mypy: ignore-errors
# ruff: noqa: C901, ANN001, ANN002, ANN003, ANN202, ANN204

from __future__ import annotations


def _make():  # one namespace, so that the kernel gets two names only
    import json

    def ask(name, **arguments):
        request = json.dumps({"do": name, "with": arguments})
        answer = json.loads(get_ipython().kernel.raw_input(request))  # noqa: F821 - of the kernel
        if answer.get("error"):
            raise RuntimeError(answer["error"])
        return answer.get("text")

    class Mouse:
        """The mouse of this desktop; coordinates are px of the screenshot, origin top left."""

        def __init__(self):
            self._place = [0, 0]

        def __repr__(self):
            return "mouse: move, click, down, up, drag, scroll, position"

        @property
        def position(self):
            """The place where this object has put the pointer last."""
            return tuple(self._place)

        def _to(self, x, y):
            return self._place if x is None else [int(x), int(y)]

        def _ask(self, name, place, **arguments):
            ask(name, x=place[0], y=place[1], **arguments)
            self._place = place

        def move(self, x, y):
            """Move to a place."""
            self._ask("move", self._to(x, y))

        def click(self, x=None, y=None, button="left", clicks=1, held=()):
            """Click at a place, or where the pointer is."""
            names = {
                ("left", 1): "click",
                ("left", 2): "double_click",
                ("left", 3): "triple_click",
                ("right", 1): "right_click",
                ("middle", 1): "middle_click",
            }
            if (button, clicks) not in names:
                raise ValueError("left clicks 1 to 3 times, right and middle once")
            self._ask(names[button, clicks], self._to(x, y), held=list(held))

        def down(self, x=None, y=None, button="left"):
            """Press a button and keep it pressed."""
            self._ask("mouse_down", self._to(x, y), button=button)

        def up(self, x=None, y=None, button="left"):
            """Move to a place, and release a button there."""
            self._ask("mouse_up", self._to(x, y), button=button)

        def drag(self, *points, button="left", held=(), seconds=0.5):
            """Press at the first point (x, y), move along the others, and release at the last."""
            path = [[int(x), int(y)] for x, y in points]
            ask("drag_path", points=path, button=button, held=list(held), seconds=seconds)
            self._place = path[-1]

        def scroll(self, notches=0, sideways=0, x=None, y=None):
            """Turn the wheel: positive is down and right."""
            self._ask("scroll", self._to(x, y), notches=int(notches), sideways=int(sideways))

    class Keyboard:
        """The keyboard of this desktop; keys have X's names, such as Return, ctrl, F2, a."""

        def __repr__(self):
            return "keyboard: type, press, hotkey, down, up"

        def type(self, text):
            """Type any text; a newline presses Return."""
            ask("type_text", text=str(text))

        def press(self, key, times=1, seconds=0):
            """Press and release a key."""
            ask("key", keys=[str(key)], times=int(times), seconds=seconds)

        def hotkey(self, *keys):
            """Press keys together, such as ("ctrl", "s")."""
            ask("key", keys=[str(key) for key in keys])

        def down(self, *keys):
            """Press keys and keep them pressed."""
            ask("key_down", keys=[str(key) for key in keys])

        def up(self, *keys):
            """Release keys."""
            ask("key_up", keys=[str(key) for key in keys])

    return Mouse(), Keyboard()


mouse, keyboard = _make()
del _make
