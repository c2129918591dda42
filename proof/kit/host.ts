/** Registers a host and an agentless worker, with their keys. */
import { randomUUID, sign } from 'node:crypto'
import { inventoryHash } from '@portcullis/domain'
import { plainHost, storageStick } from '@portcullis/domain/testing'
import { agentPaths, type EnrolRequest, workerPaths } from '@portcullis/features/contract.ts'
import { createKey, enrolRequest, sessionRequest } from '../../cli/simulator/identity.ts'
import { type HttpResponse, jsonOf, type Wire } from './wire.ts'

/** Uploads a debug log for a command. */
export const uploadLog = (wire: Wire, commandId: string, token: string, body: Buffer): Promise<HttpResponse> =>
  wire.send({
    ...{ method: 'POST', path: `${agentPaths.debugLogs}/${commandId}`, token, body },
    headers: { 'content-type': 'application/gzip' },
  })

export type Host = Awaited<ReturnType<typeof enrolHost>>

const post = async (wire: Wire, path: string, body: unknown, token?: string): Promise<Record<string, unknown>> => {
  const got = await wire.send({ method: 'POST', path, body, token })
  if (got.status !== 200) throw new Error(`${path}: ${got.status} ${got.text}`)
  return jsonOf(got.text) as Record<string, unknown>
}

/** What a host states about itself when it enrols. */
export type HostIdentity = Partial<Pick<EnrolRequest, 'facts' | 'machineIdHash' | 'smbiosHash'>>

/** Enrols a host with one attached stick. */
export const enrolHost = async (
  wire: Wire,
  enrolmentToken: string,
  name: string,
  { facts = plainHost(name), ...ids }: HostIdentity = {},
) => {
  const privateKey = createKey()
  const { agentId } = await post(wire, agentPaths.enrol, enrolRequest(privateKey, enrolmentToken, facts, ids))
  const bootId = randomUUID()
  const device = storageStick({ serial: `${name}-stick` })
  let seq = 0
  /** Returns a valid check-in with the given replacements. */
  const checkIn = (replaced: Record<string, unknown> = {}) => ({
    bootId,
    seq: ++seq,
    clock: Date.now(),
    inventoryHash: inventoryHash([device]),
    ...replaced,
  })
  const proof = () => sessionRequest({ agentId: String(agentId), privateKey }, bootId, Date.now())
  const openSession = async (): Promise<string> => String((await post(wire, agentPaths.session, proof())).token)
  const token = await openSession()
  await post(wire, agentPaths.checkIn, checkIn({ inventory: [device] }), token)
  /** Checks in and returns the ids of the commands for the host. */
  const commands = async (): Promise<string[]> => {
    const { commands: given = [] } = await post(wire, agentPaths.checkIn, checkIn(), token)
    return (given as { payload: string }[]).map(({ payload }) => (jsonOf(payload) as { id: string }).id)
  }
  /** Signs a text with the key of the host. */
  const signText = (text: string): string => sign(null, Buffer.from(text), privateKey).toString('base64')
  return {
    ...{ agentId: String(agentId), name, bootId, token, device },
    ...{ checkIn, commands, proof, openSession, sign: signText },
  }
}

/** Registers a worker and returns its key. */
export const registerWorker = async (wire: Wire, workerToken: string): Promise<string> => {
  const answer = await post(wire, workerPaths.register, { token: workerToken, name: 'gate', version: '1.0.0' })
  return String(answer.key)
}
