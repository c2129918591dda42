import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect as connectSocket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { freePort } from './free-port.ts'

const program = '/usr/sbin/nats-server'

/** Returns why NATS cannot be started. Null if it can. */
export const whyNoNats = (): string | null =>
  existsSync(program) ? null : 'nats-server is missing (apt-get install nats-server)'

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connectSocket({ host: '127.0.0.1', port })
      .on('connect', () => {
        socket.destroy()
        resolve(true)
      })
      .on('error', () => resolve(false))
  })

export interface HeldMessage {
  seq: number
  subject: string
  id: string
  text: string
}

export type TestNats = Awaited<ReturnType<typeof startNats>>

/**
 * Starts a real NATS server with JetStream on its own port. It can restart on the same port, with or without its store.
 */
export const startNats = async (options: { user?: string; password?: string; publish?: readonly string[] } = {}) => {
  const port = await freePort()
  const dir = mkdtempSync(join(tmpdir(), 'portcullis-nats-'))
  const { user, password } = options
  const operator = { user: 'operator', password: 'operator of the test' }
  let child: ChildProcess | null = null
  const kill = (): void => void child?.kill('SIGKILL')
  process.once('exit', kill)

  /** Writes a configuration in which the user may publish to these subjects only. An operator may do everything. */
  const restricted = (publish: readonly string[]): string => {
    const file = join(dir, 'nats.conf')
    const permissions = { publish, subscribe: ['_INBOX.>'] }
    const users = [{ user, password, permissions }, operator]
    writeFileSync(file, JSON.stringify({ authorization: { users } }))
    return file
  }
  const start = async (): Promise<void> => {
    const args = ['-a', '127.0.0.1', '-p', String(port), '-js', '-sd', dir]
    if (options.publish !== undefined) args.push('-c', restricted(options.publish))
    else if (user !== undefined) args.push('--user', user, '--pass', password ?? '')
    child = spawn(program, args, { stdio: 'ignore' })
    while (!(await answers(port))) await sleep(20)
  }
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const old = child
    child = null
    if (old === null) return
    const ended = new Promise((resolve) => old.once('exit', resolve))
    old.kill(signal)
    await ended
  }
  await start()
  const owner = options.publish === undefined ? { user, password } : operator
  const auth = user === undefined ? {} : { user: owner.user ?? '', pass: owner.password ?? '' }

  return {
    port,
    url: `nats://${user === undefined ? '' : `${user}:${password}@`}127.0.0.1:${port}`,
    start,
    /** Stops it like a power failure. */
    kill: () => end('SIGKILL'),
    /** Deletes its store. */
    loseStore: (): void => rmSync(dir, { recursive: true, force: true }),
    /** Reads the messages of its stream, in order. */
    held: async (name = 'PORTCULLIS_ASSETS'): Promise<HeldMessage[]> => {
      const connection = await connect({ servers: `127.0.0.1:${port}`, ...auth })
      try {
        const manager = await jetstreamManager(connection)
        const { state } = await manager.streams.info(name)
        const messages: HeldMessage[] = []
        for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
          const message = await manager.streams.getMessage(name, { seq }).catch(() => null)
          if (message !== null)
            messages.push({
              seq,
              subject: message.subject,
              id: message.header.get('Nats-Msg-Id'),
              text: new TextDecoder().decode(message.data),
            })
        }
        return messages
      } finally {
        await connection.close()
      }
    },
    /** Changes its streams, as an operator does. */
    manage: async <T>(work: (manager: Awaited<ReturnType<typeof jetstreamManager>>) => Promise<T>): Promise<T> => {
      const connection = await connect({ servers: `127.0.0.1:${port}`, ...auth })
      try {
        return await work(await jetstreamManager(connection))
      } finally {
        await connection.close()
      }
    },
    stop: async (): Promise<void> => {
      await end('SIGKILL')
      process.removeListener('exit', kill)
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
