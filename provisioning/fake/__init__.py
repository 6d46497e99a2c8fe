"""Machines in memory: a desktop, a phone and a fleet of them, for tests and for trying things out.

They pass the contract suites of `provisioning.protocols`, keep all they are in one state object,
and can be told to fail at a named point (`Faults`).
"""

from provisioning.fake.desktop import FakeDesktop
from provisioning.fake.faults import Faults
from provisioning.fake.fleet import FakeFleet
from provisioning.fake.phone import FakePhone

__all__ = ["FakeDesktop", "FakeFleet", "FakePhone", "Faults"]
