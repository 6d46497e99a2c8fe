"""Contract tests of the machine protocols; see machines.py for the list of implementations."""

from __future__ import annotations

import re
import stat
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pytest

from foundation.clock import wait_until
from foundation.errors import (
    GuestCallError,
    InvalidActionError,
    SnapshotMissingError,
    SpecError,
    UnsupportedError,
)
from provisioning import protocols
from provisioning.protocols import Button
from provisioning.resource import DESKTOP

if TYPE_CHECKING:
    from collections.abc import Callable

    from provisioning.protocols import Machine
    from tests.contract.machines import Subject


@pytest.fixture
def saver(subject: Subject) -> Subject:
    """Return a machine that can save snapshots."""
    if not subject.saves:
        pytest.skip("its memory cannot be saved")
    return subject


def middle(machine: Machine) -> tuple[int, int]:
    width, height = machine.screen.size()
    return width // 2, height // 2


# Under emulation, on a busy host, a terminal takes half a minute to appear.
_SHOWN_S = 90.0


def arrives(is_there: Callable[[], bool]) -> bool:
    """Wait for an effect; programs are slow under emulation on a busy host."""
    return bool(wait_until(is_there, timeout_s=_SHOWN_S))


class TestMachine:
    @pytest.mark.parametrize(
        ("name", "protocol"),
        [
            ("power", protocols.Power),
            ("snapshots", protocols.Snapshots),
            ("link", protocols.Link),
            ("reach", protocols.Reach),
            ("files", protocols.Files),
            ("screen", protocols.Screen),
            ("input", protocols.Input),
            ("tree", protocols.Tree),
        ],
    )
    def test_machine_has_every_capability(
        self, subject: Subject, name: str, protocol: type
    ) -> None:
        assert isinstance(getattr(subject.machine, name), protocol)

    def test_info_describes_the_machine(self, subject: Subject) -> None:
        info = subject.machine.info
        assert re.fullmatch(r"[0-9a-f]{64}", info.image_digest)
        assert info.accelerator in {"kvm", "tcg", "none"}
        assert all((info.machine_id, info.backend, info.image))

    def test_machine_is_running(self, subject: Subject) -> None:
        assert subject.machine.power.is_running()

    def test_running_machine_is_neither_ended_nor_blocked(self, subject: Subject) -> None:
        power = subject.machine.power
        if isinstance(power, protocols.EndReporting):
            assert power.ended_by() is None
        if isinstance(subject.machine, protocols.ObstructionReporting):
            assert subject.machine.find_obstruction() == ""


class TestCommands:
    def test_machine_runs_commands(self, subject: Subject) -> None:
        assert isinstance(subject.machine, protocols.Commands)

    def test_arguments_reach_the_program_unchanged(self, subject: Subject) -> None:
        odd = "two  words; $HOME 'ü' *"
        result = subject.machine.run(["echo", odd], timeout_s=30.0)
        assert (result.exit_code, result.text) == (0, odd)

    def test_failure_is_a_result(self, subject: Subject) -> None:
        assert subject.machine.run(["ls", "/no/such/folder"], timeout_s=30.0).exit_code != 0

    def test_home_of_the_user_matches_info(self, subject: Subject) -> None:
        info = subject.machine.info
        assert info.user
        path = f"{info.home}/contract of commands"
        subject.machine.files.put(path, b"x")
        assert subject.machine.files.get(path) == b"x"

    def test_desktop_commands_run_as_the_agent(self, subject: Subject) -> None:
        machine = subject.machine
        if machine.info.kind is not DESKTOP:
            pytest.skip("phones have one user, who reads nothing")
        assert machine.run(["id", "-un"], timeout_s=30.0).text == machine.info.user
        assert machine.run(["id", "-un"], user="root", timeout_s=30.0).text == "root"
        assert machine.run(["pwd"], timeout_s=30.0).text == machine.info.home
        assert machine.run(["pwd"], cwd="/etc", timeout_s=30.0).text == "/etc"
        assert machine.run(["printenv", "ODD"], env={"ODD": "a b"}, timeout_s=30.0).text == "a b"
        assert machine.run(["cat"], input=b"read me\n", timeout_s=30.0).stdout == b"read me\n"

    def test_desktop_commands_have_the_login_environment(self, subject: Subject) -> None:
        machine = subject.machine
        if machine.files.stat("/etc/environment") is None:
            pytest.skip("this machine has no /etc/environment")
        every = machine.run(["cat", "/etc/environment"], timeout_s=30.0).text.splitlines()
        ours = machine.run(["env"], timeout_s=30.0).text.splitlines()
        assert {line for line in every if line.startswith("G")} <= set(ours)


class TestReach:
    """Integration tests fetch from services; here, all machines must accept the same calls."""

    PLACE = ("127.0.0.1", 9)

    def test_services_are_replaced_and_withdrawn(self, subject: Subject) -> None:
        reach = subject.machine.reach
        reach.serve({"first": {8098: self.PLACE}, "second.test": {8099: self.PLACE}})
        reach.serve({"third": {8099: self.PLACE, 8098: self.PLACE}})
        reach.serve({})
        reach.stop()
        reach.stop()

    @pytest.mark.parametrize("name", ["", "Upper", "two words", "127.0.0.1", "localhost"])
    def test_name_that_is_no_host_name_is_refused(self, subject: Subject, name: str) -> None:
        with pytest.raises(SpecError):
            subject.machine.reach.serve({name: {8099: self.PLACE}})

    @pytest.mark.parametrize("port", [0, -1, 65536])
    def test_port_that_cannot_be_is_refused(self, subject: Subject, port: int) -> None:
        with pytest.raises(SpecError):
            subject.machine.reach.serve({"first": {port: self.PLACE}})


class TestFiles:
    @pytest.mark.parametrize(
        "data", [b"", b"\x00\r\n\xff" * 3, bytes(range(256)) * 4096], ids=["empty", "odd", "1 MiB"]
    )
    def test_file_is_transferred_byte_exact(self, subject: Subject, data: bytes) -> None:
        path = f"{subject.folder}/contract file ü.bin"
        subject.machine.files.put(path, data)
        assert subject.machine.files.get(path) == data
        file_stat = subject.machine.files.stat(path)
        assert file_stat is not None
        assert file_stat.size_bytes == len(data)
        assert stat.S_ISREG(file_stat.mode)

    def test_put_replaces_a_file(self, subject: Subject) -> None:
        path = f"{subject.folder}/replaced"
        subject.machine.files.put(path, b"a longer content")
        subject.machine.files.put(path, b"short")
        assert subject.machine.files.get(path) == b"short"

    def test_put_creates_folders(self, subject: Subject) -> None:
        path = f"{subject.folder}/one/two/three"
        subject.machine.files.put(path, b"x")
        assert subject.machine.files.get(path) == b"x"

    def test_missing_file_has_no_stat(self, subject: Subject) -> None:
        assert subject.machine.files.stat(f"{subject.folder}/missing") is None

    def test_missing_file_cannot_be_read(self, subject: Subject) -> None:
        with pytest.raises(GuestCallError):
            subject.machine.files.get(f"{subject.folder}/missing")


class TestScreen:
    def test_frame_is_rgb_of_the_reported_size(self, subject: Subject) -> None:
        frame = subject.machine.screen.capture()
        width, height = subject.machine.screen.size()
        assert frame.dtype == np.uint8
        assert frame.shape == (height, width, 3)

    def test_screen_shows_changes(self, subject: Subject) -> None:
        screen = subject.machine.screen
        before = screen.capture()
        subject.show(subject.machine)
        assert wait_until(lambda: not np.array_equal(before, screen.capture()), timeout_s=_SHOWN_S)

    def test_frames_are_not_changed_later(self, subject: Subject) -> None:
        before = subject.machine.screen.capture()
        kept = before.copy()
        subject.show(subject.machine)
        subject.machine.screen.capture()
        assert np.array_equal(before, kept)


class TestInput:
    """Each effect is also checked before the action, so that an input that does nothing fails."""

    def test_pointer_reaches_every_corner(self, subject: Subject) -> None:
        width, height = subject.machine.screen.size()
        for place in ((0, 0), (width - 1, height - 1), middle(subject.machine)):
            subject.machine.input.move(*place)
            if subject.receiver.has_pointer:
                assert arrives(partial(subject.receiver.is_pointer_at, place))

    @pytest.mark.parametrize("button", list(Button))
    def test_buttons_click(self, subject: Subject, button: Button) -> None:
        # If there is only one button, any of them maps to it.
        heard_as = button if button in subject.receiver.buttons else subject.receiver.buttons[0]
        place = subject.receiver.open_for_clicks()
        assert not subject.receiver.has_clicked(heard_as, 2)
        subject.machine.input.click(*place, button=heard_as, count=2)
        assert arrives(lambda: subject.receiver.has_clicked(heard_as, 2)), subject.receiver

    def test_drag_goes_from_start_to_end(self, subject: Subject) -> None:
        start, end = subject.receiver.open_for_drags()
        assert not subject.receiver.has_dragged()
        subject.machine.input.drag((start, end), duration_s=0.05)
        assert arrives(subject.receiver.has_dragged)

    def test_drag_goes_along_a_path(self, subject: Subject) -> None:
        start, end = subject.receiver.open_for_drags()
        corner = (start[0], end[1])
        assert not subject.receiver.has_dragged()
        subject.machine.input.drag((start, corner, end), duration_s=0.2)
        assert arrives(subject.receiver.has_dragged)

    def test_button_goes_down_and_up_apart(self, subject: Subject) -> None:
        start, end = subject.receiver.open_for_drags()
        subject.machine.input.button_down(*start)
        assert not subject.receiver.has_dragged()
        subject.machine.input.button_up(*end)
        assert arrives(subject.receiver.has_dragged)

    def test_keys_are_held_during_a_click(self, subject: Subject) -> None:
        place = subject.receiver.open_for_clicks()
        subject.machine.input.click(*place, held=["ctrl"] if subject.receiver.has_pointer else [])
        assert arrives(lambda: subject.receiver.has_clicked(Button.LEFT, 1))

    def test_wheel_scrolls_down_and_up(self, subject: Subject) -> None:
        x, y = subject.receiver.open_for_wheel()
        assert not subject.receiver.has_scrolled(2)
        subject.machine.input.scroll(x, y, dy=2)
        assert arrives(lambda: subject.receiver.has_scrolled(2))
        subject.machine.input.scroll(x, y, dy=-2)
        assert arrives(lambda: subject.receiver.has_scrolled(0))

    def test_keys_are_pressed_together(self, subject: Subject) -> None:
        subject.receiver.open_for_keys()
        assert not subject.receiver.has_pressed(subject.key)
        subject.machine.input.key(*subject.key)
        assert arrives(lambda: subject.receiver.has_pressed(subject.key))

    def test_unknown_key_is_rejected(self, subject: Subject) -> None:
        with pytest.raises(InvalidActionError):
            subject.machine.input.key("NoSuchKey")

    def test_any_unicode_can_be_typed(self, subject: Subject) -> None:
        subject.receiver.open_for_keys()
        assert not subject.receiver.has_typed(subject.text)
        subject.machine.input.text(subject.text)
        assert arrives(lambda: subject.receiver.has_typed(subject.text))


class TestTree:
    def test_elements_are_on_the_screen_and_start_at_a_root(self, subject: Subject) -> None:
        width, height = subject.machine.screen.size()
        elements = subject.machine.tree.elements()
        assert elements
        assert elements[0].depth == 0
        for element in elements:
            box = element.bounds
            assert box.left <= box.right
            assert box.top <= box.bottom
            assert box.left < width
            assert box.top < height

    def test_elements_have_names_and_roles(self, subject: Subject) -> None:
        elements = subject.machine.tree.elements()
        assert all(element.role for element in elements)
        assert any(element.name for element in elements)

    def test_elements_change_with_the_screen(self, subject: Subject) -> None:
        before = list(subject.machine.tree.elements())
        subject.show(subject.machine)
        tree = subject.machine.tree
        assert wait_until(lambda: list(tree.elements()) != before, timeout_s=_SHOWN_S)


class TestSnapshots:
    def test_rewind_reverts_changes(self, subject: Subject) -> None:
        path = f"{subject.folder}/after the snapshot"
        subject.machine.files.put(path, b"x")
        report = subject.machine.snapshots.rewind(subject.base)
        assert subject.machine.files.stat(path) is None
        assert not report.differences
        assert report.seconds >= 0
        assert report.path

    def test_rewind_restores_removed_content(self, saver: Subject) -> None:
        path = f"{saver.folder}/before the snapshot"
        saver.machine.files.put(path, b"before")
        saver.machine.snapshots.save("second")
        saver.machine.files.put(path, b"after")
        saver.machine.snapshots.rewind("second")
        assert saver.machine.files.get(path) == b"before"
        saver.machine.snapshots.delete_snapshot("second")

    def test_machine_is_usable_after_a_rewind(self, subject: Subject) -> None:
        for _ in range(3):
            subject.machine.snapshots.rewind(subject.base)
            subject.machine.input.click(*middle(subject.machine))
            subject.machine.screen.capture()

    def test_save_replaces_an_older_snapshot(self, saver: Subject) -> None:
        path = f"{saver.folder}/which"
        for data in (b"old", b"new"):
            saver.machine.files.put(path, data)
            saver.machine.snapshots.save("same")
        saver.machine.files.put(path, b"other")
        saver.machine.snapshots.rewind("same")
        assert saver.machine.files.get(path) == b"new"
        saver.machine.snapshots.delete_snapshot("same")

    def test_names_are_listed_in_order(self, saver: Subject) -> None:
        before = list(saver.machine.snapshots.list_snapshots())
        for name in ("b", "a"):
            saver.machine.snapshots.save(name)
        try:
            listed = list(saver.machine.snapshots.list_snapshots())
            assert listed == sorted([*before, "a", "b"])
        finally:
            for name in ("a", "b"):
                saver.machine.snapshots.delete_snapshot(name)
        assert list(saver.machine.snapshots.list_snapshots()) == before

    def test_unsaveable_machine_is_rejected(self, subject: Subject) -> None:
        if subject.saves:
            pytest.skip("it can be saved")
        snapshots = subject.machine.snapshots
        with pytest.raises(UnsupportedError, match="cannot be saved"):
            snapshots.save("mine")
        with pytest.raises(UnsupportedError, match="cannot be deleted"):
            snapshots.delete_snapshot(subject.base)
        assert list(snapshots.list_snapshots()) == [subject.base]

    def test_missing_snapshot_is_an_error(self, subject: Subject) -> None:
        with pytest.raises(SnapshotMissingError):
            subject.machine.snapshots.rewind("missing")
        with pytest.raises(SnapshotMissingError):
            subject.machine.snapshots.delete_snapshot("missing")
