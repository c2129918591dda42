// Starts an unpacked server in the current network namespace, asks it for the basics and prints the answers as JSON.
// Usage: node probe.mjs <folder of the release> <data directory>
import { execFileSync, spawn } from 'node:child_process'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const [root, dataDir] = process.argv.slice(2)
const password = 'correct horse battery staple'
const url = 'http://127.0.0.1:8080'

execFileSync('ip', ['link', 'set', 'lo', 'up'])
const server = spawn(join(root, 'bin', 'portcullis-server'), {
  stdio: ['ignore', 'pipe', 'pipe'],
  env: { ...process.env, PORTCULLIS_DATA_DIR: dataDir, PORTCULLIS_ADMIN_PASSWORD: password },
})
let output = ''
for (const stream of [server.stdout, server.stderr]) stream.on('data', (text) => (output += text))
const ended = new Promise((done) => server.once('close', done))

const status = async (path, init) => {
  try {
    const answer = await fetch(url + path, init)
    await answer.arrayBuffer()
    return answer.status
  } catch {
    return 0
  }
}

const began = performance.now()
let ready = 0
while (ready !== 200 && server.exitCode === null && performance.now() - began < 90_000) {
  ready = await status('/readyz')
  if (ready !== 200) await sleep(50)
}
const readyMs = Math.round(performance.now() - began)
const body = JSON.stringify({ username: 'admin', password })
const signIn = await status('/prime/webui/Auth/LocalLogin', {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body,
})
const answers = {
  ready,
  readyMs,
  console: await status('/'),
  signIn,
  agent: await status('/agent/v1/install.sh'),
  interfaces: Object.keys(networkInterfaces()),
  cli: execFileSync(join(root, 'bin', 'portcullis'), ['--help'], { encoding: 'utf8' }),
}
server.kill('SIGTERM')
console.log(JSON.stringify({ ...answers, exitCode: await ended, ...(ready === 200 ? {} : { output }) }))
