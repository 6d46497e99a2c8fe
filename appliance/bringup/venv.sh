#!/bin/sh
# Create or update the project's Python environment; fast if nothing changed.
#   venv.sh FOLDER LOCK...    install the lock files into FOLDER, and the project in place
# Exit codes: 0 done, 1 failed, 3 no recent enough Python.
set -eu
repository=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
cd "$repository"
venv=$1
shift
stamp=$venv/.installed
wanted=$(cat "$@" pyproject.toml | sha256sum | cut -d' ' -f1)
# The test environment also satisfies the shorter list.
if [ -x "$venv/bin/mesocosm" ] && grep -qs "$wanted" "$stamp"; then exit 0; fi

new_enough='import sys; sys.exit(sys.version_info < (3, 11))'
if [ ! -x "$venv/bin/python" ]; then
	for python in "${PYTHON:-python3}" python3.13 python3.12 python3.11 ''; do
		[ -n "$python" ] || break
		if "$python" -c "$new_enough" 2>/dev/null && "$python" -c 'import ensurepip' 2>/dev/null; then break; fi
	done
	if [ -z "$python" ]; then
		echo "error: Python 3.11 or later with venv is not installed: $(python3 --version 2>&1)" >&2
		echo "→ Debian 12 and Ubuntu 24.04 have it; elsewhere install python3.11-venv and -dev." >&2
		exit 3
	fi
	echo "Creating $venv with $("$python" --version) ..." >&2
	"$python" -m venv "$venv"
fi
echo "Installing Python packages ..." >&2
log=$venv/install.log
# The locks are complete; python3-xlib must not be installed, as it has the same files as python-xlib.
if ! { "$venv/bin/python" -m pip uninstall --disable-pip-version-check --yes python3-xlib &&
	"$venv/bin/python" appliance/bringup/packages.py "$@" &&
	"$venv/bin/python" -m pip install --disable-pip-version-check --no-input --no-deps --no-build-isolation -e .; } >"$log" 2>&1; then
	echo "error: neither uv nor pip could install the packages of $*." >&2
	tail -n 12 "$log" >&2
	echo "→ Check that the package index is reachable (\`pip config list\`). Full log: $log" >&2
	exit 1
fi
# The test environment includes the other one: record both, so that neither is installed twice.
{ echo "$wanted"; cat requirements.lock pyproject.toml | sha256sum | cut -d' ' -f1; } >"$stamp"
