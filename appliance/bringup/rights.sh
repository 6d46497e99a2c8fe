#!/bin/sh
# Fail early, before anything is installed, if this user cannot bring the appliance up.
# Exit codes: 0 permissions look sufficient, 3 permissions are missing.
set -eu
[ "$(id -u)" -ne 0 ] || exit 0

refuse() {
	echo "error: $1" >&2
	echo "→ $2" >&2
	exit 3
}

state=${MESOCOSM_STATE_DIR:-/var/lib/mesocosm}
folder=$state
while [ ! -e "$folder" ]; do folder=$(dirname -- "$folder"); done
[ -w "$folder" ] && [ -x "$folder" ] || refuse "This user may not write $state." \
	"Run this as root, or set MESOCOSM_STATE_DIR to a folder that you own."
engine=${DOCKER_HOST:-unix:///var/run/docker.sock}
case $engine in unix://*) socket=${engine#unix://} ;; *) exit 0 ;; esac
if [ ! -S "$socket" ]; then
	refuse "The Docker engine is not running, and this user may not start it." \
		"Run this as root, or start Docker and join the group docker."
elif [ ! -w "$socket" ]; then
	refuse "This user may not use the Docker engine." \
		"Run this as root, or join the group docker and log in again."
fi
