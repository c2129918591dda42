/** Calls operations about what hosts report: findings, held ports, two entries of one computer, quarantine. */

import { randomUUID } from 'node:crypto'
import { inventoryHash } from '@portcullis/domain'
import { plainHost, rubberDucky } from '@portcullis/domain/testing'
import { agentPaths } from '@portcullis/features/contract.ts'
import type { Environment } from '../kit/environment.ts'
import type { Host } from '../kit/host.ts'
import type { Caller } from './caller.ts'

type Device = Readonly<Record<string, unknown>>

const devicesOf = async ({ get }: Caller, { agentId }: Host): Promise<Device[]> => {
  const { data } = await get(`peripherals?PageSize=5&hostUuid=${agentId}`)
  return (data ?? []) as Device[]
}

const callDecisions = async (caller: Caller, { wire }: Environment, host: Host): Promise<void> => {
  const { get, post, remove } = caller
  const devices = [host.device, rubberDucky({ portPath: '4-1' })]
  const held = {
    ...{ id: randomUUID(), portPath: '1-3', at: Date.now(), vid: '0BDA', pid: '8150', serial: '', name: 'Hub' },
    ...{ fingerprint: 'a'.repeat(32), mismatch: { bound: [{ interface: 0, claims: 'Hub', driver: 'rtl8150' }] } },
  }
  await wire.send({
    ...{ method: 'POST', path: agentPaths.checkIn, token: host.token },
    body: host.checkIn({
      ...{ inventory: devices, inventoryHash: inventoryHash(devices) },
      enforcement: { mode: 'Armed', policyVersion: 1, reason: '', held: [held] },
    }),
  })
  await post(`heldPorts/${host.agentId}/${held.id}/release`, { acceptDrivers: false })
  const known = await devicesOf(caller, host)
  const [stick, tool] = [known.find(({ vid }) => vid !== '03EB'), known.find(({ vid }) => vid === '03EB')]
  await get(`policy/tests/sample?uuid=${host.agentId}&deviceID=${encodeURIComponent(String(stick?.deviceID))}`)
  const { version } = await post('policy/decisions', {
    ...{ decision: 'deny', reason: 'gate' },
    devices: [{ uuid: host.agentId, vid: stick?.vid, pid: stick?.pid, deviceID: stick?.deviceID }],
  })
  await post(`policy/history/${version}/undo`, {})
  const { jobId } = await post('agents/bulk', { uuids: [host.agentId], action: 'approveAll' })
  await post(`policy/jobs/${jobId}/undo`, { dryRun: true })
  await post('policy/acceptedFindings', { uuid: host.agentId, deviceID: tool?.deviceID, reason: 'gate' })
  const { data } = await get('policy/acceptedFindings')
  await remove(`policy/acceptedFindings/${(data as Device[] | undefined)?.[0]?.id}?reason=over`)
}

/** Enrols a computer again with a new system, and decides that both entries are the same. */
const callDuplicates = async ({ post }: Caller, { addHost }: Environment): Promise<void> => {
  const enrol = (name: string, system: string) =>
    addHost(name, { smbiosHash: '5'.repeat(64), machineIdHash: system.repeat(64) })
  const [old, fresh] = [await enrol('gate-old', 'a'), await enrol('gate-again', 'b')]
  await post(`agents/agent/${fresh.agentId}/possibleduplicates`, { uuid: old.agentId, isSameMachine: false })
}

const callQuarantine = async ({ post }: Caller, { addHost }: Environment): Promise<void> => {
  const nics = [{ name: 'eth0', mac: '02:00:00:00:00:01', addresses: ['10.0.0.9'], isUp: true }]
  const host = await addHost('gate-quarantine', { facts: { ...plainHost('gate-quarantine'), nics } })
  await post('nac/quarantines', { agentIds: [host.agentId], system: 'ise', reason: 'gate' })
}

export const callHosts = async (caller: Caller, environment: Environment): Promise<void> => {
  await callDecisions(caller, environment, await environment.addHost('gate-armed'))
  await callDuplicates(caller, environment)
  await callQuarantine(caller, environment)
}
