/** SSH servers other than OpenSSH, from their Debian packages in a folder of their own. */
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Writable } from 'node:stream'
import type { Poll, PollResult } from '@portcullis/contract/worker-protocol.ts'
import { unless } from '@portcullis/domain/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pollHost } from '../src/poll.ts'
import { freePort, whyNoPasswords } from './sshd.ts'

const packages = ['tinysshd', 'dropbear-bin', 'libtomcrypt1', 'libtommath1']
let dir = ''
const servers: (() => void)[] = []

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'portcullis-ssh-packages-'))
  execFileSync('apt-get', ['download', '-q', ...packages], { cwd: dir, stdio: 'ignore' })
  for (const file of readdirSync(dir)) execFileSync('dpkg-deb', ['-x', join(dir, file), join(dir, 'root')])
  // Both servers read the authorized keys in the home directory of root. The home is visible to them only.
  mkdirSync(join(dir, 'home/.ssh'), { recursive: true, mode: 0o700 })
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(dir, 'home/.ssh/user')])
  execFileSync('cp', [join(dir, 'home/.ssh/user.pub'), join(dir, 'home/.ssh/authorized_keys')])
}, 120_000)
afterAll(() => {
  for (const stop of servers) stop()
  rmSync(dir, { recursive: true, force: true })
})

const libraries = (): string =>
  dirname(
    execFileSync('find', [join(dir, 'root'), '-name', 'libtomcrypt.so*'], { encoding: 'utf8' }).split('\n')[0] ?? '',
  )
/** Returns a command that runs with the home directory of root bound to the folder of the test. */
const atHome = (command: string): [string, string[]] => [
  'unshare',
  ['-m', 'sh', '-c', `mount --bind ${join(dir, 'home')} /root && exec ${command}`],
]

/** Starts a program with the libraries of the packages. */
const start = (command: string, stdio: 'ignore' | 'pipe') => {
  const [program, args] = atHome(command)
  const env = { ...process.env, LD_LIBRARY_PATH: libraries() }
  return spawn(program, args, { stdio: [stdio, stdio, 'ignore'], env })
}

/** Starts a server that speaks on its standard input, for each connection, as inetd does. */
const serve = async (command: string): Promise<number> => {
  const server = createServer((socket) => {
    const child = start(command, 'pipe')
    socket.on('error', () => child.kill())
    child.stdin?.on('error', () => socket.destroy())
    socket.pipe(child.stdin as Writable)
    child.stdout?.pipe(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  servers.push(() => server.close())
  return (server.address() as { port: number }).port
}

const polled = async (port: number, privateKey: string): Promise<PollResult> => {
  const poll: Poll = {
    ...{ id: '0199a0c4-0000-7000-8000-000000000003', fence: 1, isTest: false, host: '127.0.0.1', port, platform: null },
    ...{ userName: 'root', password: null, privateKey, passphrase: null, hostKeyFingerprint: null },
    limits: { connectMs: 30_000, totalMs: 60_000, outputBytes: 4 * 1024 * 1024 },
  }
  for (let i = 0; ; i++) {
    const result = await pollHost(poll, () => {}, new AbortController().signal)
    // The server may still be starting.
    if (result.failure !== 'connection-refused' || i === 200) return result
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

describe('a poll', unless(whyNoPasswords), () => {
  const userKey = (): string => execFileSync('cat', [join(dir, 'home/.ssh/user')], { encoding: 'utf8' })

  it('reaches tinysshd, which has only ChaCha20', async () => {
    const program = join(dir, 'root/usr/sbin/tinysshd')
    execFileSync(`${program}-makekey`, [join(dir, 'tiny-keys')], { stdio: 'ignore' })
    const result = await polled(await serve(`${program} ${join(dir, 'tiny-keys')}`), userKey())
    expect(result).toMatchObject({ failure: null, platform: 'linux' })
  })

  it.each(['ed25519', 'rsa', 'ecdsa'])('reaches Dropbear with a host key of type %s', async (type) => {
    const key = join(dir, `dropbear-${type}`)
    const env = { ...process.env, LD_LIBRARY_PATH: libraries() }
    execFileSync(join(dir, 'root/usr/bin/dropbearkey'), ['-t', type, '-f', key], { stdio: 'ignore', env })
    const port = await freePort('127.0.0.1')
    const child = start(
      `${join(dir, 'root/usr/sbin/dropbear')} -F -E -P ${key}.pid -p 127.0.0.1:${port} -r ${key}`,
      'ignore',
    )
    servers.push(() => child.kill('SIGKILL'))
    const result = await polled(port, userKey())
    expect(result).toMatchObject({ failure: null, platform: 'linux' })
  })
})
