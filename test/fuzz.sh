#!/bin/sh
# Runs every fuzz target for FUZZTIME (10s if nothing else is said), one after the other. FUZZ=Cuts runs those whose name
# holds that word. What a target finds is written to its package's testdata/fuzz and fails every later test run.
set -eu
time=${FUZZTIME:-10s}
failed=
go test -list "^Fuzz.*${FUZZ:-}" ./... | awk '
	/^Fuzz/ { targets[++n] = $1 }
	/^ok/   { for (i = 1; i <= n; i++) print $2, targets[i]; n = 0 }
' >"${TMPDIR:-/tmp}/fuzz.$$"
trap 'rm -f "${TMPDIR:-/tmp}/fuzz.$$"' EXIT
while read -r package target; do
	echo "== $package $target"
	log=${TMPDIR:-/tmp}/fuzz.$$.log
	if go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$package" </dev/null >"$log" 2>&1; then
		tail -n 2 "$log"
	elif grep -q 'context deadline exceeded' "$log" && ! grep -q 'Failing input' "$log"; then
		echo "nothing found; the machine was too busy to end in time" # go test counts that as a failure
	else
		cat "$log"
		failed="$failed $target"
	fi
	rm -f "$log"
done <"${TMPDIR:-/tmp}/fuzz.$$"
[ -z "$failed" ] || { echo "found something:$failed"; exit 1; }
