"""The command ``account``, which only this phone has: sign in to an account, synchronise."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from images.phone.device.commands.base import CommandError
from images.phone.device.store.web import trust
from images.phone.device.sync.account import load_account
from images.phone.device.sync.syncer import FAULTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from images.phone.device.commands.base import Invocation


def run_account(call: Invocation) -> str:
    """Run ``account sign-in EMAIL PASSWORD``, or ``account sync``, ``show`` or ``trust PEM``.

    Raises:
        CommandError: the usage is wrong, or the servers do not answer.
    """
    phone, machine = call.phone, call.machine
    if machine is None:
        raise CommandError("account: the phone does not run")
    work: Callable[[], None]
    match call.args:
        case ["sign-in", email, password]:
            work = partial(machine.syncer.sign_in, email, password)
        case ["sync"]:
            work = machine.syncer.sync
        case ["show"]:
            account = load_account(phone.store)
            return f"{account.email if account else 'not signed in'}\n"
        case ["trust", authority]:
            try:
                with phone.event():
                    trust(phone.store, authority)
            except ValueError as exc:
                raise CommandError(f"account: {exc}") from exc
            return "trusted\n"
        case _:
            raise CommandError("usage: account sign-in EMAIL PASSWORD | sync | show | trust PEM")
    try:
        work()
    except FAULTS as exc:
        raise CommandError(f"account: {type(exc).__name__}: {exc}") from exc
    return "synchronised\n"
