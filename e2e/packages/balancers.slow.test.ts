import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { plainKeyboard, unless } from '@portcullis/domain/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  adminPassword,
  createTree,
  type RunningServer,
  remove,
  start,
  startServer,
  temporaryDir,
  until,
} from '../../proof/kit/harness.ts'
import { freePort } from '../../server/test/free-port.ts'

const programs = [
  '/usr/sbin/nginx',
  '/usr/lib/nginx/modules/ngx_stream_module.so',
  '/usr/sbin/haproxy',
  '/usr/bin/tinyproxy',
].filter((path) => !existsSync(path))

const dirs: string[] = []
const folder = (): string => {
  const dir = temporaryDir()
  dirs.push(dir)
  return dir
}
/** How agents reach the server: arguments for the program, and of the agent. */
interface Path {
  name: string
  command: (dir: string, port: number, target: number) => string[]
  agent: (dir: string, port: number, target: number) => string[]
}

/** Address from which balancers connect that send PROXY headers. */
const withHeaders = '127.0.0.3'

const direct = (port: number) => ['--server', `https://127.0.0.1:${port}`]
const nginx = (dir: string, port: number, target: number, more = ''): string[] => {
  writeFileSync(
    join(dir, 'nginx.conf'),
    `load_module /usr/lib/nginx/modules/ngx_stream_module.so;
daemon off; master_process off; pid ${dir}/pid; error_log stderr;
events {}
stream {
  upstream portcullis { server 127.0.0.1:${target} max_fails=2 fail_timeout=5s; }
  server { listen 127.0.0.1:${port}; proxy_pass portcullis; proxy_connect_timeout 5s; proxy_timeout 10m; ${more} }
}
`,
  )
  return ['/usr/sbin/nginx', '-p', dir, '-e', 'stderr', '-c', join(dir, 'nginx.conf')]
}

const haproxy = (dir: string, port: number, target: number, more = ''): string[] => {
  writeFileSync(
    join(dir, 'haproxy.cfg'),
    `defaults
  mode tcp
  timeout connect 5s
  timeout client 10m
  timeout server 10m
frontend portcullis
  bind 127.0.0.1:${port}
  default_backend servers
backend servers
  balance leastconn
  option httpchk GET /readyz
  default-server check check-ssl verify none inter 2s ${more}
  server one 127.0.0.1:${target}
`,
  )
  return ['/usr/sbin/haproxy', '-db', '-f', join(dir, 'haproxy.cfg')]
}

const paths: readonly Path[] = [
  { name: 'nginx', command: nginx, agent: (_dir, port) => direct(port) },
  { name: 'HAProxy', command: haproxy, agent: (_dir, port) => direct(port) },
  {
    name: 'nginx with PROXY headers',
    command: (dir, port, target) => nginx(dir, port, target, `proxy_protocol on; proxy_bind ${withHeaders};`),
    agent: (_dir, port) => direct(port),
  },
  {
    name: 'HAProxy with PROXY headers',
    command: (dir, port, target) => haproxy(dir, port, target, `send-proxy-v2 check-send-proxy source ${withHeaders}`),
    agent: (_dir, port) => direct(port),
  },
  {
    name: 'tinyproxy with basic authentication',
    command: (dir, port, target) => {
      writeFileSync(
        join(dir, 'tinyproxy.conf'),
        `Port ${port}
Listen 127.0.0.1
Timeout 600
Allow 127.0.0.1
BasicAuth agent s3cret
ConnectPort ${target}
LogLevel Error
`,
      )
      writeFileSync(join(dir, 'credentials'), 'agent:s3cret\n', { mode: 0o600 })
      return ['/usr/bin/tinyproxy', '-d', '-c', join(dir, 'tinyproxy.conf')]
    },
    agent: (dir, port, target) => [
      ...direct(target),
      ...['--proxy', `http://127.0.0.1:${port}`, '--proxy-credentials-file', join(dir, 'credentials')],
    ],
  },
]

/** Signs in over the balancer from this address. Returns the address that the server saw. */
const sourceOf = async (port: number, localAddress: string): Promise<string> => {
  const ask = (path: string, method: string, headers: Record<string, string>, body?: object) =>
    new Promise<unknown>((resolve, reject) => {
      const url = `https://127.0.0.1:${port}/prime/webui/Auth/${path}`
      const given = { 'content-type': 'application/json', ...headers }
      const asked = request(url, { method, localAddress, agent: false, headers: given }, (answer) => {
        json(answer).then(resolve, reject)
      })
      asked.once('error', reject)
      asked.end(body === undefined ? undefined : JSON.stringify(body))
    })
  const { token } = (await ask('LocalLogin', 'POST', {}, { username: 'admin', password: adminPassword })) as {
    token: string
  }
  const sessions = (await ask('Sessions', 'GET', { authorization: `Bearer ${token}` })) as {
    isCurrent: boolean
    ipAddress: string
  }[]
  return sessions.find(({ isCurrent }) => isCurrent)?.ipAddress ?? ''
}

describe('real balancers and proxies', unless(programs.length > 0 ? `missing: ${programs.join(', ')}` : null), () => {
  let server: RunningServer
  let target = 0
  const children: ChildProcess[] = []
  const trusted = getCACertificates('default')

  beforeAll(async () => {
    const dataDir = folder()
    target = await freePort()
    server = await startServer(dataDir, {
      PORTCULLIS_ADMIN_PASSWORD: adminPassword,
      PORTCULLIS_HOST: '0.0.0.0',
      PORTCULLIS_PORT: String(target),
      PORTCULLIS_PROXY_PROTOCOL_FROM: withHeaders,
    })
    // For the requests of this test only: agents pin the CA themselves.
    setDefaultCACertificates([...trusted, readFileSync(join(dataDir, 'tls', 'ca.crt'), 'utf8')])
  })
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL')
    setDefaultCACertificates(trusted)
    await server?.stop()
    for (const dir of dirs) remove(dir)
  })

  it.each(paths)('$name: an agent enrols, stays connected and reports a device', async ({ name, command, agent }) => {
    const [dir, port] = [folder(), await freePort()]
    const [program = '', ...args] = command(dir, port, target)
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] })
    children.push(child)
    const tree = createTree([])
    dirs.push(tree.dir)
    const token = await server.enrolmentToken()
    const before = new Set((await server.agents()).map(({ uuid }) => uuid))
    const running = start(
      'agent/src/main.ts',
      [
        ...agent(dir, port, target),
        ...['--token', token, '--state-dir', join(dir, 'state'), '--sysfs-root', tree.dir],
        ...['--monitor-command', tree.monitor, '--log-level', 'debug'],
      ],
      {},
    )
    children.push(running.child)
    await until('the wake socket', () => running.output().includes('wake_open'))
    const { value: host } = await until('the host', async () =>
      (await server.agents()).find(({ uuid }) => !before.has(uuid)),
    )
    tree.plug(plainKeyboard({ portPath: '1-1' }))
    await until('the device', async () => (await server.peripherals(host.uuid)).length === 1)
    expect(running.output(), name).not.toContain('check_in_failed')
    if (name.endsWith('headers')) expect(await sourceOf(port, '127.0.0.9')).toBe('127.0.0.9')
    // Without the program, the agent says that it cannot connect, and to what.
    child.kill('SIGKILL')
    tree.unplug('1-1')
    await until('a failure', () => running.output().includes('check_in_failed'))
    if (name.startsWith('tinyproxy'))
      expect(running.output()).toContain(`Cannot connect to the proxy 127.0.0.1:${port}`)
    running.child.kill('SIGKILL')
  })
})
