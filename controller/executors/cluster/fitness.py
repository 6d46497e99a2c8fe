"""Whether a host may execute a run's trials: its code and images must be those of the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.planning import code_version, needs_of, recipes_of
from foundation.errors import MesocosmError, RequirementError
from provisioning.fleet.host_backends import HostBackends

if TYPE_CHECKING:
    from controller.specification.run import RunSpec
    from evaluators.loading.suite import Suite
    from foundation.settings import Settings


class HostUnfitError(RequirementError):
    """A host cannot execute a trial; another one may."""

    code = "host_unfit"


def require_fit(
    spec: RunSpec, suite: Suite, settings: Settings, *, with_machines: bool = True
) -> None:
    """Verify that this host can execute the trials of a run.

    Args:
        spec: the run, with the tasks that are to be executed here.
        suite: its suite, as read on this host.
        settings: of this host's appliance.
        with_machines: whether the trials need machines of this host.

    Raises:
        HostUnfitError: its code or images differ, or what runs its machines does not answer.
    """
    own_code = code_version()
    # Not whether the source tree was modified: digests of suites and recipes show what matters.
    are_known = spec.code.commit and own_code.commit
    is_other = are_known and spec.code.commit != own_code.commit
    if is_other or spec.code.version != own_code.version:
        raise HostUnfitError(
            f"This host has Mesocosm {own_code}, the run has {spec.code}.",
            resolution="Check out the same commit on all hosts.",
        )
    if not with_machines:
        return
    needs = needs_of(spec, suite)
    own = recipes_of(settings, needs)
    if other := sorted(
        key for key, digest in own.items() if spec.images.get(key, digest) != digest
    ):
        raise HostUnfitError(
            f"The images of this host are made otherwise: {', '.join(other)}.",
            resolution="Use the same distribution, settings and commit on all hosts.",
        )
    backends = HostBackends(settings)
    for need in needs:
        try:
            backends.of(backends.resolve(need)).require_host()
        except MesocosmError as exc:
            raise HostUnfitError(f"This host cannot run a {need}: {exc.brief}") from exc
