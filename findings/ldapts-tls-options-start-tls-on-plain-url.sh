#!/usr/bin/env bash
# The npm package ldapts 9.2.0 speaks TLS from the first byte to an `ldap://` address if `tlsOptions` has any value, for
# example a certificate authority that is meant for StartTLS. Its readme calls them options of the TLS connection. A
# directory that waits for LDAP on that port closes the connection, and the caller reads only ECONNRESET or a TLS error.
#
# Seen with ldapts 9.2.0 on Node 24 (first byte that arrives; 30 begins an LDAP message, 16 a TLS handshake):
#   ldap://, without tlsOptions: 30
#   ldap://, with tlsOptions: 16
#
# Exits with 0 if the behaviour is as described, and with 1 if it changed.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts ldapts@9.2.0 >/dev/null
cat >first-byte.cjs <<'JS'
const { createServer } = require('node:net')
const { Client } = require('ldapts')
const firstByte = (more) =>
  new Promise((resolve) => {
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', (bytes) => {
        resolve(bytes[0].toString(16))
        socket.destroy()
        server.close()
      })
    }).listen(0, '127.0.0.1', () => {
      const client = new Client({ url: `ldap://127.0.0.1:${server.address().port}`, timeout: 2_000, ...more })
      client.bind('cn=reader,dc=example,dc=org', 'a password').catch(() => {})
    })
  })
const main = async () => {
  console.log(`ldap://, without tlsOptions: ${await firstByte({})}`)
  console.log(`ldap://, with tlsOptions: ${await firstByte({ tlsOptions: { minVersion: 'TLSv1.2' } })}`)
}
main()
JS
node first-byte.cjs | tee seen
[ "$(cat seen)" = "ldap://, without tlsOptions: 30
ldap://, with tlsOptions: 16" ]
