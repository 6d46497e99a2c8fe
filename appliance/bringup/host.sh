#!/bin/sh
# Install the packages of packages.txt that this Debian or Ubuntu lacks; fast and silent if none.
#   host.sh [--test] [--yes] [--list]
#     --test  also the packages for tests
#     --yes   do not ask for confirmation
#     --list  print missing packages, install nothing
# Exit codes: 0 all installed, 1 installing failed, 2 usage, 3 cannot install here, 130 declined.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
stages='run run?' yes=no list=no
for word; do
	case $word in
	--test) stages='run run? test test?' ;;
	--yes) yes=yes ;;
	--list) list=yes ;;
	*) echo "host.sh: unknown option $word" >&2; exit 2 ;;
	esac
done

say() { printf '%s\n' "$*" >&2; }
fail() { code=$1; shift; say "error: $1"; shift; for line; do say "$line"; done; exit "$code"; }

has() { command -v "$1" >/dev/null 2>&1; }
version() { dpkg-query -W -f '${db:Status-Status} ${Version}' "$1" 2>/dev/null | sed -n 's/^installed \([0-9]*:\)\{0,1\}//p'; }
installed() { [ -n "$(version "$1")" ] && ! too_old "$1"; }
candidate() { apt-cache policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: \([0-9]*:\)\{0,1\}\([^(]\)/\2/p'; }
available() { [ -n "$(candidate "$1")" ] && ! too_old "$1" && ! has_client "$1"; }

# Engines since 29 refuse the API of compose 1.29.
too_old() {
	[ "$1" = docker-compose ] || return 1
	engine=$(version docker-ce)
	[ -n "$engine" ] || engine=$(version docker.io)
	[ -n "$engine" ] || engine=$(candidate docker.io)
	case $engine in [0-9]*) [ "${engine%%[!0-9]*}" -ge 29 ] || return 1 ;; *) return 1 ;; esac
	compose=$(version docker-compose)
	[ -n "$compose" ] || compose=$(candidate docker-compose)
	case $compose in 1.*) return 0 ;; *) return 1 ;; esac
}

# Only since Debian 13 is docker.io's client a package of its own; it excludes docker-ce's.
has_client() {
	[ "$1" = docker-cli ] || return 1
	if has docker; then return; fi
	case $(apt-cache depends docker.io 2>/dev/null) in *docker-cli*) return 1 ;; esac
}

# The host's own Python may be older (Ubuntu 22.04): then another one of its archive is installed beside it.
if ! has python3 || ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
	case $(candidate python3) in
	3.1[1-9]*) ;;
	*) stages="$stages old-python" ;;
	esac
fi

# Print each unmet row as "when alternatives".
missing_rows() {
	sed -e '/^#/d' -e '/^$/d' "$here/packages.txt" | while read -r when names _why; do
		case " $stages " in *" $when "*) ;; *) continue ;; esac
		for name in $(echo "$names" | tr '|' ' '); do
			installed "$name" && continue 2
			# Optional packages that no archive of this host has are not missing.
			case $when in *'?') available "$name" || continue 2 ;; esac
		done
		echo "$when $names"
	done
}

if ! has dpkg-query || ! has apt-get; then
	fail 3 "This host has no apt: automatic setup only supports Debian 12, Ubuntu 24.04 and similar." \
		"→ Install the packages in $here/packages.txt manually, then run \`mesocosm up\`."
fi
rows=$(missing_rows)
[ -n "$rows" ] || exit 0
if [ "$list" = yes ]; then
	echo "$rows" | cut -d' ' -f2
	exit 0
fi

root=
if [ "$(id -u)" -ne 0 ]; then
	has sudo || fail 3 "Packages are missing and you are not root." \
		"$(echo "$rows" | cut -d' ' -f2 | tr '\n' ' ')" "→ Run this as root."
	root=sudo
fi
say "Missing packages: $(echo "$rows" | cut -d' ' -f2 | tr '\n' ' ')"
if [ "$yes" = no ] && [ -t 0 ]; then
	printf 'Install them with apt? [Y/n] ' >&2
	read -r answer || answer=n
	case $answer in ''|y|Y|yes) ;; *) say "Nothing was installed."; exit 130 ;; esac
fi

log=$(mktemp "${TMPDIR:-/tmp}/mesocosm-apt.XXXXXX")
# Show counters instead of a thousand lines; the log keeps the lines.
follow() {
	if [ -t 2 ]; then
		tee -a "$log" | awk '/^Get:/{g++} /^Unpacking/{u++} /^Setting up/{s++}
			/^(Get:|Unpacking|Setting up)/{printf "\r  fetched %d, unpacked %d, set up %d ", g, u, s > "/dev/stderr"}
			END{if (g + u + s) print "" > "/dev/stderr"}'
	else
		cat >>"$log"
	fi
}
# Run apt; a file keeps its exit code across the pipe.
apt() {
	{ $root env DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@" 2>&1 || echo "$?" >"$log.failed"; } | follow
	[ ! -e "$log.failed" ]
}

# Services must not start during their installation: bring-up starts the required ones.
policy=/usr/sbin/policy-rc.d
made_policy=no
clean_up() {
	[ "$made_policy" = no ] || $root rm -f "$policy"
	rm -f "$log.failed"
}
trap clean_up EXIT
trap 'exit 130' INT TERM
if [ ! -e "$policy" ]; then
	printf '#!/bin/sh\nexit 101\n' | $root tee "$policy" >/dev/null
	$root chmod 755 "$policy"
	made_policy=yes
fi

say "Reading package lists ..."
if ! apt update; then
	say "warning: apt-get update failed; continuing with the existing package lists."
	rm -f "$log.failed"
fi
rows=$(missing_rows) # an archive may have more than was known before
wanted=
absent=
for row in $(echo "$rows" | tr ' ' '='); do
	names=$(echo "${row#*=}" | tr '|' ' ')
	chosen=
	for name in $names; do
		if available "$name"; then chosen=$name; break; fi
	done
	if [ -n "$chosen" ]; then
		wanted="$wanted $chosen"
	else
		case $row in *'?='*) ;; *) absent="$absent ${row#*=}" ;; esac
	fi
done
[ -z "$absent" ] || fail 1 "No archive of this host has:$absent" "$(tail -n 3 "$log")" \
	"→ Enable the archive that has it (on Ubuntu: universe), or see $log."
if [ -n "$wanted" ]; then
	say "Installing$wanted ..."
	# shellcheck disable=SC2086 # a list
	apt install --no-install-recommends --no-remove $wanted || fail 1 "apt could not install the packages." \
		"$(grep -E '^(E:|dpkg: error|Err:)' "$log" | head -n 8)" \
		"→ Packages of this host are never removed: if two exclude each other, remove one yourself. Full log: $log"
fi
# Tests start their own Prometheus and Alertmanager; the packaged services must not start at boot.
for name in $wanted; do
	case $name in prometheus*)
		has systemctl && $root systemctl disable --quiet "$name.service" >/dev/null 2>&1 || true ;;
	esac
done
rm -f "$log"
