#!/bin/sh
# Run a command while the appliance is up, then leave it as it was found.
#   with_appliance.sh MESOCOSM COMMAND...
set -eu
mesocosm=$1
shift
# Tests that need the appliance fail instead of being skipped.
export MESOCOSM_TEST_APPLIANCE=1
# The desktop that users get: Ubuntu's wherever its archive answers, Debian's elsewhere.
if [ -z "${MESOCOSM_DISTRIBUTION:-}" ]; then
	MESOCOSM_DISTRIBUTION=$("$(dirname -- "$mesocosm")/python" -m tests.choose_distribution)
fi
export MESOCOSM_DISTRIBUTION
if "$mesocosm" status --quiet; then
	"$mesocosm" up --yes --no-trial
	exec "$@"
fi
trap '"$mesocosm" down' EXIT
trap 'exit 130' INT TERM
"$mesocosm" up --yes --no-trial
"$@"
