"""The configuration of remote desktops: ``remotes.yaml`` in the state folder.

Example::

    machines:
      - name: lab-1
        host: 192.0.2.7
        host_key: ssh-ed25519 AAAAC3Nza...
        user: student
        reset:
          on: host
          command: [/usr/local/bin/reimage, lab-1]
"""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path  # noqa: TC003 - pydantic reads it
from typing import TYPE_CHECKING

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from foundation.errors import SpecError
from provisioning.links.ssh import SshTarget

if TYPE_CHECKING:
    from foundation.settings import Settings

FILE = "remotes.yaml"
_BOOL = "tag:yaml.org,2002:bool"


class _Loader(yaml.SafeLoader):
    """SafeLoader with the booleans of YAML 1.2, where ``on`` is a string."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - as PyYAML has it
        first: [(tag, pattern) for tag, pattern in resolvers if tag != _BOOL]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


_Loader.add_implicit_resolver(_BOOL, re.compile("^(?:true|false)$"), list("tf"))


class Side(StrEnum):
    """Where a command runs: on this host, or on the remote machine as its login."""

    HOST = "host"
    MACHINE = "machine"


class Reset(BaseModel):
    """The owner's command that resets a machine to its initial state.

    Attributes:
        command: program and arguments, run without a shell. On the host, its environment contains
            MESOCOSM_REMOTE_NAME, MESOCOSM_REMOTE_HOST and MESOCOSM_REMOTE_PORT.
        on: where it runs; on the machine, it may end the connection, as a reboot does.
        timeout_s: time limit of the command.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    command: tuple[str, ...] = Field(min_length=1)
    on: Side = Side.MACHINE
    timeout_s: float = Field(default=120.0, gt=0)


class Remote(BaseModel):
    """A remote desktop.

    Attributes:
        name: unique in the file; letters, digits and ``-``.
        host: name or address.
        port: port of its SSH server.
        host_key: its SSH server's public key in one line; no other key is accepted.
        login: SSH user; must be root there, since evaluators do not run as the agent's user.
        key: private key file of the login; by default, the appliance's own.
        user: owner of the desktop session; the agent acts as this user.
        reset: resets the machine; without it, the machine can be viewed but not leased.
        ready_timeout_s: time after a reset within which its desktop must be up.
        verify_timeout_s: further time within which it must match its initial state.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern="^[A-Za-z0-9][A-Za-z0-9-]{0,40}$")
    host: str = Field(min_length=1)
    port: int = Field(default=22, ge=1, le=65535)
    host_key: str = Field(pattern=r"^[a-z0-9@.-]+ [A-Za-z0-9+/=]+( .*)?$")
    login: str = "root"
    key: Path | None = None
    user: str = "user"
    reset: Reset | None = None
    ready_timeout_s: float = Field(default=300.0, gt=0)
    verify_timeout_s: float = Field(default=60.0, gt=0)

    def target(self, settings: Settings) -> SshTarget:
        """Return the SSH target of the machine."""
        return SshTarget(
            host=self.host,
            port=self.port,
            user=self.login,
            key_file=self.key or settings.keys_dir / "ssh_ed25519",
            host_key=" ".join(self.host_key.split()[:2]),
        )


class Remotes(BaseModel):
    """The content of the file.

    Attributes:
        machines: the machines, with unique names.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    machines: tuple[Remote, ...] = ()

    @field_validator("machines")
    @classmethod
    def _names_differ(cls, machines: tuple[Remote, ...]) -> tuple[Remote, ...]:
        names = [machine.name for machine in machines]
        if doubled := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"several machines are named {', '.join(doubled)}")
        return machines


def read_remotes(settings: Settings) -> tuple[Remote, ...]:
    """Read the file; a missing file means no machines.

    Raises:
        SpecError: the file cannot be read, or is invalid.
    """
    path = settings.state_dir / FILE
    if not path.is_file():
        return ()
    try:
        return Remotes.model_validate(_load(path.read_bytes()) or {}).machines
    except ValidationError as exc:
        wrong = [
            f"{'.'.join(map(str, error['loc'])) or 'file'}: {error['msg']}"
            for error in exc.errors(include_url=False)
        ]
        raise _bad_file(path, "\n".join(wrong)) from exc
    except (OSError, yaml.YAMLError) as exc:
        raise _bad_file(path, str(exc)) from exc


def _load(raw: bytes) -> object:
    return yaml.load(raw, _Loader)  # noqa: S506 - a SafeLoader


def _bad_file(path: Path, details: str) -> SpecError:
    return SpecError(
        f"{path} is not a valid list of remote desktops.",
        details=details,
        resolution="Correct the file; docs/machines.md describes its format.",
    )
