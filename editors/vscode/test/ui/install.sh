#!/usr/bin/env bash
# install.sh FOLDER: brings what the tests in the real workbench need: code-server (VS Code 1.100.3) into a folder inside FOLDER, unless it
# is there, and Debian's chromium, ripgrep and a font, unless there are any. Prints the folder. Needs Node 20, npm and, for what is missing, root.
set -euo pipefail

version=4.100.3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(realpath -m "${1:?"usage: install.sh FOLDER"}")/code-server-$version

fail() {
  echo "install.sh: $1" >&2
  exit 1
}

# need COMMAND PACKAGE: from Debian, if it is not there.
need() {
  if command -v "$1" >/dev/null; then return; fi
  command -v apt-get >/dev/null && [ "$(id -u)" = 0 ] || fail "$1 is missing and cannot be installed here: install the package $2"
  export DEBIAN_FRONTEND=noninteractive
  [ -n "${lists_are_new:-}" ] || apt-get update -qq || fail "$1 is missing, and Debian's package lists cannot be read"
  lists_are_new=yes
  apt-get install -y -qq --no-install-recommends "$2" >/dev/null || fail "$1 is missing, and the package $2 cannot be installed"
}

command -v node >/dev/null && command -v npm >/dev/null || fail "node or npm is missing: install Node.js 20"
[ "$(node -p 'process.versions.node.split(".")[0]')" = 20 ] || fail "code-server $version runs with Node.js 20, not $(node --version)"
need rg ripgrep
need chromium chromium
need fc-list fontconfig
[ -n "$(fc-list)" ] || need "a font" fonts-dejavu-core
made="$version $(cat "$here/install.sh" "$here"/standins/* | cksum)"
if [ "$(cat "$folder/version" 2>/dev/null)" = "$made" ]; then
  echo "$folder"
  exit
fi

# stand_in MODULE: ours in place of a module that would have to be compiled; each file says why it may.
stand_in() {
  rm -rf "node_modules/$1"
  mkdir -p "node_modules/$1"
  printf '{"name": "%s", "main": "index.js"}\n' "$1" >"node_modules/$1/package.json"
  cp "$here/standins/$(basename "$1").cjs" "node_modules/$1/index.js"
}

# Made beside its place and moved there when it is whole, so that a run that was cut short leaves nothing half done.
mkdir -p "$(dirname "$folder")"
work=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
npm pack --silent "code-server@$version" >/dev/null || fail "code-server $version cannot be fetched from the npm registry"
tar -xzf "code-server-$version.tgz"
rm "code-server-$version.tgz"
quiet=(--omit=dev --ignore-scripts --no-audit --no-fund --no-update-notifier --silent)
cd "$work/package"
npm install "${quiet[@]}" || fail "the packages of code-server cannot be installed"
stand_in argon2
cd "$work/package/lib/vscode"
npm install "${quiet[@]}" || fail "the packages of VS Code cannot be installed"
stand_in @vscode/spdlog
stand_in native-watchdog
# What code-server's own postinstall script does, less the compiling: nothing here needs a terminal.
mkdir -p node_modules/@vscode/ripgrep/bin
ln -sf "$(command -v rg)" node_modules/@vscode/ripgrep/bin/rg
ln -sfn node_modules node_modules.asar
ln -sf code-linux.sh bin/remote-cli/code-server
ln -sf browser-linux.sh bin/helpers/browser.sh
echo "$made" >"$work/version"
rm -rf "$folder"
mv "$work" "$folder"
echo "$folder"
