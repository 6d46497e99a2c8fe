"""The sandbox provider ``mesocosm``: one episode a sample, one sandbox a machine."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any, Literal, overload

from inspect_ai.util import (
    ExecResult,
    OutputLimitExceededError,
    SandboxEnvironment,
    SandboxEnvironmentConfigType,
    SandboxEnvironmentLimits,
    SandboxUnavailableError,
    SandboxUserUnsupportedError,
    sandboxenv,
)

from mesocosm.client.aio import connect_async
from mesocosm.client.errors import ServiceError
from mesocosm.inspect.computer import PROGRAM, ComputerShim
from mesocosm.inspect.config import MesocosmConfig
from mesocosm.inspect.errors import GoneError, UserError
from mesocosm.inspect.guest import Guest

if TYPE_CHECKING:
    from mesocosm.client.aio import AsyncClient, AsyncEnv

_PYTHON = "python3"


@sandboxenv(name="mesocosm")
class MesocosmSandbox(SandboxEnvironment):
    """One machine of a sample's episode.

    `computer` acts through the episode, so that steps are counted and judged; other commands run
    in the machine.

    Args:
        client: client of the service, shared by the machines of the episode.
        env: the episode.
        role: role of the machine.
        home: home folder of the agent's user, to which relative paths refer.
        config: configuration of the sample.
    """

    def __init__(
        self, client: AsyncClient, env: AsyncEnv, role: str, home: str, config: MesocosmConfig
    ) -> None:
        super().__init__()
        self.client = client
        self.env = env
        self.role = role
        self._home = home
        self._guest = Guest(env, role)
        self._computer = ComputerShim(env, role, config.screen)

    @classmethod
    async def sample_init(
        cls,
        task_name: str,
        config: SandboxEnvironmentConfigType | None,
        metadata: dict[str, str],
    ) -> dict[str, SandboxEnvironment]:
        """Open the episode of a sample; undo it if anything fails.

        Raises:
            ServiceError: the service refuses the task, or does not answer.
            TypeError: there is no configuration.
        """
        del task_name, metadata
        if isinstance(config, str):
            config = MesocosmConfig(task=config)
        if not isinstance(config, MesocosmConfig):
            raise TypeError(
                'Use sandbox=("mesocosm", "SUITE/TASK") or ("mesocosm", MesocosmConfig(…)).'
            )
        client = connect_async(config.server)
        try:
            env = await client.open(config.task, **config.options())
            return await cls._machines(client, env, config)
        except BaseException:
            await client.close()  # cancels what it has opened
            raise

    @classmethod
    async def sample_cleanup(
        cls,
        task_name: str,
        config: SandboxEnvironmentConfigType | None,
        environments: dict[str, SandboxEnvironment],
        interrupted: bool,
    ) -> None:
        """End the episode of a sample and release its machines."""
        del task_name, config, interrupted
        for sandbox in environments.values():
            await sandbox.as_type(cls).client.close()

    @classmethod
    def config_deserialize(cls, config: dict[str, Any]) -> MesocosmConfig:
        """Return a configuration from a log."""
        return MesocosmConfig.model_validate(config)

    @classmethod
    def default_concurrency(cls) -> int | None:
        """Return None: the service itself makes samples wait while it has no machine."""
        return None

    async def exec(
        self,
        cmd: list[str],
        input: str | bytes | None = None,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        timeout: int | None = None,
        timeout_retry: bool = True,
        concurrency: bool = True,
    ) -> ExecResult[str]:
        """Run a command; see Inspect. A command that was late is not run again."""
        del timeout_retry, concurrency
        if cmd[:2] == [_PYTHON, PROGRAM]:
            return await self._act(cmd[2:])
        limit = SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE
        try:
            ran = await self._guest.execute(
                cmd,
                cwd=self._path(cwd or "."),
                env=env or {},
                user=user,
                input=input.encode() if isinstance(input, str) else input,
                timeout_s=timeout,
                limit_bytes=limit,
            )
        except UserError as exc:
            raise SandboxUserUnsupportedError(str(exc)) from exc
        except GoneError as exc:
            raise SandboxUnavailableError(str(exc)) from exc
        self._computer.is_stale = True
        out, err = (data.decode(errors="replace") for data in (ran.out, ran.err))
        if ran.is_cut:
            longest = max((out, err), key=len)
            raise OutputLimitExceededError(
                SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE_STR, longest
            )
        return ExecResult(ran.code == 0, ran.code, out, err)

    async def write_file(self, file: str, contents: str | bytes) -> None:
        """Write a file as the agent's user; see Inspect."""
        data = contents.encode() if isinstance(contents, str) else contents
        try:
            await self._guest.write(self._path(file), data)
        except GoneError as exc:
            raise SandboxUnavailableError(str(exc)) from exc

    @overload
    async def read_file(self, file: str, text: Literal[True] = True) -> str: ...

    @overload
    async def read_file(self, file: str, text: Literal[False]) -> bytes: ...

    async def read_file(self, file: str, text: bool = True) -> str | bytes:
        """Read a file as the agent's user; see Inspect."""
        if file == PROGRAM and self._computer.is_available:
            return "" if text else b""  # asked for to find the sandbox with a computer
        limit = SandboxEnvironmentLimits.MAX_READ_FILE_SIZE
        try:
            data = await self._guest.read(self._path(file), limit)
        except NotADirectoryError as exc:
            raise FileNotFoundError(str(exc)) from exc
        except GoneError as exc:
            raise SandboxUnavailableError(str(exc)) from exc
        if data is None:
            raise OutputLimitExceededError(SandboxEnvironmentLimits.MAX_READ_FILE_SIZE_STR, None)
        return data.decode() if text else data

    async def _act(self, arguments: list[str]) -> ExecResult[str]:
        try:
            return ExecResult(
                success=True, returncode=0, stdout=await self._computer.run(arguments), stderr=""
            )
        except ServiceError as exc:
            raise SandboxUnavailableError(str(exc)) from exc

    def _path(self, path: str) -> str:
        return posixpath.normpath(posixpath.join(self._home, path))

    @classmethod
    async def _machines(
        cls, client: AsyncClient, env: AsyncEnv, config: MesocosmConfig
    ) -> dict[str, SandboxEnvironment]:
        if env.observation is None:
            raise RuntimeError(f"{env!r} ended before its first observation: {env.outcome}")
        machines: dict[str, SandboxEnvironment] = {}
        for role in env.observation.screens:
            home = await Guest(env, role).home()
            machines[role] = cls(client, env, role, home, config)
        return machines
