#!/usr/bin/env bash
# install.sh FOLDER: the real VS Code workbench, as code-server, into a folder; nothing is done where it is there already.
set -euo pipefail
version=4.100.3
mkdir -p "$1"
cd "$1"
[ -e "ready-$version" ] && exit 0

need() {
  echo "installing $1"
  { apt-get update -qq && apt-get install -y -qq --no-install-recommends "$1"; } >apt.log 2>&1 ||
    { echo "$1 is missing and cannot be installed; run: apt-get install $1" >&2; exit 1; }
}
command -v rg >/dev/null || need ripgrep
command -v chromium >/dev/null || need chromium

rm -rf package
npm pack --silent "code-server@$version" >/dev/null
tar xzf "code-server-$version.tgz"
rm "code-server-$version.tgz"
# No install scripts, so no compiler: what they would build (terminals, log files, passwords) is not needed here.
(cd package && npm install --omit=dev --ignore-scripts --no-audit --no-fund --silent)
(cd package/lib/vscode && npm install --omit=dev --ignore-scripts --no-audit --no-fund --silent)
# The hashing of passwords is loaded all the same, and never called with --auth none.
printf 'module.exports = {};\n' >package/node_modules/argon2/argon2.js
cd package/lib/vscode
mkdir -p node_modules/@vscode/ripgrep/bin
ln -sf "$(command -v rg)" node_modules/@vscode/ripgrep/bin/rg
ln -sfn node_modules node_modules.asar
cd - >/dev/null
touch "ready-$version"
