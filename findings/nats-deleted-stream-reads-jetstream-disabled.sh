#!/usr/bin/env bash
# The npm package @nats-io/jetstream 3.4.0 reports "jetstream is not enabled" when nobody stores a subject, for example
# after somebody deleted the stream. JetStream is enabled and answers on the same connection. A publisher that shows this
# text sends its administrator to the configuration of the server instead of to the stream.
#
# Seen with nats-server 2.9.10 (Debian 12) and @nats-io/jetstream 3.4.0 on Node 24:
#   after the deletion: JetStreamNotEnabled: jetstream is not enabled
#   streams of the same server: 0
#
# Exits with 0 if the behaviour is as described, and with 1 if it changed.
set -euo pipefail
dir=$(mktemp -d)
chmod 755 "$dir"
pid=
trap 'if [ -n "$pid" ]; then kill "$pid"; wait "$pid" || true; fi; rm -rf "$dir"' EXIT
cd "$dir"
apt-get download -q nats-server >/dev/null 2>&1
dpkg-deb -x nats-server_*.deb root
npm install --silent --no-audit --no-fund --ignore-scripts @nats-io/jetstream@3.4.0 @nats-io/transport-node@3.4.0 >/dev/null
port=$(node -e "const s=require('node:net').createServer().listen(0,'127.0.0.1',()=>{console.log(s.address().port);s.close()})")
root/usr/sbin/nats-server -a 127.0.0.1 -p "$port" -js -sd "$dir/store" >/dev/null 2>&1 &
pid=$!
cat >publish.cjs <<'JS'
const { jetstream, jetstreamManager } = require('@nats-io/jetstream')
const { connect } = require('@nats-io/transport-node')
const main = async () => {
  const connection = await connect({ servers: `127.0.0.1:${process.argv[2]}`, waitOnFirstConnect: true })
  const manager = await jetstreamManager(connection)
  await manager.streams.add({ name: 'TRIAL', subjects: ['trial.>'] })
  const client = jetstream(connection)
  await client.publish('trial.one', 'stored')
  await manager.streams.delete('TRIAL')
  const error = await client.publish('trial.one', 'lost').catch((one) => one)
  console.log(`after the deletion: ${error.name}: ${error.message}`)
  console.log(`streams of the same server: ${(await manager.getAccountInfo()).streams}`)
  await connection.close()
}
main()
JS
node publish.cjs "$port" | tee seen
[ "$(cat seen)" = "after the deletion: JetStreamNotEnabled: jetstream is not enabled
streams of the same server: 0" ]
