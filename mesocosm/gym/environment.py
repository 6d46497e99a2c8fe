"""One task as a Gymnasium environment."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, Literal

import gymnasium
import numpy as np
from gymnasium import spaces
from PIL import Image

from mesocosm.client.flows import check_actions
from mesocosm.client.sync import connect
from mesocosm.gym.spaces import ActionList, to_plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from mesocosm.client.models import Observation, Step
    from mesocosm.client.sync import Env

    Frame = npt.NDArray[np.uint8]

_MAX_SEED = 2**31


class TaskEnv(gymnasium.Env[dict[str, Any], list[dict[str, Any]]]):
    """A task whose episodes run in a service.

    An observation has one picture a role: uint8 array (height, width, 3). An action is a list of
    typed actions, see `ActionList`. Construction opens an episode once, to learn both spaces.

    Args:
        task: suite and task, such as ``smoke/desktop-editor``.
        url: address of the service; see `mesocosm.connect`.
        token: token for it.
        reward: ``verdict`` is 0 before the end, then 1 for PASS and 0 for FAIL; ``progress`` is the
            share of the graph's nodes that a step met for the first time.
        render_mode: ``rgb_array`` for the screens side by side.
        **options: further options of `Client.open`, such as ``trees`` or ``fleet``.

    Raises:
        ServiceError: the service refuses the task, or does not answer.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 1}  # noqa: RUF012 - as in the base

    def __init__(
        self,
        task: str,
        url: str | None = None,
        token: str | None = None,
        reward: Literal["verdict", "progress"] = "verdict",
        render_mode: str | None = None,
        **options: Any,  # noqa: ANN401 - those of `Client.open`
    ) -> None:
        if reward not in {"verdict", "progress"}:
            raise ValueError(f"reward is 'verdict' or 'progress', got {reward!r}")
        self.render_mode = render_mode
        self.episode: Env | None = None
        self._task = task
        self._options = options
        self._reward = reward
        self._nodes = 0
        self._frames: dict[str, Frame] = {}
        self._client = connect(url, token)
        try:
            with self._client.open(task, **options) as first:
                self._set_spaces(first)
        except BaseException:
            self._client.close()
            raise

    def reset(
        self,
        *,
        seed: int | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Close the running episode and open another one.

        Args:
            seed: seed of the generator, from which the seeds of episodes are drawn.
            options: options of `Client.open` for this episode alone.
        """
        super().reset(seed=seed)
        self._end()
        drawn = int(self.np_random.integers(_MAX_SEED))
        episode = self._client.open(self._task, drawn, **{**self._options, **(options or {})})
        self.episode = episode
        if episode.observation is None:
            raise RuntimeError(f"{episode!r} ended before its first observation: {episode.outcome}")
        if self._reward == "progress":
            self._nodes = episode.evaluate().nodes
        info = {"instruction": episode.instruction, "seed": drawn}
        return self._see(episode.observation), {**info, **_info(episode.observation)}

    def step(
        self, action: Sequence[Mapping[str, Any]]
    ) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Carry out a list of actions.

        Returns:
            Observation, reward, terminated, truncated, info. An episode without a verdict is
            truncated with the reward 0, and ``info["is_valid"]`` is False: leave it out.

        Raises:
            RequestError: `action` is not a list of actions.
            ResetNeeded: there is no running episode.
        """
        if self.episode is None:
            raise gymnasium.error.ResetNeeded("Call reset before step.")
        if self.episode.is_over:
            raise gymnasium.error.ResetNeeded("The episode is over: call reset before step.")
        check_actions(action)
        step = self.episode.step([to_plain(part) for part in action])
        info = {
            **_info(step.observation),
            "newly_met": " ".join(step.newly_met),
            "is_valid": step.reward is not None,
        }
        if step.outcome is not None:
            outcome = step.outcome
            info |= {"verdict": str(outcome.verdict), "reason": outcome.reason}
            info |= {"fault": str(outcome.fault)}
        seen = self._see(step.observation)
        return seen, self._reward_of(step), step.terminated, step.truncated, info

    def render(self) -> Frame | None:
        """Return the screens of the last observation side by side."""
        if self.render_mode is None or not self._frames:
            return None
        height = max(frame.shape[0] for frame in self._frames.values())
        return np.hstack(
            [
                np.pad(frame, ((0, height - frame.shape[0]), (0, 0), (0, 0)))
                for frame in self._frames.values()
            ]
        )

    def close(self) -> None:
        """Close the running episode and the connection."""
        try:
            self._end()
        finally:
            self._client.close()

    def _set_spaces(self, episode: Env) -> None:
        if episode.observation is None:
            raise RuntimeError(f"{episode!r} ended before its first observation: {episode.outcome}")
        self.action_space = ActionList(episode.actions)
        self.observation_space = spaces.Dict(
            {
                role: spaces.Box(0, 255, (screen.height, screen.width, 3), np.uint8)
                for role, screen in episode.observation.screens.items()
            }
        )

    def _see(self, observation: Observation) -> dict[str, Any]:
        """Decode the screens; one that changed its size, such as a turned phone, is scaled."""
        assert isinstance(self.observation_space, spaces.Dict)  # noqa: S101 - see `_set_spaces`
        for role, space in self.observation_space.items():
            screen = observation.screens.get(role)
            height, width, _ = space.shape or (0, 0, 0)
            if screen is None or screen.png is None:
                self._frames.setdefault(role, np.zeros((height, width, 3), np.uint8))
                continue
            image = Image.open(io.BytesIO(screen.png)).convert("RGB")
            if image.size != (width, height):
                image = image.resize((width, height))
            self._frames[role] = np.asarray(image, np.uint8).copy()
        return dict(self._frames)

    def _reward_of(self, step: Step) -> float:
        if self._reward == "verdict":
            return step.reward or 0.0
        return len(step.newly_met) / self._nodes if self._nodes else 0.0

    def _end(self) -> None:
        episode, self.episode = self.episode, None
        if episode is not None:
            episode.close()


def _info(observation: Observation) -> dict[str, Any]:
    info: dict[str, Any] = {"feedback": observation.feedback}
    info |= {
        f"size_{role}": np.array([screen.width, screen.height])
        for role, screen in observation.screens.items()
    }
    if observation.trees:
        info["trees"] = {
            role: [element.model_dump() for element in tree]
            for role, tree in observation.trees.items()
        }
    return info
