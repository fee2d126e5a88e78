#!/bin/sh
# Builds the image of deploy/Dockerfile with buildah and runs it: as the user that it names, with the health check that it
# declares, until it is told to stop. No registry is asked: golang:1.26, from which the Dockerfile
# builds, is this machine's Go toolchain with busybox beside it. Needs root, and Debian's buildah and busybox-static.
set -eu
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null || :; buildah rm --all >/dev/null 2>&1 || :; rm -rf "$dir"' EXIT
export STORAGE_DRIVER=vfs XDG_RUNTIME_DIR="$dir/run"
cat >"$dir/storage.conf" <<EOF
[storage]
driver = "vfs"
graphroot = "$dir/images"
runroot = "$dir/runroot"
EOF
export CONTAINERS_STORAGE_CONF="$dir/storage.conf"

mkdir -p "$dir/go/bin" "$dir/go/etc/ssl/certs" "$dir/go/tmp" "$dir/run"
cp "$(command -v busybox)" "$dir/go/bin/busybox"
for name in sh mkdir chown; do ln -s busybox "$dir/go/bin/$name"; done
cp /etc/ssl/certs/ca-certificates.crt "$dir/go/etc/ssl/certs/"
printf 'FROM scratch\nCOPY . /\nENV PATH=/usr/local/go/bin:/bin HOME=/root GOPATH=/go GOPROXY=off GOTOOLCHAIN=local\n' >"$dir/go.Dockerfile"
buildah build -q --isolation chroot -f "$dir/go.Dockerfile" -t docker.io/library/golang:1.26 "$dir/go" >/dev/null

go mod download # what the Dockerfile downloads, from which the build is cut off
buildah build -q --isolation chroot --pull-never --format docker -f deploy/Dockerfile -t secateur \
	-v "$(go env GOROOT):/usr/local/go:ro" -v "$(go env GOMODCACHE):/go/pkg/mod" -v "$(go env GOCACHE):/root/.cache/go-build" . >/dev/null

ask() { buildah inspect --type image --format "{{$1}}" secateur; }
[ "$(ask .Docker.Config.User)" = 65532:65532 ] || { echo "image: it runs as $(ask .Docker.Config.User)"; exit 1; }
health=$(ask 'range .Docker.Config.Healthcheck.Test}}{{if ne . "CMD"}}{{.}} {{end}}{{end')
command=$(ask 'range .Docker.Config.Entrypoint}}{{.}} {{end}}{{range .Docker.Config.Cmd}}{{.}} {{end')
printf 'auth_token = "${AUTH_TOKEN}"\n[store]\nurl = "file:/state/store"\n[[servers]]\nid = "demo"\nbuiltin = "demo"\n' >"$dir/secateur.toml"
chmod 644 "$dir/secateur.toml"

container=$(buildah from --pull-never secateur)
run() { buildah run --isolation chroot -e AUTH_TOKEN=a-token-of-the-image-test -v "$dir/secateur.toml:/etc/secateur/secateur.toml:ro" "$container" -- "$@"; }
# shellcheck disable=SC2086 # these are words
run $command >"$dir/out" 2>&1 &
pid=$!
n=0
# shellcheck disable=SC2086
until run $health >"$dir/health" 2>&1; do
	n=$((n + 1))
	[ $n -lt 60 ] || { echo "image: the health check fails"; cat "$dir/health" "$dir/out"; exit 1; }
	sleep 0.5
done
served=$(pgrep -f "^${command% }$" | head -1)
owner=$(awk '/^Uid:/ {print $2}' "/proc/$served/status")
[ "$owner" = 65532 ] || { echo "image: the process runs as $owner"; exit 1; }
code=$(curl -s -o /dev/null -w '%{http_code}' -X POST -d '{}' http://127.0.0.1:8000/mcp)
[ "$code" = 401 ] || { echo "image: /mcp without a token gives $code"; exit 1; }
kill -TERM "$served"
wait "$pid" || { echo "image: it ended with $?"; cat "$dir/out"; exit 1; }
pid=
# shellcheck disable=SC2086
! run $health >/dev/null 2>&1 || { echo "image: the health check is content with nobody"; exit 1; }
echo "image: $(buildah images --format '{{.Size}}' secateur), runs as 65532, healthy, asks for the token, stops with 0"
