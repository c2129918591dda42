import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import {
  type AgentCommandBodies,
  type AgentCommandKind,
  agentPaths,
  type CheckInRequest,
  type CheckInResponse,
  type DeviceReport,
  type EnforcementState,
  type EnrolResponse,
  type HostFacts,
  type PolicyPayload,
  type PolicyRequest,
  type PolicyRule,
  type SessionResponse,
  type SignedText,
} from '@portcullis/contract/agent-protocol.ts'
import { until } from '../../proof/kit/harness.ts'

type Ack = NonNullable<CheckInRequest['acks']>[number]

const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../knowledge/${name}`, import.meta.url), 'utf8'))
const knowledge = JSON.stringify({
  attackTools: read('attack-tools.json'),
  genuine: read('genuine-descriptors.json'),
})
const knowledgeHash = createHash('sha256').update(knowledge).digest('hex')

export type Peer = Awaited<ReturnType<typeof startPeer>>

/**
 * Starts the server side of the agent protocol for one agent. It sends a signed policy and signed commands and stores
 * reports. It trusts the agent, because tests of the server check requests.
 */
export const startPeer = async () => {
  const keys = generateKeyPairSync('ed25519')
  const token = 'pce_1_secret'
  const agentId = randomUUID()
  let isAway = false
  let counter = 0
  let policy = { version: 0, rules: [] as PolicyRule[] }
  let queue: { id: string; signed: SignedText }[] = []
  let seq = { bootId: '', last: 0, answer: '' }
  const devices = new Map<string, DeviceReport>()
  const acks = new Map<string, Ack>()
  const seen = {
    facts: undefined as HostFacts | undefined,
    enforcement: undefined as EnforcementState | undefined,
    errors: [] as NonNullable<CheckInRequest['errors']>,
  }
  const sockets = new Set<Socket>()

  const signed = (value: unknown): SignedText => {
    const payload = JSON.stringify(value)
    return { payload, signature: sign(null, Buffer.from(payload), keys.privateKey).toString('base64') }
  }

  const enrol = (): EnrolResponse => ({
    agentId,
    serverTime: new Date().toISOString(),
    tookOver: false,
    commandKey: keys.publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
  })
  const session = ({ bootId }: { bootId: string }): SessionResponse => {
    if (seq.bootId !== bootId) seq = { bootId, last: 0, answer: '' }
    return { token: bootId, expiresInSeconds: 900, serverTime: new Date().toISOString(), nextSeq: seq.last + 1 }
  }
  const checkIn = (request: CheckInRequest): string => {
    if (request.seq === seq.last) return seq.answer
    if (request.inventory !== undefined) devices.clear()
    for (const device of request.inventory ?? []) devices.set(device.portPath, device)
    for (const change of request.changes ?? [])
      if ('device' in change) devices.set(change.device.portPath, change.device)
      else if (change.op === 'removed') devices.delete(change.portPath)
    for (const ack of request.acks ?? []) acks.set(ack.commandId, ack)
    seen.facts = request.facts ?? seen.facts
    seen.enforcement = request.enforcement ?? seen.enforcement
    seen.errors.push(...(request.errors ?? []))
    queue = queue.filter(({ id }) => !acks.has(id))
    // The peer refuses the wake socket, so a command waits for the next check-in, half a second at most.
    const answer: CheckInResponse = { nextCheckInSeconds: 0.5 }
    if (queue.length > 0) answer.commands = queue.map((command) => command.signed)
    seq = { bootId: request.bootId, last: request.seq, answer: JSON.stringify(answer) }
    return seq.answer
  }
  const policyFor = ({ nonce }: PolicyRequest): SignedText => {
    const payload: PolicyPayload = {
      kind: 'policy',
      agentId,
      nonce,
      ...policy,
      issuedAt: new Date().toISOString(),
      knowledgeHash,
      contact: 'the help desk',
    }
    return signed(payload)
  }

  const answerTo = (path: string, text: string): string | undefined => {
    if (path === `${agentPaths.knowledge}/${knowledgeHash}`) return knowledge
    if (path === agentPaths.enrol) return JSON.stringify(enrol())
    if (path === agentPaths.session) return JSON.stringify(session(JSON.parse(text)))
    if (path === agentPaths.checkIn) return checkIn(JSON.parse(text))
    if (path === agentPaths.policy) return JSON.stringify(policyFor(JSON.parse(text)))
    return undefined
  }
  const end = (response: ServerResponse, status: number, body: string): void => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(body)
  }
  const onRequest: RequestListener = (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (isAway) return void request.socket.destroy()
      const answer = answerTo(request.url ?? '', Buffer.concat(chunks).toString())
      if (answer === undefined) end(response, 404, JSON.stringify({ code: 'not_found' }))
      else end(response, 200, answer)
    })
  }
  const server = createServer(onRequest)
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  server.on('upgrade', (_request, socket) => socket.destroy())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  return {
    /** Address of this peer inside the virtual machine. */
    url: `http://10.0.2.2:${(server.address() as AddressInfo).port}`,
    token,
    seen,
    devices,
    /** Sets the rules of the host, which fetches them after a command. */
    setRules: (...rules: PolicyRule[]): void => {
      policy = { version: policy.version + 1, rules }
    },
    policyVersion: (): number => policy.version,
    /** Sends a command and waits for its acknowledgement. */
    command: async <K extends AgentCommandKind>(kind: K, body: AgentCommandBodies[K]): Promise<Ack> => {
      const id = randomUUID()
      const expiresAt = new Date(Date.now() + 600_000).toISOString()
      queue.push({ id, signed: signed({ id, agentId, kind, counter: ++counter, expiresAt, ...body }) })
      const { value } = await until(`the agent answers ${kind}`, () => acks.get(id), 60_000)
      return value
    },
    /** Makes the server unreachable: connections are closed without an answer. */
    setAway(value: boolean): void {
      isAway = value
      for (const socket of isAway ? sockets : []) socket.destroy()
    },
    stop: () =>
      new Promise<void>((resolve) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resolve())
      }),
  }
}
