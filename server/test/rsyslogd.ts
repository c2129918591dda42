import { type ChildProcess, spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { IssuedCertificate } from './certificates.ts'

const program = '/usr/sbin/rsyslogd'

/** Returns why no rsyslogd with this TLS driver can be started. Null if it can. */
export const whyNoRsyslogd = (driver?: 'gtls' | 'ossl'): string | null => {
  if (!existsSync(program)) return `${program} is missing (apt-get install rsyslog)`
  const roots = ['/usr/lib/x86_64-linux-gnu/rsyslog', '/usr/lib/aarch64-linux-gnu/rsyslog', '/usr/lib/rsyslog']
  if (driver === undefined || roots.some((root) => existsSync(join(root, `lmnsd_${driver}.so`)))) return null
  return `rsyslog has no driver ${driver} (apt-get install rsyslog-gnutls rsyslog-openssl)`
}

const freeUdpPort = async (): Promise<number> => {
  const socket = createSocket('udp4')
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  const { port } = socket.address()
  await new Promise<void>((resolve) => socket.close(() => resolve()))
  return port
}

export interface RsyslogdOptions {
  protocol: 'udp' | 'tcp' | 'tls'
  /** For `tls`. */
  tls?: IssuedCertificate & { ca: string; driver: 'gtls' | 'ossl' }
}

/** Starts a real rsyslogd on 127.0.0.1. It writes each message as received, and again as parsed. */
export const startRsyslogd = async ({ protocol, tls }: RsyslogdOptions) => {
  const dir = mkdtempSync(join(tmpdir(), 'portcullis-rsyslog-'))
  const file = (name: string): string => join(dir, name)
  const port = protocol === 'udp' ? await freeUdpPort() : 0
  if (tls !== undefined)
    for (const [name, text] of [
      ['ca.pem', tls.ca],
      ['cert.pem', tls.cert],
      ['key.pem', tls.key],
    ] as const)
      writeFileSync(file(name), text, { mode: 0o600 })
  const input = protocol === 'udp' ? 'imudp' : 'imtcp'
  writeFileSync(
    file('rsyslog.conf'),
    [
      tls === undefined
        ? `global(workDirectory="${dir}")`
        : `global(workDirectory="${dir}" DefaultNetstreamDriver="${tls.driver}" DefaultNetstreamDriverCAFile="${file('ca.pem')}" DefaultNetstreamDriverCertFile="${file('cert.pem')}" DefaultNetstreamDriverKeyFile="${file('key.pem')}")`,
      tls === undefined
        ? `module(load="${input}")`
        : `module(load="imtcp" StreamDriver.Name="${tls.driver}" StreamDriver.Mode="1" StreamDriver.AuthMode="anon")`,
      'template(name="raw" type="string" string="%rawmsg%\\n")',
      'template(name="read" type="string" string="%syslogfacility-text%\\t%syslogseverity%\\t%timereported:::date-rfc3339%\\t%hostname%\\t%app-name%\\t%procid%\\t%msgid%\\t%structured-data%\\t%msg%\\n")',
      `ruleset(name="all") { action(type="omfile" file="${file('raw')}" template="raw") action(type="omfile" file="${file('read')}" template="read") }`,
      protocol === 'udp'
        ? `input(type="imudp" address="127.0.0.1" port="${port}" ruleset="all")`
        : `input(type="imtcp" address="127.0.0.1" port="0" listenPortFileName="${file('port')}" ruleset="all")`,
      '',
    ].join('\n'),
  )
  const child: ChildProcess = spawn(program, ['-n', '-f', file('rsyslog.conf'), '-i', file('pid')], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  const ended = new Promise<void>((resolve) => child.on('exit', () => resolve()))
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)

  const wait = async <T>(what: string, read: () => T | null, ms = 20_000): Promise<T> => {
    for (const until = performance.now() + ms; ; ) {
      const found = read()
      if (found !== null) return found
      if (performance.now() > until || child.exitCode !== null) throw new Error(`${what}: ${output}`)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
  const linesOf = (name: string): string[] =>
    existsSync(file(name)) ? readFileSync(file(name), 'utf8').split('\n').slice(0, -1) : []
  const listening =
    protocol === 'udp'
      ? await wait('rsyslogd has not started', () => (existsSync(file('pid')) ? port : null))
      : await wait('rsyslogd does not listen', () => {
          const text = existsSync(file('port')) ? readFileSync(file('port'), 'utf8') : ''
          return /^\d+/.test(text) ? Number.parseInt(text, 10) : null
        })
  if (protocol !== 'udp')
    await new Promise<void>((resolve, reject) => {
      const socket = createConnection(listening, '127.0.0.1', () => {
        socket.destroy()
        resolve()
      }).on('error', reject)
    })
  return {
    port: listening,
    /** Returns the lines as received, once there are this many. */
    raw: (count: number) => wait(`rsyslogd has not written ${count} lines`, () => filled(linesOf('raw'), count)),
    /** Returns the parsed lines: facility, severity, time, host, app, process, message id, structured data, message. */
    read: async (count: number): Promise<string[][]> =>
      (await wait(`rsyslogd has not written ${count} lines`, () => filled(linesOf('read'), count))).map((line) =>
        line.split('\t'),
      ),
    stop: async (): Promise<void> => {
      child.kill('SIGTERM')
      const late = setTimeout(kill, 5_000)
      await ended
      clearTimeout(late)
      process.removeListener('exit', kill)
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

const filled = (lines: string[], count: number): string[] | null => (lines.length >= count ? lines : null)
