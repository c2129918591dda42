import { randomUUID } from 'node:crypto'
import { factsHash, inventoryHash } from '@portcullis/domain'
import { plainHost } from '@portcullis/domain/testing'
import { agentPaths, type CheckInRequest, type DeviceReport, type HostFacts } from '@portcullis/features/contract.ts'
import { createKey, enrolRequest, sessionRequest } from '../cli/simulator/identity.ts'

/** Creates a host that sends given reports and repeats each one until it is acknowledged or the host is deleted. */
export const restlessHost = async (url: () => string, token: string, name: string) => {
  const privateKey = createKey()
  let facts: HostFacts = { ...plainHost(name), enforcement: 'after-attach' }
  const devices = new Map<string, DeviceReport>()
  let isGone = false
  let seq = 0

  /** Retries until the server answers. Returns null if the host was deleted. */
  const post = async (path: string, body: unknown, session?: string): Promise<Record<string, unknown> | null> => {
    for (;;) {
      const answer = await fetch(url() + path, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(session === undefined ? {} : { authorization: `Bearer ${session}` }),
        },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(10_000),
      }).catch(() => null)
      if (answer?.status === 200) return (await answer.json()) as Record<string, unknown>
      if (answer?.status === 403 || answer?.status === 401) {
        isGone = true
        return null
      }
      if (answer !== null && answer.status !== 503) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  const enrolled = await post(agentPaths.enrol, enrolRequest(privateKey, token, facts))
  const agentId = enrolled?.agentId as string
  const bootId = randomUUID()
  const opened = await post(agentPaths.session, sessionRequest({ agentId, privateKey }, bootId, Date.now()))
  const session = opened?.token as string
  const say = async (said: Partial<CheckInRequest>): Promise<void> => {
    if (isGone) return
    const body = { bootId, seq: ++seq, clock: Date.now(), inventoryHash: inventoryHash([...devices.values()]), ...said }
    await post(agentPaths.checkIn, body, session)
  }
  const tellAll = (): Promise<void> => say({ inventory: [...devices.values()], facts, factsHash: factsHash(facts) })
  await tellAll()

  return {
    agentId,
    devices,
    isGone: (): boolean => isGone,
    plug: (device: DeviceReport): Promise<void> => {
      devices.set(device.portPath, device)
      return say({ changes: [{ op: 'attached', at: Date.now(), device }] })
    },
    unplug: (portPath: string): Promise<void> => {
      devices.delete(portPath)
      return say({ changes: [{ op: 'removed', at: Date.now(), portPath }] })
    },
    becomes: (change: Partial<HostFacts>): Promise<void> => {
      facts = { ...facts, ...change }
      return tellAll()
    },
    isArmed: (armed: boolean): Promise<void> =>
      say({ enforcement: { mode: armed ? 'Armed' : 'Free', policyVersion: 0, reason: '' } }),
  }
}

export type RestlessHost = Awaited<ReturnType<typeof restlessHost>>
