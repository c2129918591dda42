import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { knownKeys } from './ssh-peer.ts'

/** Path of Debian's SSH server. Tests report and skip themselves if it is not installed. */
const sshdPath = ['/usr/sbin/sshd', '/usr/bin/sshd'].find((path) => existsSync(path))

/** Reason why no SSH server can be started, or null. */
export const whyNoSshd = sshdPath === undefined ? 'no sshd (Debian package openssh-server)' : null

export const freePort = (host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, host, () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })

/** Root can create temporary accounts with passwords in a mount namespace of the server. */
const canHavePasswords =
  process.getuid?.() === 0 &&
  spawnSync('unshare', ['-m', 'mount', '--bind', '/etc/passwd', '/etc/passwd'], { stdio: 'ignore' }).status === 0 &&
  spawnSync('openssl', ['version'], { stdio: 'ignore' }).status === 0

/** Reason why no account can have a password, or null. */
export const whyNoPasswords = canHavePasswords ? null : 'passwords take root, unshare and openssl'

/** Returns a command that runs with one more account in `/etc/passwd` and `/etc/shadow`, visible only to itself. */
const withAccount = (dir: string, { userName, password }: Account, command: readonly string[]): string[] => {
  const hash = execFileSync('openssl', ['passwd', '-6', '-stdin'], { input: `${password}\n`, encoding: 'utf8' }).trim()
  for (const [file, line] of [
    ['passwd', `${userName}:x:65533:65533::/tmp:/bin/sh`],
    ['shadow', `${userName}:${hash}:19000:0:99999:7:::`],
  ] as const)
    writeFileSync(join(dir, file), `${readFileSync(`/etc/${file}`, 'utf8').trimEnd()}\n${line}\n`, { mode: 0o644 })
  const mounts = ['passwd', 'shadow'].map((file) => `mount --bind '${join(dir, file)}' /etc/${file}`)
  return ['unshare', '-m', 'sh', '-c', `${mounts.join(' && ')} && exec "$@"`, 'sh', ...command]
}

export interface Account {
  userName: string
  password: string
}

/** Starts a real SSH server on an address of 127.0.0.0/8 that accepts this user's private key. */
export const startSshd = async (
  host = '127.0.0.1',
  extra: readonly string[] = [],
  account?: Account,
  /** File for the log of the server. */
  log?: string,
) => {
  const dir = mkdtempSync(join(tmpdir(), 'portcullis-sshd-'))
  const keygen = (name: string, passphrase = '') => {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', passphrase, '-C', name, '-f', join(dir, name)])
    return readFileSync(join(dir, name), 'utf8')
  }
  keygen('host')
  const privateKey = keygen('user')
  const sealedKey = keygen('sealed', 'open sesame')
  writeFileSync(
    join(dir, 'authorized'),
    readFileSync(join(dir, 'user.pub'), 'utf8') + readFileSync(join(dir, 'sealed.pub'), 'utf8'),
  )
  const port = await freePort(host)
  writeFileSync(
    join(dir, 'config'),
    [
      // sshd uses the first of several values.
      ...extra,
      `ListenAddress ${host}:${port}`,
      `HostKey ${join(dir, 'host')}`,
      `AuthorizedKeysFile ${join(dir, 'authorized')}`,
      'StrictModes no',
      'UsePAM no',
      'PermitRootLogin yes',
      'PasswordAuthentication yes',
      'MaxStartups 1000',
      'LogLevel QUIET',
      `PidFile ${join(dir, 'pid')}`,
      '',
    ].join('\n'),
  )
  // Directory for the privilege separation of sshd, which its package normally creates at boot.
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })
  const plain = [sshdPath as string, '-D', ...(log === undefined ? ['-e'] : ['-E', log]), '-f', join(dir, 'config')]
  const [command, ...args] = account === undefined ? plain : withAccount(dir, account, plain)
  const child: ChildProcess = spawn(command as string, args, { stdio: 'ignore' })
  const fingerprint = execFileSync('ssh-keygen', ['-l', '-f', join(dir, 'host.pub')], { encoding: 'utf8' }).split(
    ' ',
  )[1]
  knownKeys.set(port, fingerprint as string)
  return {
    host,
    port,
    userName: userInfo().username,
    privateKey,
    sealedKey,
    fingerprint: fingerprint as string,
    stop: (): void => {
      child.kill('SIGKILL')
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

export type Sshd = Awaited<ReturnType<typeof startSshd>>

/** Starts a server that does not speak SSH. `speak` handles each connection. */
export const startPeer = (
  speak: (socket: import('node:net').Socket) => void,
): Promise<{ port: number; server: Server }> =>
  new Promise((resolve) => {
    const server = createServer((socket) => {
      socket.on('error', () => {})
      speak(socket)
    })
    server.listen(0, '127.0.0.1', () => resolve({ port: (server.address() as { port: number }).port, server }))
  })
