import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, randomUUID, sign, verify } from 'node:crypto'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import {
  type AgentRevocation,
  agentPaths,
  agentRevocationText,
  CheckInRequest,
  type CheckInResponse,
  type CommandKeyRotation,
  commandKeyHeader,
  commandKeyRotationText,
  type DeviceChange,
  type DeviceReport,
  type EnforcementState,
  EnrolRequest,
  enrolProofText,
  type PolicyPayload,
  PolicyRequest,
  type PolicyRule,
  SessionRequest,
  sessionProofText,
} from '@portcullis/contract/agent-protocol.ts'
import { inventoryHash, publicKeyHash } from '@portcullis/domain'
import { Value } from 'typebox/value'

/** Fault of one request instead of the ordinary answer. */
export type Fault =
  | { kind: 'problem'; status: number; code: string; headers?: Record<string, string>; members?: object }
  /** The request is processed (committed), but its response never arrives. */
  | { kind: 'lost-answer' }
  /** The connection is reset before the request is processed. */
  | { kind: 'reset' }
  | { kind: 'garbage' }
  /** The request is accepted and never answered. */
  | { kind: 'hang' }
  /** The request is processed after the promise resolves. */
  | { kind: 'late'; after: Promise<void> }

interface Agent {
  id: string
  publicKey: string
  revoked: boolean
  boots: Map<string, { lastSeq: number; answer: string }>
  currentBoot: string
  devices: Map<string, DeviceReport>
  hasFacts: boolean
}

export interface PeerOptions {
  tls?: { key: string; cert: string }
  token?: string
  nextCheckInSeconds?: number
  expiresInSeconds?: number
  /** Release key in the enrolment answer, as sent by servers before keys were part of the build. */
  releaseKey?: string
  /** Omits rotations, as an older server does. */
  isBeforeRotations?: boolean
  /** Always asks for the inventory. */
  alwaysNeedsInventory?: boolean
}

/**
 * Starts a small server for the agent protocol. It checks the schema of every body, verifies every proof, deduplicates by
 * (agent, bootId, seq), compares the inventory hash, and fails where a test requests it.
 */
export const startPeer = async (options: PeerOptions = {}) => {
  let token = options.token ?? 'pce_1_secret'
  let commandKeys = generateKeyPairSync('ed25519')
  const rotations: CommandKeyRotation[] = []
  const spkiOf = (key: KeyObject): string => key.export({ type: 'spki', format: 'der' }).toString('base64')
  /** Returns the rotations after the key that an agent names; empty without a name. */
  const rotationsAfter = (id: string | undefined): CommandKeyRotation[] => {
    if (id === undefined || publicKeyHash(spkiOf(commandKeys.publicKey)) === id) return []
    return rotations.slice(
      Math.max(
        0,
        rotations.findIndex(({ oldKey }) => publicKeyHash(oldKey) === id),
      ),
    )
  }
  /** Additional members of `agent_revoked`. */
  const revocations = {
    forge: (genuine: { revocation?: AgentRevocation; commandKeys?: CommandKeyRotation[] }): object => genuine,
  }
  const agents = new Map<string, Agent>()
  const sessions = new Map<string, { agent: Agent; bootId: string }>()
  const seen = {
    enrols: [] as EnrolRequest[],
    sessions: [] as SessionRequest[],
    /** Bodies in the order received, including repeats. */
    checkIns: [] as { text: string; body: CheckInRequest }[],
    /** Stored changes, once each. */
    changes: [] as DeviceChange[],
    acks: [] as NonNullable<CheckInRequest['acks']>,
    errors: [] as NonNullable<CheckInRequest['errors']>,
    /** All reported states of enforcement. */
    enforcement: [] as EnforcementState[],
    /** Gzips of logs by command. */
    logs: new Map<string, Buffer>(),
    policies: 0,
    /** Protocol violations of the agent. Must stay empty. */
    violations: [] as string[],
    upgrades: 0,
  }
  const faults = new Map<string, Fault[]>()
  const commands: NonNullable<CheckInResponse['commands']> = []
  const policy = {
    version: 1,
    rules: [] as PolicyRule[],
    options: undefined as PolicyPayload['options'],
    contact: 'the help desk, 4711',
    knowledge: JSON.stringify({ attackTools: [], genuine: [] }),
    /** Changes the next responses. */
    forge: (signed: { payload: string; signature: string }) => signed,
  }
  const packages = new Map<string, Buffer>()
  let needPolicy = false
  let isToldOnce = false
  let nextCounter = 1
  const sockets = new Set<Socket>()

  const problem = (
    response: ServerResponse,
    status: number,
    code: string,
    headers: Record<string, string> = {},
    more: object = {},
  ) => {
    response.writeHead(status, { 'content-type': 'application/problem+json', ...headers })
    response.end(
      JSON.stringify({
        ...{ type: code, title: code, status, detail: `because ${code}`, code, errors: [], traceId: '' },
        ...more,
      }),
    )
  }
  const revocationOf = (
    agent: Agent,
    change: Partial<AgentRevocation> = {},
    key: KeyObject = commandKeys.privateKey,
  ) => {
    const statement = {
      agentId: agent.id,
      publicKeyHash: publicKeyHash(agent.publicKey),
      counter: 4_102_444_800_000,
      revokedAt: '2026-11-22T17:00:00.000Z',
      ...change,
    }
    return { ...statement, signature: sign(null, Buffer.from(agentRevocationText(statement)), key).toString('base64') }
  }
  const refuseRevoked = (response: ServerResponse, agent: Agent) =>
    problem(
      response,
      403,
      'agent_revoked',
      {},
      revocations.forge({ revocation: revocationOf(agent), commandKeys: rotations }),
    )
  const ok = (response: ServerResponse, body: string) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(body)
  }
  const isSigned = (publicKey: string, text: string, signature: string) =>
    verify(
      null,
      Buffer.from(text),
      createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' }),
      Buffer.from(signature, 'base64'),
    )

  const enrol = (request: EnrolRequest, response: ServerResponse) => {
    if (!Value.Check(EnrolRequest, request)) return violation(response, 'enrol schema')
    seen.enrols.push(request)
    if (request.token !== token) return problem(response, 403, 'enrolment_refused')
    if (!isSigned(request.publicKey, enrolProofText(request.token, request.publicKey), request.proof))
      return problem(response, 403, 'enrolment_refused')
    let agent = [...agents.values()].find((known) => known.publicKey === request.publicKey)
    if (agent === undefined) {
      agent = {
        id: randomUUID(),
        publicKey: request.publicKey,
        revoked: false,
        boots: new Map(),
        currentBoot: '',
        devices: new Map(),
        hasFacts: true,
      }
      agents.set(agent.id, agent)
    }
    const commandKey = spkiOf(commandKeys.publicKey)
    ok(
      response,
      JSON.stringify({
        agentId: agent.id,
        serverTime: new Date().toISOString(),
        tookOver: false,
        commandKey,
        ...(options.releaseKey === undefined ? {} : { releaseKey: options.releaseKey }),
      }),
    )
  }

  const session = (request: SessionRequest, commandKeyId: string | undefined, response: ServerResponse) => {
    if (!Value.Check(SessionRequest, request)) return violation(response, 'session schema')
    seen.sessions.push(request)
    const agent = agents.get(request.agentId)
    if (agent === undefined || !isSigned(agent.publicKey, sessionProofText(request), request.signature))
      return problem(response, 403, 'agent_unknown')
    if (agent.revoked) return refuseRevoked(response, agent)
    const after = options.isBeforeRotations ? [] : rotationsAfter(commandKeyId)
    const boot = agent.boots.get(request.bootId) ?? { lastSeq: 0, answer: '' }
    agent.boots.set(request.bootId, boot)
    agent.currentBoot = request.bootId
    const sessionToken = randomUUID()
    sessions.set(sessionToken, { agent, bootId: request.bootId })
    ok(
      response,
      JSON.stringify({
        token: sessionToken,
        expiresInSeconds: options.expiresInSeconds ?? 900,
        serverTime: new Date().toISOString(),
        nextSeq: boot.lastSeq + 1,
        ...(after.length === 0 ? {} : { commandKeys: after }),
      }),
    )
  }

  const violation = (response: ServerResponse, what: string) => {
    seen.violations.push(what)
    problem(response, 400, 'agent_report_invalid')
  }

  const checkIn = (
    text: string,
    request: CheckInRequest,
    authorization: string | undefined,
    response: ServerResponse,
  ) => {
    const held = sessions.get((authorization ?? '').replace('Bearer ', ''))
    if (held === undefined) return problem(response, 401, 'agent_session_expired')
    if (held.agent.revoked) return refuseRevoked(response, held.agent)
    if (held.agent.currentBoot !== held.bootId) return problem(response, 409, 'agent_session_superseded')
    if (!Value.Check(CheckInRequest, request))
      return violation(
        response,
        `check-in schema: ${JSON.stringify(Value.Errors(CheckInRequest, request)).slice(0, 300)}`,
      )
    seen.checkIns.push({ text, body: request })
    const boot = held.agent.boots.get(held.bootId)
    if (boot === undefined || request.bootId !== held.bootId) return violation(response, 'boot')
    if (request.seq === boot.lastSeq) return ok(response, boot.answer)
    if (request.seq !== boot.lastSeq + 1) return violation(response, `seq ${request.seq} after ${boot.lastSeq}`)
    const { devices } = held.agent
    for (const change of request.changes ?? []) {
      seen.changes.push(change)
      if ('device' in change) devices.set(change.device.portPath, change.device)
      else if (change.op === 'removed') devices.delete(change.portPath)
    }
    if (request.inventory) {
      devices.clear()
      for (const device of request.inventory) devices.set(device.portPath, device)
    }
    seen.acks.push(...(request.acks ?? []))
    seen.errors.push(...(request.errors ?? []))
    if (request.enforcement) seen.enforcement.push(request.enforcement)
    const isSame = inventoryHash([...devices.values()]) === request.inventoryHash
    if (!isSame && request.inventory) seen.violations.push('hash does not describe the inventory')
    const answer: CheckInResponse = { nextCheckInSeconds: options.nextCheckInSeconds ?? 60 }
    if (!isSame || options.alwaysNeedsInventory) answer.needInventory = true
    if (needPolicy) answer.needPolicy = true
    needPolicy &&= !isToldOnce
    const due = commands.filter((command) => !seen.acks.some((ack) => command.payload.includes(ack.commandId)))
    if (due.length > 0) answer.commands = due
    boot.lastSeq = request.seq
    boot.answer = JSON.stringify(answer)
    ok(response, boot.answer)
  }

  const signed = (payload: string, key: KeyObject = commandKeys.privateKey) => ({
    payload,
    signature: sign(null, Buffer.from(payload), key).toString('base64'),
  })

  const answerPolicy = (request: PolicyRequest, agent: Agent, response: ServerResponse) => {
    if (!Value.Check(PolicyRequest, request)) return violation(response, 'policy schema')
    seen.policies++
    needPolicy = false
    const { version, rules, contact, knowledge, options } = policy
    const payload: PolicyPayload = {
      kind: 'policy',
      agentId: agent.id,
      nonce: request.nonce,
      version,
      issuedAt: new Date().toISOString(),
      rules,
      knowledgeHash: createHash('sha256').update(knowledge).digest('hex'),
      contact,
      ...(options === undefined ? {} : { options }),
    }
    ok(response, JSON.stringify(policy.forge(signed(JSON.stringify(payload)))))
  }

  /** Serves requests other than check-ins, which need only a session. */
  const serveMore = (path: string, body: Buffer, request: IncomingMessage, response: ServerResponse) => {
    const held = sessions.get((request.headers.authorization ?? '').replace('Bearer ', ''))
    if (held === undefined) return problem(response, 401, 'agent_session_expired')
    if (path === agentPaths.policy) return answerPolicy(JSON.parse(body.toString()), held.agent, response)
    const last = path.slice(path.lastIndexOf('/') + 1)
    if (path.startsWith(`${agentPaths.knowledge}/`)) {
      const isKnown = createHash('sha256').update(policy.knowledge).digest('hex') === last
      return isKnown ? ok(response, policy.knowledge) : problem(response, 404, 'not_found')
    }
    if (path.startsWith(`${agentPaths.debugLogs}/`) && request.headers['content-type'] === 'application/gzip') {
      seen.logs.set(last, body)
      return ok(response, '{}')
    }
    const build = path.startsWith(`${agentPaths.packages}/`) ? packages.get(last) : undefined
    if (build === undefined) return problem(response, 404, 'not_found')
    response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': build.length })
    response.end(build)
  }

  const serve = (path: string, bytes: Buffer, request: IncomingMessage, response: ServerResponse) => {
    if (![agentPaths.enrol, agentPaths.session, agentPaths.checkIn].some((known) => known === path))
      return serveMore(path, bytes, request, response)
    const text = bytes.toString()
    const body = JSON.parse(text)
    if (path === agentPaths.enrol) enrol(body, response)
    else if (path === agentPaths.session) {
      const id = request.headers[commandKeyHeader]
      session(body, typeof id === 'string' ? id : undefined, response)
    } else checkIn(text, body, request.headers.authorization, response)
  }

  const onRequest: RequestListener = (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const path = request.url ?? ''
      const fault = faults.get(path)?.shift()
      const bytes = Buffer.concat(chunks)
      if (fault === undefined) return serve(path, bytes, request, response)
      if (fault.kind === 'problem') return problem(response, fault.status, fault.code, fault.headers, fault.members)
      if (fault.kind === 'garbage') return ok(response, '<html>Welcome to the hotel</html>')
      if (fault.kind === 'hang') return
      if (fault.kind === 'late') return void fault.after.then(() => serve(path, bytes, request, response))
      if (fault.kind === 'lost-answer')
        serve(
          path,
          bytes,
          request,
          Object.assign(Object.create(null), { writeHead() {}, end() {} }) as unknown as ServerResponse,
        )
      request.socket.resetAndDestroy()
    })
  }

  const server = options.tls ? createTlsServer(options.tls, onRequest) : createServer(onRequest)
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  const onUpgrade = (_request: IncomingMessage, socket: Socket) => {
    seen.upgrades++
    socket.destroy()
  }
  server.on('upgrade', onUpgrade)
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  await listen(0)
  const { port } = server.address() as AddressInfo

  const stop = () =>
    new Promise<void>((resolve) => {
      for (const socket of sockets) socket.destroy()
      server.close(() => resolve())
    })

  return {
    url: `${options.tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    token,
    seen,
    agents,
    server,
    /** Returns the stored state of the only agent. */
    only: (): Agent => {
      const [agent] = agents.values()
      if (agent === undefined || agents.size !== 1) throw new Error(`${agents.size} agents`)
      return agent
    },
    /** Sets the faults of the next requests to a path, in order. */
    fail: (path: string, ...next: Fault[]) => faults.set(path, [...(faults.get(path) ?? []), ...next]),
    clearFaults: () => faults.clear(),
    /** Returns the number of remaining faults of a path. */
    faultsLeft: (path: string) => faults.get(path)?.length ?? 0,
    expireSessions: () => sessions.clear(),
    /** Replaces the enrolment token. */
    useToken(next: string) {
      token = next
    },
    /** Removes agents and sessions, as a database reset does. Returns a function that restores them. */
    forget() {
      const known = [...agents]
      agents.clear()
      sessions.clear()
      return () => {
        for (const [id, agent] of known) agents.set(id, agent)
      }
    },
    policy,
    packages,
    /** Signs later policies with another key. */
    signAs(key: KeyObject) {
      policy.forge = ({ payload }) => signed(payload, key)
    },
    /** Changes the content of later policies, which are signed accordingly. */
    alter(change: Record<string, unknown>) {
      policy.forge = ({ payload }) => signed(JSON.stringify({ ...JSON.parse(payload), ...change }))
    },
    /** Lets all check-ins and sessions fail after the next policy was sent. */
    cutAfterPolicy(next: () => Fault[]) {
      policy.forge = (given) => {
        faults.set(agentPaths.checkIn, next())
        faults.set(agentPaths.session, next())
        return given
      }
    },
    /** Session tokens in use. */
    tokens: () => [...sessions.keys()],
    /** Answers with `needPolicy` until the policy is requested, or once. */
    askForPolicy: (isOnce = false) => {
      needPolicy = true
      isToldOnce = isOnce
    },
    /** Path of the knowledge in force. */
    knowledgePath: () => `${agentPaths.knowledge}/${createHash('sha256').update(policy.knowledge).digest('hex')}`,
    /** Returns a command signed by the server's key or a foreign key. */
    command(fields: Record<string, unknown>, key: KeyObject = commandKeys.privateKey) {
      commands.push(signed(JSON.stringify(fields), key))
    },
    /** Queues a valid command for the only agent and returns its ID. */
    order(kind: string, body: Record<string, unknown> = {}): string {
      const [agent] = agents.values()
      const counter = nextCounter++
      // The ID is not a substring of a UUID or of another ID.
      const id = `order-${counter}.`
      const expiresAt = new Date(Date.now() + 60_000).toISOString()
      commands.push(signed(JSON.stringify({ id, agentId: agent?.id, kind, counter, expiresAt, ...body })))
      return id
    },
    /** Rotates the command key. Returns the private half of the previous key. */
    rotate() {
      const old = commandKeys
      const next = generateKeyPairSync('ed25519')
      const statement = {
        number: (rotations.at(-1)?.number ?? 0) + 1,
        oldKey: spkiOf(old.publicKey),
        newKey: spkiOf(next.publicKey),
        createdAt: '2026-11-22T17:00:00.000Z',
      }
      const signature = sign(null, Buffer.from(commandKeyRotationText(statement)), old.privateKey).toString('base64')
      rotations.push({ ...statement, signature })
      commandKeys = next
      return old.privateKey
    },
    rotations,
    /** Returns the base64 SPKI DER of the key in force. */
    commandKey: () => spkiOf(commandKeys.publicKey),
    revocations,
    revocationOf,
    stop,
    resume: () => listen(port),
  }
}
