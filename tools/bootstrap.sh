#!/bin/sh
# Installs what a base Debian or Ubuntu lacks for building and testing. Says what is missing where it may not install.
set -eu

missing=
need() { command -v "$1" >/dev/null 2>&1 || missing="$missing $2"; }

need gcc gcc
# gcc only recommends them, and recommendations are not installed here.
[ -e /usr/include/stdio.h ] || missing="$missing libc6-dev"
need musl-gcc musl-tools
need make make
need npm npm
need ip iproute2
need mmdebstrap mmdebstrap
# The kernel of guests (sandbox/guest/uml-build.ts).
need flex flex
need bison bison
need bc bc
need xz xz-utils
need strip binutils
# Disks of guests where that kernel can't be had. QEMU itself is unpacked into the user's cache when the first guest starts, and not installed.
[ -x /sbin/mke2fs ] || missing="$missing e2fsprogs"

[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
  echo "please install:$missing" >&2
  exit 1
fi
echo "installing:$missing"
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086 # a list of package names
apt-get install -qq -y --no-install-recommends $missing >/dev/null 2>&1 || {
  echo "updating the package lists, then installing"
  apt-get update -qq
  apt-get install -qq -y --no-install-recommends $missing >/dev/null
}
