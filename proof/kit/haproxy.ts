/** Runs the real HAProxy, as docs/guide/proxies.md configures it, with shorter intervals. */
import { spawn } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '../../server/test/free-port.ts'
import { temporaryFolder } from './database.ts'
import { onInterrupt } from './interrupts.ts'
import { createWire } from './wire.ts'

const program = '/usr/sbin/haproxy'

/** Returns why HAProxy cannot run here; null if it can. */
export const haproxyIsMissing = (): string | null => (existsSync(program) ? null : `${program} is not installed`)

/** Starts HAProxy before the replicas, such as `http://127.0.0.1:8080`. */
export const startHaproxy = async (replicas: readonly string[]) => {
  const folder = temporaryFolder('haproxy')
  const [port, monitor] = [await freePort(), await freePort()]
  const servers = replicas.map((url, at) => `  server s${at} 127.0.0.1:${new URL(url).port}`)
  const file = join(folder, 'haproxy.cfg')
  writeFileSync(
    file,
    `defaults
  mode tcp
  timeout connect 5s
  timeout client 10m
  timeout server 10m
  timeout check 2s
frontend portcullis
  bind 127.0.0.1:${port}
  default_backend servers
frontend monitor
  mode http
  bind 127.0.0.1:${monitor}
  monitor-uri /
  acl isIncomplete nbsrv(servers) lt ${replicas.length}
  monitor fail if isIncomplete
backend servers
  balance leastconn
  option httpchk GET /readyz
  default-server check inter 300ms fall 2 rise 1
${servers.join('\n')}
`,
  )
  const child = spawn(program, ['-db', '-f', file], { stdio: ['ignore', 'ignore', 'ignore'] })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
  onInterrupt(stop)
  /** Waits until all replicas are ready. */
  const ready = async (): Promise<void> => {
    const { once } = createWire(`http://127.0.0.1:${monitor}`, { keepAlive: false })
    while ((await once({ method: 'GET', path: '/' })).status !== 200) await pause(50)
  }
  await ready()
  return { url: `http://127.0.0.1:${port}`, ready, [Symbol.asyncDispose]: stop }
}
