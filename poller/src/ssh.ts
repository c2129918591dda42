import { createHash } from 'node:crypto'
import { lookup } from 'node:dns/promises'
import { connect, isIP } from 'node:net'
import type { Poll, PollFailure, PollStep } from '@portcullis/contract'
import { mayConnectTo } from '@portcullis/domain'
import { Client, type ClientChannel, type ConnectConfig } from 'ssh2'
import { createKeyedSemaphore } from './keyed-semaphore.ts'

/** What a host printed. */
export interface Output {
  stdout: Buffer
  code: number | null
}

/** Why a step did not succeed; the message is for people and holds no secret. */
export class PollError extends Error {
  readonly failure: PollFailure
  constructor(failure: PollFailure, message = '') {
    super(message)
    this.failure = failure
  }
}

/** An open connection to a host. */
export interface Session {
  /** Runs a fixed command; its standard input is empty. */
  run(command: string): Promise<Output>
  /** Address that was connected to. */
  address: string
  /** It is OpenSSH for Windows by its own word: a hint what to ask first, no more. */
  isWindows: boolean
  close(): void
}

/** Fingerprint of a host key as `ssh-keygen -l` prints it. */
const fingerprintOf = (key: Buffer): string =>
  `SHA256:${createHash('sha256')
    .update(key)
    .digest('base64')
    .replace(/={1,2}$/, '')}`

/** What is still safe in 2026; a server that offers none of these is told apart from one that is down. */
const algorithms: NonNullable<ConnectConfig['algorithms']> = {
  kex: [
    'curve25519-sha256',
    'curve25519-sha256@libssh.org',
    'ecdh-sha2-nistp256',
    'ecdh-sha2-nistp384',
    'ecdh-sha2-nistp521',
    'diffie-hellman-group14-sha256',
    'diffie-hellman-group16-sha512',
  ],
  serverHostKey: [
    'ssh-ed25519',
    'ecdsa-sha2-nistp256',
    'ecdsa-sha2-nistp384',
    'ecdsa-sha2-nistp521',
    'rsa-sha2-512',
    'rsa-sha2-256',
  ],
  cipher: ['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com', 'aes128-ctr', 'aes192-ctr', 'aes256-ctr'],
  hmac: ['hmac-sha2-256-etm@openssh.com', 'hmac-sha2-512-etm@openssh.com', 'hmac-sha2-256', 'hmac-sha2-512'],
  compress: ['none'],
}

/** Errors of the library and of the network, as the causes that are documented. */
const failureOf = (error: Error & { code?: string; level?: string }): PollFailure => {
  if (error.code === 'ECONNREFUSED') return 'connection-refused'
  if (error.code === 'ENOTFOUND' || error.code === 'EAI_AGAIN' || error.code === 'ENODATA') return 'name-not-found'
  if (error.code === 'ETIMEDOUT' || error.code === 'EHOSTUNREACH' || error.code === 'ENETUNREACH')
    return 'connect-timeout'
  if (error.level === 'client-timeout') return 'connect-timeout'
  if (error.level === 'client-authentication') return 'sign-in-refused'
  if (/no matching|unsupported|handshake failed/i.test(error.message)) return 'no-common-algorithm'
  return 'connection-lost'
}

/** Connections to one address at a time, by whatever names: servers end what is beyond their MaxStartups (10, sshd_config(5)). */
const hosts = createKeyedSemaphore(2)

/** Where a name leads. What is looked up is what is connected to: a name that changes in between changes nothing. */
const addressOf = async (host: string): Promise<string> => {
  let address = host
  if (isIP(host) === 0)
    try {
      address = (await lookup(host)).address
    } catch {
      throw new PollError('name-not-found')
    }
  // A name of somebody else's that leads to this machine would have its own SSH server tried.
  if (!mayConnectTo(host, address)) throw new PollError('address-refused', address)
  return address
}

export interface OpenOptions {
  poll: Poll
  /** Called when a step begins. */
  onStep(step: PollStep): void
  /** Called with the key the host shows, once. */
  onHostKey(fingerprint: string): void
  signal: AbortSignal
}

/** Questions of a server that asks for the password by itself; PAM puts up to three without a field around the one. */
const mostQuestions = 5
/** Bytes of a connection beyond what the command prints: key exchange, framing. */
const overheadBytes = 1024 * 1024

/**
 * Connects and signs in. Another host key than the pinned one ends it before a credential is sent: the key is looked at
 * in the key exchange, and ssh2 authenticates only after that. The socket is ours: the library leaves one open whose
 * peer misbehaved, and counts nothing of what it brings but the output of the command.
 */
export const openSession = async ({ poll, onStep, onHostKey, signal }: OpenOptions): Promise<Session> => {
  // A machine that answers for an unknown host must not get the password. A private key reveals nothing.
  const isFirstContact = poll.hostKeyFingerprint === null
  const password = isFirstContact ? null : poll.password
  const isWithheld = isFirstContact && (poll.password !== null || poll.isPasswordWithheld === true)
  if (poll.userName === '' || (password === null && poll.privateKey === null && !isWithheld))
    throw new PollError('no-credentials')
  onStep('resolve')
  const host = await addressOf(poll.host)
  const leave = await hosts.take(host, signal)
  if (signal.aborted) {
    leave()
    throw signal.reason as Error
  }
  onStep('connect')
  let step: PollStep | 'ready' = 'connect'
  const client = new Client()
  const socket = connect({ host, port: poll.port })
  let shown = ''
  let failure: PollError | null = null
  function close(): void {
    client.destroy()
    socket.destroy()
    leave()
  }
  function fail(error: PollError): void {
    failure ??= error
    close()
  }
  const reasonOf = (other: PollError): Error => failure ?? (signal.aborted ? (signal.reason as Error) : other)
  signal.addEventListener('abort', close, { once: true })
  socket.on('data', () => {
    if (socket.bytesRead > poll.limits.outputBytes + overheadBytes) fail(new PollError('output-too-large'))
  })
  await new Promise<void>((resolve, reject) => {
    client.once('ready', () => {
      step = 'ready'
      resolve()
    })
    client.on('error', (error: Error & { code?: string; level?: string }) =>
      reject(
        reasonOf(
          isWithheld && step === 'sign-in' && failureOf(error) === 'sign-in-refused'
            ? new PollError('host-key-unconfirmed', `it shows ${shown}; its private key was not enough`)
            : new PollError(failureOf(error), step === 'sign-in' ? '' : error.message),
        ),
      ),
    )
    client.once('close', () => reject(reasonOf(new PollError('connection-lost'))))
    let questions = 0
    let isAnswered = false
    client.on('keyboard-interactive', (_name, _instructions, _language, prompts, finish) => {
      const [prompt] = prompts
      if (
        ++questions > mostQuestions ||
        prompts.length > 1 ||
        (prompt !== undefined && (prompt.echo === true || isAnswered))
      )
        fail(new PollError('sign-in-refused', 'it asks for more than a password'))
      else if (prompt === undefined) finish([])
      else {
        isAnswered = true
        finish([password ?? ''])
      }
    })
    try {
      client.connect({
        sock: socket,
        username: poll.userName,
        ...(password === null ? {} : { password, tryKeyboard: true }),
        ...(poll.privateKey === null ? {} : { privateKey: poll.privateKey }),
        ...(poll.passphrase === null ? {} : { passphrase: poll.passphrase }),
        readyTimeout: poll.limits.connectMs,
        keepaliveInterval: 0,
        algorithms,
        // A key tells a host nothing that it could use elsewhere; a password does, so it comes last.
        authHandler: [
          ...(poll.privateKey === null ? [] : (['publickey'] as const)),
          ...(password === null ? [] : (['password', 'keyboard-interactive'] as const)),
        ],
        hostVerifier: (key: Buffer) => {
          const fingerprint = fingerprintOf(key)
          // A host may exchange keys anew whenever it likes, but for the same host key.
          if (shown !== '') return fingerprint === shown
          step = 'host-key'
          onStep('host-key')
          shown = fingerprint
          onHostKey(shown)
          if (poll.hostKeyFingerprint !== null && shown !== poll.hostKeyFingerprint) {
            failure = new PollError('host-key-changed', `expected ${poll.hostKeyFingerprint}, it shows ${shown}`)
            return false
          }
          if (isWithheld && poll.privateKey === null) {
            failure = new PollError('host-key-unconfirmed', `it shows ${shown}`)
            return false
          }
          step = 'sign-in'
          onStep('sign-in')
          return true
        },
      })
    } catch (error) {
      // The library reads the key before it connects.
      reject(new PollError('key-unusable', (error as Error).message.slice(0, 200)))
    }
  }).catch((error: unknown) => {
    close()
    throw error
  })

  const run = (command: string): Promise<Output> =>
    new Promise((resolve, reject) => {
      const lost = (): void => reject(reasonOf(new PollError('connection-lost')))
      client.once('close', lost)
      client.exec(command, (error: Error | undefined, channel: ClientChannel) => {
        if (error !== undefined) {
          reject(new PollError('not-permitted', error.message.slice(0, 200)))
          return
        }
        const parts: Buffer[] = []
        let size = 0
        let code: number | null = null
        function take(part: Buffer, isKept: boolean): void {
          size += part.length
          if (size > poll.limits.outputBytes) {
            fail(new PollError('output-too-large'))
          } else if (isKept) parts.push(part)
        }
        channel.on('data', (part: Buffer) => take(part, true))
        channel.stderr.on('data', (part: Buffer) => take(part, false))
        channel.on('exit', (given: number | null) => {
          code = given
        })
        channel.on('close', () => {
          client.removeListener('close', lost)
          resolve({ stdout: Buffer.concat(parts), code })
        })
        channel.end()
      })
    })
  // The library keeps the banner to itself; without it, the other system is asked first, which only costs a round trip.
  const { _remoteVer: banner } = client as { _remoteVer?: unknown }
  const isWindows = typeof banner === 'string' && /for_windows/i.test(banner)
  return { run, address: host, isWindows, close }
}
