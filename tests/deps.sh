#!/bin/sh
# SPDX-License-Identifier: MIT
# deps.sh PACKAGE...: installs the Debian packages that are missing. Where that
# is not possible it says what is needed and lets the caller go on: the build
# itself shows what is really absent. CKPT_NO_INSTALL=1 never installs.
set -u

if ! command -v dpkg-query >/dev/null 2>&1; then
	echo "not a Debian: this needs what Debian calls $*"
	exit 0
fi

missing=
for p; do
	dpkg-query -W -f '${Status}\n' "$p" 2>/dev/null |
		grep -q 'ok installed$' || missing="$missing $p"
done
[ -n "$missing" ] || exit 0

give_up() {
	echo "$1; please install:$missing"
	exit 0
}

[ "${CKPT_NO_INSTALL:-0}" != 1 ] || give_up "not installing"
command -v apt-get >/dev/null 2>&1 || give_up "no apt-get"
as_root=
if [ "$(id -u)" -ne 0 ]; then
	# Without a terminal a question for a password would hang.
	as_root=sudo
	[ -t 0 ] || as_root="sudo -n"
	command -v sudo >/dev/null 2>&1 && $as_root true 2>/dev/null ||
		give_up "not root"
fi

log=$(mktemp) || exit 0
trap 'rm -f "$log"' EXIT
apt() {
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq \
		-o DPkg::Lock::Timeout=120 "$@" </dev/null >>"$log" 2>&1
}

apt update || echo "apt-get update failed; trying with the old lists"
# Names differ between releases; one unknown name must not spoil the rest.
known=
for p in $missing; do
	if apt-cache show "$p" >/dev/null 2>&1; then
		known="$known $p"
	else
		echo "this release has no package $p"
	fi
done
[ -n "$known" ] || exit 0
echo "installing:$known"
# shellcheck disable=SC2086
apt install -y --no-install-recommends $known || {
	tail -n 15 "$log"
	give_up "apt-get install failed"
}
