"""In-memory machines for tests and experiments: a desktop, a phone and a fleet of them.

They pass the contract suites of `provisioning.protocols`, keep their whole state in one object,
and can be made to fail at named points (`Faults`).
"""

from provisioning.fake.desktop import FakeDesktop
from provisioning.fake.faults import Faults
from provisioning.fake.fleet import FakeFleet
from provisioning.fake.phone import FakePhone

__all__ = ["FakeDesktop", "FakeFleet", "FakePhone", "Faults"]
