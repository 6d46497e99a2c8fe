from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from foundation.errors import ImageBuildError
from foundation.process import find_tool, run
from images.distribution import DISTRIBUTIONS
from images.keyring import check_fingerprints, find_keyring
from images.log import ignore_progress

pytestmark = pytest.mark.skipif(not find_tool("gpg"), reason="gpg is not installed")
UBUNTU = DISTRIBUTIONS["ubuntu-22.04"]


@pytest.fixture(scope="module")
def made_key(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A fresh key: its file and its fingerprint."""
    home = tmp_path_factory.mktemp("gnupg")
    home.chmod(0o700)
    gpg = ["gpg", "--homedir", str(home), "--batch"]
    args = ["--passphrase", "", "--quick-generate-key", "Test <t@t.test>", "ed25519", "sign"]
    run([*gpg, *args]).require()
    listed = run([*gpg, "--list-keys", "--with-colons"]).require().text
    fingerprint = next(line for line in listed.splitlines() if line.startswith("fpr")).split(":")[9]
    file = home / "key.gpg"
    run([*gpg, "--output", str(file), "--export"]).require()
    run(["gpgconf", "--homedir", str(home), "--kill", "all"])
    return file, fingerprint


def test_known_keys_are_trusted(made_key: tuple[Path, str]) -> None:
    file, fingerprint = made_key
    check_fingerprints(file, replace(UBUNTU, key_fingerprints=(fingerprint,)))


def test_unknown_key_is_rejected(made_key: tuple[Path, str]) -> None:
    file, fingerprint = made_key
    with pytest.raises(ImageBuildError, match=fingerprint):
        check_fingerprints(file, UBUNTU)


def test_known_key_with_an_unknown_one_is_rejected(
    made_key: tuple[Path, str], tmp_path: Path
) -> None:
    file, fingerprint = made_key
    debian = Path(DISTRIBUTIONS["debian-12"].keyring)
    if not debian.is_file():
        pytest.skip("Debian's keys are not on this host")
    both = tmp_path / "both.gpg"
    both.write_bytes(file.read_bytes() + debian.read_bytes())
    known = (fingerprint, *DISTRIBUTIONS["debian-12"].key_fingerprints[:-1])
    with pytest.raises(ImageBuildError, match="unknown keys"):
        check_fingerprints(both, replace(UBUNTU, key_fingerprints=known))


def test_debian_keys_match_the_table() -> None:
    distribution = DISTRIBUTIONS["debian-12"]
    file = Path(distribution.keyring)
    if not file.is_file():
        pytest.skip("Debian's keys are not on this host")
    check_fingerprints(file, distribution)


def test_host_key_file_is_preferred(made_key: tuple[Path, str], tmp_path: Path) -> None:
    from foundation.settings import Settings

    distribution = replace(UBUNTU, keyring=str(made_key[0]))
    assert find_keyring(distribution, Settings(), tmp_path, ignore_progress) == made_key[0]
