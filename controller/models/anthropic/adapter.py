"""The adapter for Anthropic's Messages API."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from controller.models.anthropic.client import AnthropicClient
from controller.models.anthropic.gateway import AnthropicGateway
from controller.models.anthropic.messages import MALFORMED
from controller.models.client import Capabilities
from controller.models.packages import require_package

if TYPE_CHECKING:
    from controller.models.client import GatewayRules
    from controller.models.settings import ModelSettings
    from foundation.clock import Clock

_PACKAGE = "anthropic"


class AnthropicAdapter:
    """See `controller.models.client.Adapter`."""

    capabilities = Capabilities(seed=False)
    default_url = "https://api.anthropic.com"
    own_fields: frozenset[str] = frozenset({"model", "messages", "system", "tools", "stream"})
    texts: tuple[str, ...] = MALFORMED
    gateway: GatewayRules = AnthropicGateway()

    def require(self) -> None:
        """Verify that the SDK is installed.

        Raises:
            RequirementError: it is missing.
        """
        require_package(_PACKAGE, "anthropic")

    def load(self) -> None:
        """Import the SDK."""
        importlib.import_module(_PACKAGE)

    def connect(self, settings: ModelSettings, clock: Clock) -> AnthropicClient:
        """Return a client of the model."""
        return AnthropicClient(settings, clock)
