"""Tests of the agent's Python kernel and shell, through the probe, on a real X server."""

from __future__ import annotations

import base64
import io
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import pytest
from PIL import Image

from controller.actions.code import run_python, run_shell
from foundation.clock import wait_until
from foundation.errors import ActionError, InvalidActionError
from provisioning.links.guest_io import LinkInput, LinkScreen
from tests.standins.desktop import SYSTEM_PYTHON, DesktopStandIn, desktop_on_host
from tests.tiers import STAND_IN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from provisioning.links.client import LinkClient

pytestmark = STAND_IN


def has_kernel() -> bool:
    probe = [SYSTEM_PYTHON, "-I", "-c", "import ipykernel, jupyter_client"]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0  # noqa: TID251


@dataclass
class Desk:
    """The parts of a machine that code needs."""

    link: LinkClient
    input: LinkInput
    screen: LinkScreen

    def python(self, code: str, seconds: float = 20) -> str:
        return run_python(cast("Any", self), code, seconds).text

    def shell(self, command: str, seconds: float = 20) -> str:
        return run_shell(cast("Any", self), command, seconds).text


@pytest.fixture(scope="module")
def desktop() -> Iterator[DesktopStandIn]:
    if not has_kernel():
        pytest.skip("needs python3-ipykernel: apt-get install python3-ipykernel")
    with desktop_on_host() as stand_in:
        yield stand_in


@pytest.fixture(scope="module")
def desk(desktop: DesktopStandIn) -> Iterator[Desk]:
    link = desktop.connect()
    yield Desk(link, LinkInput(link), LinkScreen(link))
    link.close()


def test_variables_and_values_stay(desk: Desk) -> None:
    assert desk.python("a = 6\nprint('set')") == "set"
    assert desk.python("print('twice'); a * 7") == "twice\n42"
    assert desk.python("pass") == "[no output]"


def test_code_runs_as_the_agents_user(desk: Desk, desktop: DesktopStandIn) -> None:
    assert desk.python("import getpass; print(getpass.getuser())") == desktop.user
    assert desk.shell("id -un") == desktop.user
    assert desk.python("import os; print(os.environ['DISPLAY'])") == desktop.display


def test_failure_is_shown_without_colours(desk: Desk) -> None:
    text = desk.python("1 / 0")
    assert "ZeroDivisionError: division by zero" in text
    assert "\x1b" not in text
    assert text.endswith("[failed]")


def test_picture_is_returned(desk: Desk) -> None:
    code = (
        "from IPython.display import Image\nimport base64\n"
        "Image(base64.b64decode('" + base64.b64encode(png(3, 2)).decode() + "'))"
    )
    result = run_python(cast("Any", desk), code, 20)
    assert Image.open(io.BytesIO(result.png)).size == (3, 2)


def png(width: int, height: int) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (width, height), "red").save(out, "PNG")
    return out.getvalue()


def test_late_code_is_interrupted_and_its_output_is_not_taken_for_the_next(desk: Desk) -> None:
    start_s = time.monotonic()
    text = desk.python("b = 1\nimport time\nprint('begun')\nwhile True: time.sleep(0.1)", 1)
    assert time.monotonic() - start_s < 10
    assert text.startswith("begun")
    assert text.endswith("[interrupted after 1 s]")
    assert desk.python("print('next', b)") == "next 1"


def test_printing_without_end_is_bounded_and_interrupted(desk: Desk) -> None:
    start_s = time.monotonic()
    text = desk.python("while True: print('x' * 1000)", 2)
    assert time.monotonic() - start_s < 20
    assert len(text) < 120_000
    assert "characters left out" in text
    assert desk.python("print('alive')") == "alive"


def test_code_that_ignores_the_interrupt_costs_its_kernel(desk: Desk) -> None:
    desk.python("kept = 1")
    code = "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\ntime.sleep(60)"
    text = desk.python(code, 1)
    assert text.endswith("[restarted]")
    assert "NameError" in desk.python("kept")


def test_kernel_that_ends_itself_is_replaced(desk: Desk) -> None:
    assert desk.python("import os; os._exit(3)").endswith("[restarted]")
    assert desk.python("print(1)") == "1"


def test_helper_that_the_agent_kills_is_replaced(desk: Desk) -> None:
    with pytest.raises(ActionError):
        desk.python("import os, signal; os.kill(os.getppid(), signal.SIGKILL)")
    assert desk.python("print(2)") == "2"


def test_input_has_nobody_who_answers(desk: Desk) -> None:
    assert "nobody" in desk.python("print(input('Name? '))")


def test_mouse_and_keyboard_act_through_the_host(desk: Desk, desktop: DesktopStandIn) -> None:
    path = desktop.folder / "clicks"
    script = f"exec xev -event button -name code -geometry 400x300+300+200 > {path}"
    desk.link.call("launch", {"argv": ["/bin/sh", "-c", script]})
    assert wait_until(
        lambda: [
            row for row in cast("list[dict[str, Any]]", desk.link.call("windows"))
            if row["title"] == "code" and row["active"]
        ],
        timeout_s=30,
    )  # fmt: skip
    code = "mouse.click(500, 400)\nmouse.click(button='right')\nmouse.scroll(2)\nmouse.position"
    assert desk.python(code) == "(500, 400)"
    assert wait_until(lambda: path.read_text().count("ButtonRelease") == 4, timeout_s=10)
    numbers = [part.split(",")[0] for part in path.read_text().split("button ")[1:]]
    assert numbers == ["1", "1", "3", "3", "5", "5", "5", "5"]
    desk.python("keyboard.hotkey('alt', 'F4')")


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("mouse.click(99999, 1)", "outside the screen"),
        ("keyboard.press('nokey')", "no key called"),
        ("mouse.scroll()", "not turned"),
        ('get_ipython().kernel.raw_input(\'{"do": "open_app", "with": {}}\')', "no input called"),
        ("get_ipython().kernel.raw_input('[1]')", "nobody"),
        ("get_ipython().kernel.raw_input('{\"a\": ' + '1' * 100000 + '}')", "nobody"),
    ],
)
def test_wrong_input_is_an_error_in_the_code(desk: Desk, code: str, message: str) -> None:
    text = desk.python(f"try:\n    print({code})\nexcept RuntimeError as exc:\n    print(exc)")
    assert message in text


@pytest.mark.parametrize("code", ["a\x00b", "x" * 100_001])
def test_code_that_cannot_be_run_is_refused(desk: Desk, code: str) -> None:
    if len(code) < 1000:
        with pytest.raises(InvalidActionError):
            desk.python(code)


# -- the shell


def test_shell_keeps_variables_and_folder(desk: Desk) -> None:
    assert desk.shell("cd /tmp; v='a b'") == "[no output]"
    assert desk.shell('pwd; echo "$v"') == "/tmp\na b"


def test_shell_reports_the_exit_code_and_both_outputs(desk: Desk) -> None:
    assert desk.shell("echo out; echo err >&2; (exit 3)") == "out\nerr\n[exit code 3]"
    assert "syntax error" in desk.shell("if")
    assert desk.shell("cat; echo read nothing") == "read nothing"
    assert desk.shell("printf 'no newline'") == "no newline"


def test_late_command_is_interrupted_and_the_shell_goes_on(desk: Desk) -> None:
    desk.shell("v=kept")
    start_s = time.monotonic()
    assert desk.shell("echo begun; sleep 60", 1) == "begun\n[interrupted after 1 s]"
    assert time.monotonic() - start_s < 5
    assert desk.shell("echo $v") == "kept"
    assert desk.shell("trap '' INT; sh -c 'trap \"\" INT; sleep 60'", 1).endswith(
        "[interrupted after 1 s]"
    )


def test_flood_of_the_shell_is_bounded(desk: Desk) -> None:
    text = desk.shell("yes abcdefgh", 1)
    assert len(text) < 120_000
    assert "characters left out" in text
    assert desk.shell("echo next") == "next"


def test_shell_that_ends_is_replaced(desk: Desk) -> None:
    assert desk.shell("exit 5").endswith("[restarted]")
    assert desk.shell("while :; do :; done", 1).endswith(("[restarted]", "[interrupted after 1 s]"))
    assert desk.shell("echo new") == "new"


def test_nothing_of_the_agents_command_is_quoted_wrongly(desk: Desk) -> None:
    assert desk.shell("""echo "it's; $(echo sub) `echo back`" '$HOME' \\; # note""") == (
        "it's; sub back $HOME ;"
    )
