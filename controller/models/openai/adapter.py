"""The adapter for OpenAI-compatible endpoints."""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING

from controller.models.client import Capabilities
from controller.models.openai.client import OpenAIClient
from controller.models.openai.gateway import OpenAIGateway
from controller.models.openai.reply import MALFORMED
from foundation.errors import RequirementError

if TYPE_CHECKING:
    from controller.models.client import GatewayRules
    from controller.models.settings import ModelSettings
    from foundation.clock import Clock

_PACKAGE = "openai"


class OpenAIAdapter:
    """See `controller.models.client.Adapter`."""

    capabilities = Capabilities()
    own_fields: frozenset[str] = frozenset({"model", "messages", "tools", "stream", "n"})
    texts: tuple[str, ...] = MALFORMED
    gateway: GatewayRules = OpenAIGateway()

    def require(self) -> None:
        """Verify that the SDK is installed.

        Raises:
            RequirementError: it is missing.
        """
        if importlib.util.find_spec(_PACKAGE) is None:
            raise RequirementError(
                "The model agent needs the `openai` package.",
                resolution="Install the extra: pip install 'mesocosm[openai]'.",
            )

    def load(self) -> None:
        """Import the SDK."""
        importlib.import_module(_PACKAGE)

    def connect(self, settings: ModelSettings, clock: Clock) -> OpenAIClient:
        """Return a client of the model."""
        return OpenAIClient(settings, clock)
