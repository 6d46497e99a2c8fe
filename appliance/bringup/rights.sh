#!/bin/sh
# Say at once, before anything is installed, that this user could not bring the appliance up.
# Exit codes: 0 it can be tried, 3 rights are missing.
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
	"Run this as root, or set MESOCOSM_STATE_DIR to a folder of yours."
engine=${DOCKER_HOST:-unix:///var/run/docker.sock}
case $engine in unix://*) socket=${engine#unix://} ;; *) exit 0 ;; esac
if [ ! -S "$socket" ]; then
	refuse "The Docker engine does not run, and this user may not start it." \
		"Run this as root, or start Docker and join the group docker."
elif [ ! -w "$socket" ]; then
	refuse "This user may not use the Docker engine." \
		"Run this as root, or join the group docker and log in again."
fi
