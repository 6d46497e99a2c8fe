"""Tasks as Gymnasium environments; importing it registers ``mesocosm/Task-v0``.

Requires the extra ``gym`` of `mesocosm-client`.
"""

from __future__ import annotations

from mesocosm.gym.environment import TaskEnv as TaskEnv
from mesocosm.gym.registration import register_all
from mesocosm.gym.spaces import ActionList as ActionList

register_all()
