#!/usr/bin/env bash
# NATS JetStream checks the message id before the expected last sequence. A publisher that sends an id again, with an
# expected sequence that is wrong by now, gets a positive acknowledgement (`duplicate: true`) instead of error 10071. The
# expected sequence therefore does not tell an old publisher that another one wrote since, if it repeats an id.
#
# Seen with nats-server 2.9.10 (Debian 12) and @nats-io/jetstream 3.4.0 on Node 24:
#   new id, wrong sequence: refused 10071
#   known id, wrong sequence: acknowledged, duplicate, sequence 1
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
  for (const id of ['a', 'b']) await client.publish('trial.one', id, { msgID: id })
  for (const [what, id] of [['new id', 'c'], ['known id', 'a']]) {
    // The last sequence is 2.
    const outcome = await client.publish('trial.one', id, { msgID: id, expect: { lastSequence: 1 } }).then(
      ({ duplicate, seq }) => `acknowledged, ${duplicate ? 'duplicate' : 'stored'}, sequence ${seq}`,
      ({ code }) => `refused ${code}`,
    )
    console.log(`${what}, wrong sequence: ${outcome}`)
  }
  await connection.close()
}
main()
JS
node publish.cjs "$port" | tee seen
[ "$(cat seen)" = "new id, wrong sequence: refused 10071
known id, wrong sequence: acknowledged, duplicate, sequence 1" ]
