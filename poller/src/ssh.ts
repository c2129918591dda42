import { createHash } from 'node:crypto'
import { lookup } from 'node:dns/promises'
import { connect, isIP } from 'node:net'
import type { Poll, PollFailure, PollStep } from '@portcullis/contract/worker-protocol.ts'
import { mayConnectTo, sshKeyOf } from '@portcullis/domain'
import { Client, type ClientChannel, type ServerHostKeyAlgorithm } from 'ssh2'
import { createKeyedSemaphore } from './keyed-semaphore.ts'
import { algorithms, createMethods, createOffers, hostKeyTypes } from './ssh-negotiation.ts'

/** Output of a command on a host. */
export interface Output {
  stdout: Buffer
  code: number | null
}

/** Failure of a step. The message is shown to the operator and contains no secrets. */
export class PollError extends Error {
  readonly failure: PollFailure
  constructor(failure: PollFailure, message = '') {
    super(message)
    this.failure = failure
  }
}

/** An open connection to a host. */
export interface Session {
  /** Runs a fixed command with an empty standard input. */
  run(command: string): Promise<Output>
  /** Address of the host. */
  address: string
  /** Whether the banner names OpenSSH for Windows. It only suggests which command to try first. */
  isWindows: boolean
  close(): void
}

/** Returns the fingerprint of a host key as `ssh-keygen -l` prints it. */
const fingerprintOf = (key: Buffer): string =>
  `SHA256:${createHash('sha256')
    .update(key)
    .digest('base64')
    .replace(/={1,2}$/, '')}`

/** Maps errors of the library and the network to the documented failures. */
const failureOf = (error: Error & { code?: string; level?: string }): PollFailure => {
  if (error.code === 'ECONNREFUSED') return 'connection-refused'
  if (error.code === 'ENOTFOUND' || error.code === 'EAI_AGAIN' || error.code === 'ENODATA') return 'name-not-found'
  if (error.code === 'ETIMEDOUT' || error.code === 'EHOSTUNREACH' || error.code === 'ENETUNREACH')
    return 'connect-timeout'
  if (error.level === 'client-timeout') return 'connect-timeout'
  // With MaxAuthTries 1, OpenSSH disconnects instead of refusing the first attempt.
  if (error.level === 'client-authentication' || /too many authentication/i.test(error.message))
    return 'sign-in-refused'
  if (/no matching|unsupported|handshake failed/i.test(error.message)) return 'no-common-algorithm'
  return 'connection-lost'
}

/** Limits the connections to one address, because sshd drops connections beyond MaxStartups (10, sshd_config(5)). */
const hosts = createKeyedSemaphore(2)

/** Resolves a name once. The connection uses this address, so a later change of the name has no effect. */
const addressOf = async (host: string): Promise<string> => {
  let address = host
  if (isIP(host) === 0)
    try {
      address = (await lookup(host)).address
    } catch {
      throw new PollError('name-not-found')
    }
  // Otherwise a foreign name that resolves to this machine would make the worker try its own SSH server.
  if (!mayConnectTo(host, address)) throw new PollError('address-refused', address)
  return address
}

export interface OpenOptions {
  poll: Poll
  /** Called when a step begins. */
  onStep(step: PollStep): void
  /** Called once with the fingerprint of the host key. */
  onHostKey(fingerprint: string): void
  signal: AbortSignal
}

/** Maximum number of keyboard-interactive requests. PAM sends up to three requests without a field around the password. */
const maxQuestions = 5
/** Bytes of a connection in addition to the output of the command (key exchange, framing). */
const overheadBytes = 1024 * 1024

/** The host presented another key than the pinned one. */
class OtherHostKey extends PollError {
  readonly type: string
  readonly presented: string
  constructor(type: string, presented: string, pinned: string) {
    super('host-key-changed', `expected ${pinned}, the host presented ${presented}`)
    this.type = type
    this.presented = presented
  }
}

/** Types of pinned host keys that are not the first that their host presents. */
const pinnedTypes = new Map<string, (typeof hostKeyTypes)[number]>()

/**
 * Connects and signs in. If the host presents another key than the pinned one, asks for its keys of the other types: a host
 * that gained a key still has the pinned one.
 */
export const openSession = async (options: OpenOptions): Promise<Session> => {
  const pinned = options.poll.hostKeyFingerprint ?? ''
  const preferred = pinnedTypes.get(pinned)
  let left = preferred === undefined ? hostKeyTypes : [preferred, ...hostKeyTypes.filter((one) => one !== preferred)]
  let first: OtherHostKey | undefined
  for (;;)
    try {
      const isRetry = first !== undefined
      return await connectOnce(
        {
          ...options,
          onStep: (step) => {
            if (!isRetry || (step !== 'resolve' && step !== 'connect' && step !== 'host-key')) options.onStep(step)
          },
          onHostKey: (fingerprint, type) => {
            if (fingerprint !== pinned) return isRetry ? undefined : options.onHostKey(fingerprint)
            if (pinnedTypes.size >= 100_000) pinnedTypes.clear()
            const found = hostKeyTypes.find((one) => one.type.test(type))
            if (found !== undefined && (isRetry || preferred !== undefined)) pinnedTypes.set(pinned, found)
            options.onHostKey(fingerprint)
          },
        },
        left.flatMap((one) => one.algorithms),
      )
    } catch (error) {
      const isWithoutOthers =
        first !== undefined && error instanceof PollError && error.failure === 'no-common-algorithm'
      if (isWithoutOthers) throw first
      if (!(error instanceof OtherHostKey)) throw error
      first ??= error
      left = left.filter((one) => !one.type.test(error.type))
      if (left.length === 0 || left.length === hostKeyTypes.length) throw first
    }
}

interface ConnectOptions extends Omit<OpenOptions, 'onHostKey'> {
  onHostKey(fingerprint: string, type: string): void
}

/**
 * Connects and signs in. A host key other than the pinned one ends the connection before a credential is sent, because
 * ssh2 authenticates after the key exchange. The socket belongs to this module, because the library
 * leaves it open after a protocol error and limits only the output of the command.
 */
const connectOnce = async (
  { poll, onStep, onHostKey, signal }: ConnectOptions,
  serverHostKey: readonly ServerHostKeyAlgorithm[],
): Promise<Session> => {
  // A machine that impersonates a host must not get its password. A private key reveals nothing.
  const isUnconfirmed = poll.hostKeyFingerprint === null || poll.isPasswordWithheld === true
  const password = isUnconfirmed ? null : poll.password
  const isWithheld = poll.isPasswordWithheld === true || (isUnconfirmed && poll.password !== null)
  if (poll.userName === '' || (password === null && poll.privateKey === null && !isWithheld))
    throw new PollError('no-credentials')
  const key = poll.privateKey === null ? null : sshKeyOf(poll.privateKey)
  if (key !== null && 'fault' in key) throw new PollError('key-unusable', `The private key ${key.fault}.`)
  onStep('resolve')
  const host = await addressOf(poll.host)
  const release = await hosts.acquire(host, signal)
  if (signal.aborted) {
    release()
    throw signal.reason as Error
  }
  onStep('connect')
  let step: PollStep | 'ready' = 'connect'
  const client = new Client()
  const socket = connect({ host, port: poll.port })
  const offers = createOffers()
  const methods = createMethods(key !== null, password !== null)
  let shown = ''
  let failure: PollError | null = null
  function close(): void {
    client.destroy()
    socket.destroy()
    release()
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
    /** Returns the failure during the sign-in. A host may close the connection instead of refusing it (MaxAuthTries). */
    const signInError = (found: PollFailure): PollError => {
      const isClosed = found === 'connection-lost' && methods.refusals() > 0
      if (isWithheld && (isClosed || found === 'sign-in-refused'))
        return new PollError('host-key-unconfirmed', `the host presented ${shown} and refused the private key`)
      return isClosed
        ? new PollError('sign-in-refused', 'the host closed the connection after a refused attempt')
        : new PollError(found)
    }
    client.on('error', (error: Error & { code?: string; level?: string }) => {
      const found = failureOf(error)
      reject(reasonOf(step === 'sign-in' ? signInError(found) : new PollError(found, offers.explain(error.message))))
    })
    client.once('close', () =>
      reject(reasonOf(step === 'sign-in' ? signInError('connection-lost') : new PollError('connection-lost'))),
    )
    let questions = 0
    let isAnswered = false
    client.on('keyboard-interactive', (_name, _instructions, _language, prompts, finish) => {
      const [prompt] = prompts
      if (
        ++questions > maxQuestions ||
        prompts.length > 1 ||
        (prompt !== undefined && (prompt.echo === true || isAnswered))
      )
        fail(new PollError('sign-in-refused', 'the host asks for more than a password'))
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
        ...(key === null ? {} : { privateKey: key.key }),
        ...(poll.passphrase === null ? {} : { passphrase: poll.passphrase }),
        readyTimeout: poll.limits.connectMs,
        keepaliveInterval: 0,
        algorithms: { ...algorithms, serverHostKey: [...serverHostKey] },
        debug: offers.note,
        authHandler: (left, isPartial) => methods.next(left, isPartial),
        hostVerifier: (hostKey: Buffer) => {
          const fingerprint = fingerprintOf(hostKey)
          const type = hostKey.toString('latin1', 4, 4 + Math.min(64, hostKey.readUInt32BE(0)))
          // A host may repeat the key exchange at any time, but only with the same host key.
          if (shown !== '') return fingerprint === shown
          step = 'host-key'
          onStep('host-key')
          shown = fingerprint
          onHostKey(shown, type)
          if (poll.hostKeyFingerprint !== null && shown !== poll.hostKeyFingerprint) {
            failure = new OtherHostKey(type, shown, poll.hostKeyFingerprint)
            return false
          }
          if (isWithheld && poll.privateKey === null) {
            failure = new PollError('host-key-unconfirmed', `the host presented ${shown}`)
            return false
          }
          step = 'sign-in'
          onStep('sign-in')
          return true
        },
      })
    } catch (error) {
      // The library parses the private key before it connects.
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
  // The library does not export the banner. Without it, the wrong command may run first, which costs one round trip.
  const { _remoteVer: banner } = client as { _remoteVer?: unknown }
  const isWindows = typeof banner === 'string' && /for_windows/i.test(banner)
  return { run, address: host, isWindows, close }
}
