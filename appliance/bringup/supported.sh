#!/bin/sh
# Refuse hosts that cannot run the appliance, before anything is installed.
#   supported.sh [--engine]
#     --engine  only what the docker engine says of itself
# Exit codes: 0 supported as far as known, 2 usage, 3 not supported; cause and cure are on standard error.
set -eu

refuse() {
	echo "error: $1" >&2
	shift
	for line; do echo "→ $line" >&2; done
	exit 3
}

has() { command -v "$1" >/dev/null 2>&1; }

is_wsl() { case $(uname -r) in *[Mm]icrosoft*) true ;; *) false ;; esac; }

# Python of this host, or of an archive that apt knows.
has_python() {
	for python in python3 python3.13 python3.12 python3.11; do
		if has "$python" && "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then return; fi
	done
	for package in python3 python3.13 python3.12 python3.11; do
		case $(apt-cache policy "$package" 2>/dev/null) in
		*'Candidate: 3.1'[1-9]*) return ;;
		esac
	done
	false
}

check_host() {
	[ "$(uname -s)" = Linux ] || refuse "This is $(uname -s): the appliance needs Linux, for libvirt and containers." \
		"Run it on a Debian 12 or Ubuntu 24.04 host, or in a VM of one with nested virtualization."
	case $(uname -m) in
	x86_64|amd64) ;;
	*) refuse "This processor is $(uname -m): desktops and phones are built for x86-64." "Use an x86-64 host." ;;
	esac
	[ "$(id -u)" -eq 0 ] || refuse "You are not root: the appliance manages containers, devices and networks." \
		"Run it as root, for example: sudo make up"
	if is_wsl && ! has dockerd; then
		refuse "This is WSL, without a Docker engine of its own: Docker Desktop's cannot mount the appliance's folders." \
			"Install an engine in this distribution (apt-get install docker.io) and switch off Docker Desktop's WSL integration."
	fi
	if has getenforce && [ "$(getenforce 2>/dev/null)" = Enforcing ]; then
		refuse "SELinux is enforcing: containers could not use the appliance's folders and sockets." \
			"Use Debian or Ubuntu, or make it permissive: setenforce 0"
	fi
	has_python || refuse "Python 3.11 or later is not here, and no archive of this host has it." \
		"Debian 12, Ubuntu 24.04 and Ubuntu 22.04's universe (python3.11) have it: enable that archive and run apt-get update."
}

# Words of `docker info`; empty if there is no engine yet, or it does not run.
check_engine() {
	has docker || return 0
	said=$(docker info --format '{{.OperatingSystem}}|{{.DockerRootDir}}|{{.Architecture}}|{{.SecurityOptions}}' 2>/dev/null) ||
		return 0
	system=${said%%|*} rest=${said#*|}
	folder=${rest%%|*} rest=${rest#*|}
	processor=${rest%%|*} options=${rest#*|}
	case $system in
	*'Docker Desktop'*) refuse "This is Docker Desktop, whose engine runs in a VM of its own, without this host's folders and devices." \
		"Install an engine on this host (apt-get install docker.io) and select it: docker context use default" ;;
	esac
	case $folder in
	/var/snap/*|/snap/*) refuse "This Docker engine is a snap, which may not use the appliance's folders in /var/lib." \
		"Replace it: snap remove docker, then run this again, which installs docker.io." ;;
	esac
	case $options in
	*name=rootless*) refuse "This Docker engine is rootless: it cannot give containers devices and the host's network." \
		"Use the engine that runs as root: docker context use default, and unset DOCKER_HOST" ;;
	*name=userns*) refuse "This Docker engine remaps users (userns-remap): its containers could not use the appliance's folders." \
		"Remove userns-remap from /etc/docker/daemon.json and restart Docker." ;;
	*name=selinux*) refuse "This Docker engine has SELinux enabled: its containers could not use the appliance's folders." \
		"Remove selinux-enabled from /etc/docker/daemon.json and restart Docker." ;;
	esac
	case $processor in
	x86_64|amd64|'') ;;
	*) refuse "This Docker engine runs on $processor: the appliance's images are built for x86-64." "Use an x86-64 engine." ;;
	esac
}

case ${1-} in
--engine) check_engine ;;
'') check_host; check_engine ;;
*) echo "supported.sh: unknown option $1" >&2; exit 2 ;;
esac
