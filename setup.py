"""Refuse wheels: the appliance runs from a checkout, whose recipes and compose file it needs."""

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel


class NoWheel(bdist_wheel):
    """Ends with the way to install it; editable installs do not come here."""

    def run(self) -> None:
        """Refuse.

        Raises:
            SystemExit: always.
        """
        raise SystemExit(
            "Mesocosm is not built as a wheel: it runs from a checkout.\n"
            "→ Run `make up` there, or `pip install --editable .` for development."
        )


setup(cmdclass={"bdist_wheel": NoWheel})
