#!/bin/sh
# Installs what the tests need and this machine lacks: a C compiler for the race detector, curl, Python, Node.js, Chromium, Redis, nginx, and the
# npm packages of test/npm/package-lock.json and web/package-lock.json. Debian's apt-get is used where it exists; elsewhere the missing tool is named.
set -eu
cd "$(dirname "$0")"

need() { # need COMMAND PACKAGE...
	command=$1
	shift
	command -v "$command" >/dev/null 2>&1 && return 0
	if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
		echo "installing $*"
		[ -n "${updated:-}" ] || apt-get update -qq
		updated=yes
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
	else
		echo "the tests need '$command': install $*" >&2
		exit 1
	fi
}

need gcc gcc libc6-dev
need curl curl ca-certificates
need python3 python3
need node nodejs
need npm npm
need chromium chromium
need redis-server redis-server
need nginx nginx-light
need systemd-analyze systemd

# The lock files decide; a tree that already matches its own is left alone. Those of web/ build the dashboard.
for tree in npm ../web; do
	if ! [ $tree/node_modules/.package-lock.json -nt $tree/package-lock.json ]; then
		echo "installing npm packages of $tree"
		(cd $tree && npm ci --ignore-scripts --loglevel=error)
		touch $tree/node_modules/.package-lock.json
	fi
done
