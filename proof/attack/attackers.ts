/** Runs the attackers of the availability gate in their own thread, so that they do not delay the measurement. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { parentPort, Worker, workerData } from 'node:worker_threads'
import { agentPaths, workerPaths } from '@portcullis/contract'

export interface AttackOptions {
  url: string
  /** Session token of the flooding agent. */
  session: string
  bootId: string
  /** Number of connections that sign in from one address and from many networks. */
  signIns: { oneAddress: number; manyNetworks: number }
}

/** Counts of the requests sent and of certain responses. */
export interface Attacked {
  bodies: number
  reports: number
  signIns: number
  slow: number
  /** Bodies without a key that got a response other than 401. */
  taken: number
  /** Invalid reports of the flooding agent that were parsed and answered with 400. */
  parsed: number
}

const bodyBytes = 3_200_000
const senders = 4
const floods = 4
const slowBodies = 60

const attack = ({ url, session, bootId, signIns }: AttackOptions) => {
  const { hostname, port } = new URL(url)
  const counts: Attacked = { bodies: 0, reports: 0, signIns: 0, slow: 0, taken: 0, parsed: 0 }
  const open = new Set<Socket>()
  let isOver = false

  /** Sends bytes on a new connection. Returns the status, or 0 if the connection closes without one. */
  const send = (bytes: readonly (string | Buffer)[]): Promise<number> =>
    new Promise((resolve) => {
      const socket = connect(Number(port), hostname)
      let answer = ''
      open.add(socket)
      socket.on('connect', () => {
        for (const part of bytes) socket.write(part)
      })
      socket.on('data', (data) => {
        answer += data.toString('latin1')
        if (answer.includes('\r\n\r\n')) socket.destroy()
      })
      socket.on('error', () => {})
      socket.on('close', () => {
        open.delete(socket)
        resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0))
      })
    })
  const again = async (work: () => Promise<unknown>): Promise<void> => {
    while (!isOver) await work()
  }
  const headOf = (path: string, length: number, more: string): string =>
    `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n${more}\r\n`

  // Small values cost the most to parse.
  const filled = (before: string, after: string): Buffer => {
    const piece = '[],'
    return Buffer.from(`${before}${piece.repeat(Math.ceil((bodyBytes - before.length) / piece.length))}[]${after}`)
  }
  const results = filled('{"results":[{"devices":[', ']}]}')
  const report = filled(`{"bootId":"${bootId}","seq":1,"clock":1,"inventory":[`, ']}')

  const sendBody = async (): Promise<void> => {
    const status = await send([headOf(workerPaths.results, results.length, ''), results])
    counts.bodies++
    if (status !== 0 && status !== 401) counts.taken++
  }
  const sendReport = async (): Promise<void> => {
    const more = `authorization: Bearer ${session}\r\nx-forwarded-for: 198.51.100.9\r\n`
    if ((await send([headOf(agentPaths.checkIn, report.length, more), report])) === 400) counts.parsed++
    counts.reports++
  }
  const signIn = async (address: string, name: string): Promise<void> => {
    const body = JSON.stringify({ userName: name, password: 'a wrong password' })
    await send([headOf('/prime/webui/Auth/LocalLogin', body.length, `x-forwarded-for: ${address}\r\n`), body])
    counts.signIns++
  }
  const sendSlowly = async (i: number): Promise<void> => {
    const socket = connect(Number(port), hostname)
    open.add(socket)
    socket.on('error', () => {})
    counts.slow++
    await once(socket, 'connect').catch(() => {})
    socket.write(headOf(i % 2 === 0 ? agentPaths.enrol : workerPaths.results, 10_000, ''))
    const timer = setInterval(() => socket.write(' '), 500)
    await new Promise((resolve) => socket.once('close', resolve).resume())
    clearInterval(timer)
    open.delete(socket)
    if (!isOver) await pause(1_000)
  }

  const running = [
    ...Array.from({ length: senders }, () => again(sendBody)),
    ...Array.from({ length: floods }, () => again(sendReport)),
    ...Array.from({ length: slowBodies }, (_, i) => again(() => sendSlowly(i))),
    ...Array.from({ length: signIns.oneAddress }, (_, i) => again(() => signIn('198.51.100.66', `nobody-${i}`))),
    ...Array.from({ length: signIns.manyNetworks }, (_, i) =>
      again(() => signIn(`100.${64 + (i >> 8)}.${i & 255}.7`, `stranger-${i}`)),
    ),
  ]
  return async (): Promise<Attacked> => {
    isOver = true
    for (const socket of open) socket.destroy()
    await Promise.all(running)
    return counts
  }
}

/** Starts the attack and returns a function that stops it. */
export const startAttack = (options: AttackOptions): (() => Promise<Attacked>) => {
  const worker = new Worker(new URL(import.meta.url), { workerData: { attack: options } })
  return async () => {
    const answered = once(worker, 'message')
    worker.postMessage('stop')
    const [counts] = (await answered) as [Attacked]
    await worker.terminate()
    return counts
  }
}

const { attack: asked } = (workerData ?? {}) as { attack?: AttackOptions }
if (asked !== undefined) {
  const stop = attack(asked)
  parentPort?.once('message', async () => parentPort?.postMessage(await stop()))
}
