#!/usr/bin/env bash
# The npm package @platformatic/kafka 2.12.1 multiplies its retries if a broker accepts connections and closes them, as a
# balancer without a live broker does. `retries: 1` promises one more attempt, and the error says "metadata failed 2 times",
# but the broker sees four connections: the connection and the request around it repeat each other's attempts.
#
# Seen with @platformatic/kafka 2.12.1 on Node 24:
#   retries 0: 1 connection, "Connection closed"
#   retries 1: 4 connections, "metadata failed 2 times."
#
# Exits with 0 if the behaviour is as described, and with 1 if it changed.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts @platformatic/kafka@2.12.1 >/dev/null
cat >count.mjs <<'JS'
import { createServer } from 'node:net'
import { Producer, stringSerializers } from '@platformatic/kafka'
for (const retries of [0, 1]) {
  let connections = 0
  const broker = createServer((socket) => {
    connections++
    socket.on('error', () => {})
    socket.end()
  })
  await new Promise((resolve) => broker.listen(0, '127.0.0.1', resolve))
  const producer = new Producer({
    clientId: 'one',
    bootstrapBrokers: [`127.0.0.1:${broker.address().port}`],
    retries,
    retryDelay: 50,
    serializers: stringSerializers,
  })
  producer.on('error', () => {})
  const error = await producer.metadata({ topics: ['a'] }).catch((one) => one)
  console.log(`retries ${retries}: ${connections} connection${connections === 1 ? '' : 's'}, "${error.message}"`)
  await producer.close(true).catch(() => {})
  broker.close()
}
JS
timeout 60 node count.mjs | tee seen
[ "$(cat seen)" = 'retries 0: 1 connection, "Connection closed"
retries 1: 4 connections, "metadata failed 2 times."' ]
