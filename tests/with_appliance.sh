#!/bin/sh
# Run a command while the appliance is up, then leave it as it was found.
#   with_appliance.sh MESOCOSM COMMAND...
set -eu
mesocosm=$1
shift
# Tests that need the appliance fail instead of being skipped.
export MESOCOSM_TEST_APPLIANCE=1
# The same desktop wherever tests run, whichever archives answer there.
export MESOCOSM_DISTRIBUTION="${MESOCOSM_DISTRIBUTION:-debian-12}"
if "$mesocosm" status --quiet; then
	"$mesocosm" up --yes --no-trial
	exec "$@"
fi
trap '"$mesocosm" down' EXIT
trap 'exit 130' INT TERM
"$mesocosm" up --yes --no-trial
"$@"
