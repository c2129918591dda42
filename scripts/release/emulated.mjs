// Starts the server of an image for another architecture under QEMU, with its own database, and prints its responses as JSON.
// QEMU is registered for the user namespace of this process only.
// Usage: unshare --user --map-root-user --mount --net --pid --fork node emulated.mjs <root> <qemu>
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { get } from 'node:https'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { serverArguments, serverEnvironment } from '../bootstrap/server-arguments.mjs'

const [root, qemu] = process.argv.slice(2)
const mount = (...args) => execFileSync('mount', args)
mount('-t', 'binfmt_misc', 'none', '/proc/sys/fs/binfmt_misc')
// The first bytes of a 64-bit little-endian program for arm64 (e_machine 183), and which of their bits count.
const magic = '7f454c460201010000000000000000000200b700'
const mask = 'ffffffffffffff00fffffffffffffffffeffffff'
const escaped = (hex) => hex.replace(/../g, '\\x$&')
// F: the kernel opens QEMU now, because the root below does not contain it.
writeFileSync('/proc/sys/fs/binfmt_misc/register', `:arm64:M::${escaped(magic)}:${escaped(mask)}:${qemu}:F`)
for (const path of ['proc', 'dev', 'tmp']) mkdirSync(join(root, path), { recursive: true })
mount('-t', 'proc', 'proc', join(root, 'proc'))
mount('--rbind', '/dev', join(root, 'dev'))
mount('-t', 'tmpfs', 'tmpfs', join(root, 'tmp'))
execFileSync('ip', ['link', 'set', 'lo', 'up'])

const server = spawn(
  'unshare',
  [
    // The image's user, to whom the files of the caller belong.
    ...['--user', '--map-user=10001', '--map-group=10001', '--root', root, '--wd', '/opt/portcullis'],
    ...['node', ...serverArguments, 'server/src/entry/start.ts'],
  ],
  {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...serverEnvironment,
      PATH: '/opt/portcullis/node/bin:/usr/bin',
      HOME: '/var/lib/portcullis',
      PORTCULLIS_HOST: '0.0.0.0',
      PORTCULLIS_DATA_DIR: '/var/lib/portcullis',
      PORTCULLIS_ADMIN_PASSWORD: 'correct horse battery staple',
    },
  },
)
let output = ''
for (const stream of [server.stdout, server.stderr]) stream.on('data', (text) => (output += text))
const ended = new Promise((done) => server.once('close', done))

const status = (path) =>
  new Promise((done) => {
    get(`https://127.0.0.1:8080${path}`, { rejectUnauthorized: false }, (answer) => {
      let text = ''
      answer.on('data', (part) => (text += part))
      answer.on('end', () => done({ status: answer.statusCode, text }))
    }).once('error', () => done({ status: 0, text: '' }))
  })

const began = performance.now()
let ready = 0
while (ready !== 200 && server.exitCode === null && performance.now() - began < 400_000) {
  ready = (await status('/readyz')).status
  if (ready !== 200) await sleep(200)
}
const readyMs = Math.round(performance.now() - began)
const agent = await status('/agent/v1/install.sh')
server.kill('SIGTERM')
const exitCode = await ended
console.log(JSON.stringify({ ready, readyMs, agent: agent.status, exitCode, ...(ready === 200 ? {} : { output }) }))
