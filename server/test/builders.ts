import { type KeyObject, randomBytes, randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { factsHash, inventoryHash } from '@portcullis/domain'
import {
  type Agent,
  type AgentDetail,
  agentPaths,
  type CheckInRequest,
  type CheckInResponse,
  type DeviceReport,
  type FleetEvent,
  type HostFacts,
  type Peripheral,
  type Problem,
} from '@portcullis/features/contract.ts'
import { createKey, enrolRequest, sessionRequest } from '../../cli/simulator/identity.ts'
import type { TestApp } from './app.ts'

/** Returns the facts of a host, with a unique name by default. */
export const hostFacts = (change: Partial<HostFacts> = {}): HostFacts => ({
  hostname: `host-${randomBytes(4).toString('hex')}`,
  address: '10.1.2.3',
  osName: 'Debian GNU/Linux 12 (bookworm)',
  osVersion: '12.8',
  kernel: '6.1.0-28-amd64',
  architecture: 'x64',
  vendor: 'LENOVO',
  model: '21CB',
  chassis: 'Notebook',
  sku: 'LENOVO_MT_21CB',
  nics: [{ name: 'eth0', mac: '02:00:00:00:00:01', addresses: ['10.1.2.3'], isUp: true }],
  agentVersion: '1.0.0',
  enforcement: 'after-attach',
  ...change,
})

export interface HttpAnswer {
  status: number
  headers: Headers
  text: string
}

/** Sends a request over a real socket. The test app must listen. */
export const fetchText = async (
  t: Pick<TestApp, 'address'>,
  path: string,
  init: RequestInit = {},
): Promise<HttpAnswer> => {
  const answer = await fetch(t.address + path, init)
  return { status: answer.status, headers: answer.headers, text: await answer.text() }
}

/** Sends a JSON body to an agent path with POST. Text is sent unchanged. */
export const agentPost = (
  t: Pick<TestApp, 'address'>,
  path: string,
  body: unknown,
  token?: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<HttpAnswer> =>
  fetchText(t, path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    body: typeof body === 'string' || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
  })

export class Refused extends Error {
  readonly status: number
  readonly problem: Problem
  readonly headers: Headers
  constructor({ status, text, headers }: HttpAnswer) {
    super(`${status} ${text}`)
    this.status = status
    this.problem = JSON.parse(text) as Problem
    this.headers = headers
  }
}

const okJson = <T>(answer: HttpAnswer): T => {
  if (answer.status !== 200) throw new Refused(answer)
  return JSON.parse(answer.text) as T
}

/** Sends a request as a real agent does: if the server has no time for it, again after the time that it names. */
const patientPost: typeof agentPost = async (t, path, body, token, headers) => {
  for (let left = 10; ; left--) {
    const answer = await agentPost(t, path, body, token, headers)
    if (answer.status !== 503 || left === 0) return answer
    await new Promise((resolve) => setTimeout(resolve, Number(answer.headers.get('retry-after')) * 1_000))
  }
}

/** Creates an enrolment token as the administrator. */
export const enrolmentToken = async (t: TestApp, change: Record<string, unknown> = {}): Promise<string> => {
  const made = await (await t.admin()).post('/prime/webui/agents/enrollmenttokens', {
    name: 'test',
    maxUses: 1_000_000,
    ...change,
  })
  if (made.statusCode !== 200) throw new Error(`enrolment token: ${made.statusCode} ${made.body}`)
  return made.json().token
}

const tokens = new WeakMap<TestApp, Promise<string>>()
const sharedToken = (t: TestApp): Promise<string> => {
  const known = tokens.get(t) ?? enrolmentToken(t)
  tokens.set(t, known)
  return known
}

export interface EnrolOptions {
  facts?: Partial<HostFacts>
  /** Facts in the first check-in that differ from those of the enrolment. */
  laterFacts?: Partial<HostFacts>
  token?: string
  devices?: readonly DeviceReport[]
  machineIdHash?: string | null
  smbiosHash?: string | null
  /** Key of another agent, to simulate a copied one. */
  privateKey?: KeyObject
  /** Address that a trusted proxy states for its connections (`trustedProxies`). */
  from?: string
  /** Skips the session and the first check-in. */
  only?: 'enrol'
}

export type TestAgent = Awaited<ReturnType<typeof enrolAgent>>

/** Members of a check-in besides the counter and the hash. */
export type CheckInFields = Partial<Omit<CheckInRequest, 'bootId'>>

/** Enrols a host over the real protocol, with a session and its first inventory. The test app must listen. */
export const enrolAgent = async (t: TestApp, options: EnrolOptions = {}) => {
  const facts = hostFacts(options.facts)
  const privateKey = options.privateKey ?? createKey()
  const token = options.token ?? (await sharedToken(t))
  const state = {
    bootId: randomUUID() as string,
    seq: 0,
    session: '',
    /** Address that a trusted proxy states. */
    from: options.from,
  }
  const proxied = (): Record<string, string> => (state.from === undefined ? {} : { 'x-forwarded-for': state.from })

  const enrolled = okJson<{ agentId: string; tookOver: boolean; releaseKey?: string }>(
    await patientPost(
      t,
      agentPaths.enrol,
      enrolRequest(privateKey, token, facts, {
        machineIdHash: options.machineIdHash ?? null,
        smbiosHash: options.smbiosHash ?? null,
      }),
    ),
  )
  const agentId = enrolled.agentId
  const devices = new Map((options.devices ?? []).map((device) => [device.portPath, device]))

  /** Returns a session request with its proof. */
  const proven = (bootId: string, nonce?: string) =>
    sessionRequest({ agentId, privateKey }, bootId, t.clock.now(), nonce)
  /** Opens a session for a boot, without changing the agent's own state. */
  const openSession = async (bootId: string): Promise<{ token: string; nextSeq: number }> =>
    okJson(await patientPost(t, agentPaths.session, proven(bootId), undefined, proxied()))
  /** Opens a session and continues with it. `restart` simulates a restart of the agent. */
  const session = async (restart = false): Promise<void> => {
    if (restart) state.bootId = randomUUID()
    const opened = await openSession(state.bootId)
    state.session = opened.token
    state.seq = opened.nextSeq - 1
  }
  const hash = (): string => inventoryHash([...devices.values()])
  const body = (fields: CheckInFields = {}): CheckInRequest => ({
    bootId: state.bootId,
    seq: ++state.seq,
    inventoryHash: hash(),
    clock: t.clock.now(),
    ...fields,
  })
  /** Sends a raw check-in, for repeated and malformed reports. */
  const post = (request: unknown, session = state.session, headers = {}): Promise<HttpAnswer> =>
    agentPost(t, agentPaths.checkIn, request, session, { ...proxied(), ...headers })
  const checkIn = async (fields: CheckInFields = {}): Promise<CheckInResponse> => okJson(await post(body(fields)))
  const inventory = (): Promise<CheckInResponse> => {
    const now = { ...facts, ...options.laterFacts }
    return checkIn({ inventory: [...devices.values()], facts: now, factsHash: factsHash(now) })
  }

  const agent = {
    agentId,
    facts,
    privateKey,
    tookOver: enrolled.tookOver,
    releaseKey: enrolled.releaseKey,
    devices,
    state,
    proven,
    openSession,
    session,
    hash,
    body,
    post,
    checkIn,
    /** Sends all attached devices and the facts. */
    inventory,
    plug: (device: DeviceReport): Promise<CheckInResponse> => {
      devices.set(device.portPath, device)
      return checkIn({ changes: [{ op: 'attached', at: t.clock.now(), device }] })
    },
    change: (device: DeviceReport): Promise<CheckInResponse> => {
      devices.set(device.portPath, device)
      return checkIn({ changes: [{ op: 'changed', at: t.clock.now(), device }] })
    },
    unplug: (portPath: string): Promise<CheckInResponse> => {
      devices.delete(portPath)
      return checkIn({ changes: [{ op: 'removed', at: t.clock.now(), portPath }] })
    },
    /** Reads the agent as its page shows it. */
    detail: async (): Promise<AgentDetail> =>
      okAnswer(await (await t.admin()).get(`/prime/webui/agents/agent/${agentId}`)),
    peripherals: async (query = ''): Promise<Peripheral[]> =>
      (await pageOf<Peripheral>(t, `peripherals/${agentId}?PageSize=5000&SortBy=deviceID${query}`)).data,
    /** Reads all events of the host, oldest first. */
    events: async (): Promise<FleetEvent[]> =>
      (
        await pageOf<FleetEvent>(t, `events/getevents?PageSize=1000000&source=${encodeURIComponent(facts.hostname)}`)
      ).data.toReversed(),
  }
  if (options.only !== 'enrol') {
    await session()
    await inventory()
  }
  return agent
}

const okAnswer = <T>(answer: { statusCode: number; body: string }): T => {
  if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${answer.body}`)
  return JSON.parse(answer.body) as T
}

export interface Page<T> {
  recordsTotal: number
  recordsFiltered: number
  data: T[]
}

/** Reads a list as the administrator. `path` is below `/prime/webui/`. */
export const pageOf = async <T = Agent>(t: TestApp, path: string): Promise<Page<T>> =>
  okAnswer(await (await t.admin()).get(`/prime/webui/${path}`))

/** Sends raw bytes and returns the text until the server closes, without a client that would correct the request. */
export const rawHttp = (t: Pick<TestApp, 'address'>, text: string): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(t.address).port) })
    let got = ''
    socket.setTimeout(3_000, () => socket.destroy())
    socket.on('data', (data) => {
      got += data.toString('utf8')
      // A refusal of the parser is the last response.
      if (!text.includes('connection: close') && got.includes('\r\n\r\n')) socket.destroy()
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(got))
    socket.write(text)
  })
