#!/usr/bin/env bash
# The npm package ssh2 1.17.0 cannot open an OpenSSH private key that is encrypted with chacha20-poly1305@openssh.com,
# although the passphrase is right. OpenSSH writes such a key with `ssh-keygen -Z` and opens it. ssh2 knows the cipher: it
# uses the same one for connections.
#
# Seen with ssh2 1.17.0 on Node 24 and openssh-client 1:9.2p1-2+deb12u* (Debian 12):
#   aes256-ctr: opened
#   chacha20-poly1305@openssh.com: Invalid initialization vector
#
# Exits with 0 if the behaviour is as described, and with 1 if it changed.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
chmod 755 "$dir"
apt-get download -q openssh-client >/dev/null 2>&1
dpkg-deb -x openssh-client_*.deb root
keygen=$dir/root/usr/bin/ssh-keygen
npm install --silent --no-audit --no-fund --ignore-scripts --omit=optional ssh2@1.17.0 >/dev/null
for cipher in aes256-ctr chacha20-poly1305@openssh.com; do
  "$keygen" -q -t ed25519 -N 'open sesame' -Z "$cipher" -C '' -f "key-$cipher"
  # OpenSSH opens both.
  "$keygen" -y -P 'open sesame' -f "key-$cipher" >/dev/null
done
cat >read.cjs <<'JS'
const { readFileSync } = require('node:fs')
const { utils } = require('ssh2')
for (const cipher of ['aes256-ctr', 'chacha20-poly1305@openssh.com']) {
  const key = utils.parseKey(readFileSync(`key-${cipher}`), 'open sesame')
  console.log(`${cipher}: ${key instanceof Error ? key.message : 'opened'}`)
}
JS
node read.cjs | tee seen
[ "$(cat seen)" = "aes256-ctr: opened
chacha20-poly1305@openssh.com: Invalid initialization vector" ]
