/** Enrols hosts that send a hostile text in every field. */
import { randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { inventoryHash } from '@portcullis/domain'
import { rubberDucky } from '@portcullis/domain/testing'
import { agentPaths, type HostFacts } from '@portcullis/features/contract.ts'
import { createKey, enrolRequest, sessionRequest } from '../../../cli/simulator/identity.ts'
import { api, type Environment } from '../../kit/environment.ts'
import { uploadLog } from '../../kit/host.ts'
import { type HttpResponse, jsonOf } from '../../kit/wire.ts'
import { fieldLimits } from './texts.ts'

export interface HostileHost {
  agentId: string
  text: string
  /** Number of fields that the server accepted unchanged. */
  said: number
  /** Number of fields that the server refused. The host then sent plain text. */
  refused: number
}

type Members = Record<string, unknown>

/** Sends a body until it is accepted, and replaces refused members with plain text. */
const sendUntilAccepted = async (
  send: (body: Members) => Promise<HttpResponse>,
  make: (plain: ReadonlySet<string>) => Members,
  fields: readonly string[],
): Promise<{ answer: Members; refused: number }> => {
  const plain = new Set<string>()
  for (;;) {
    const got = await send(make(plain))
    if (got.status === 200) return { answer: jsonOf(got.text) as Members, refused: plain.size }
    if (got.status >= 500 || got.status === 0) throw new Error(`${got.status}: ${got.text.slice(0, 300)}`)
    const next = fields.filter((field) => got.text.includes(`.${field}"`) && !plain.has(field))
    // The server refuses the whole body if a text is not valid Unicode.
    for (const field of next.length > 0 ? next : fields) plain.add(field)
    if (plain.size > fields.length * 2) throw new Error(`The server never accepted the body: ${got.text.slice(0, 300)}`)
    if (next.length === 0 && plain.size === fields.length && got.status !== 400) throw new Error(got.text.slice(0, 300))
  }
}

export const enrolHostile = async (
  environment: Environment,
  enrolmentToken: string,
  text: string,
  index: number,
): Promise<HostileHost> => {
  const { wire, call, admin } = environment
  const privateKey = createKey()
  const names = [...Object.keys(fieldLimits), 'name', 'addresses']
  const facts = (plain: ReadonlySet<string>): Members => {
    const fields = Object.entries(fieldLimits).map(([field, limit]) => [
      field,
      plain.has(field) ? `plain-${index}` : text.slice(0, limit),
    ])
    const nic = {
      name: plain.has('name') ? 'eth0' : text.slice(0, 64),
      mac: `02:00:00:00:00:${index.toString(16).padStart(2, '0')}`,
      addresses: [plain.has('addresses') ? '10.0.0.1' : text.slice(0, 64)],
      isUp: true,
    }
    return { ...Object.fromEntries(fields), nics: [nic], enforcement: 'observe' }
  }
  const post = (path: string, body: unknown, token?: string): Promise<HttpResponse> =>
    wire.send({ method: 'POST', path, body, token })
  const enrolled = await sendUntilAccepted(
    (body) => post(agentPaths.enrol, body),
    (plain) => ({ ...enrolRequest(privateKey, enrolmentToken, facts(plain) as unknown as HostFacts) }),
    names,
  )
  const agentId = String(enrolled.answer.agentId)
  const bootId = randomUUID()
  const session = await post(agentPaths.session, sessionRequest({ agentId, privateKey }, bootId, Date.now()))
  const { token } = jsonOf(session.text) as { token: string }
  const spoken = ['manufacturer', 'product', 'serial', 'configuration', 'code', 'message', 'reason']
  let seq = 0
  const report = (plain: ReadonlySet<string>): Members => {
    const of = (field: string, limit: number): string => (plain.has(field) ? 'plain' : text.slice(0, limit))
    const device = {
      ...rubberDucky({}),
      manufacturer: of('manufacturer', 255),
      product: of('product', 255),
      serial: of('serial', 255),
      configuration: of('configuration', 255),
    }
    return {
      bootId,
      seq: seq + 1,
      clock: Date.now(),
      inventoryHash: inventoryHash([device]),
      inventory: [device],
      changes: [{ op: 'attached', at: Date.now(), device }],
      errors: [{ at: Date.now(), code: of('code', 64), message: of('message', 500) }],
      enforcement: { mode: 'Free', policyVersion: 0, reason: of('reason', 500) },
    }
  }
  const reported = await sendUntilAccepted((body) => post(agentPaths.checkIn, body, token), report, spoken)
  seq++
  // The host answers a command and uploads the requested logs.
  await call('POST', `${api}/agents/fetchagentsdebuglogs`, [agentId], admin.token)
  const asked = await post(
    agentPaths.checkIn,
    { ...report(new Set(spoken)), seq: ++seq, inventory: undefined, changes: undefined, errors: undefined },
    token,
  )
  const [command] = ((jsonOf(asked.text) as { commands?: { payload: string }[] }).commands ?? []) as {
    payload: string
  }[]
  let refused = enrolled.refused + reported.refused
  if (command !== undefined) {
    const { id } = jsonOf(command.payload) as { id: string }
    await uploadLog(wire, id, token, gzipSync(text))
    const acks = [{ commandId: id, outcome: 'failed', message: text }]
    const beat = { bootId, seq: ++seq, clock: Date.now(), inventoryHash: '0'.repeat(32), acks }
    if ((await post(agentPaths.checkIn, beat, token)).status !== 200) refused++
  }
  return { agentId, text, said: names.length + spoken.length + 2 - refused, refused }
}
