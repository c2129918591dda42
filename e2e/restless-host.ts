import { generateKeyPairSync, randomBytes, randomUUID, sign } from 'node:crypto'
import {
  agentPaths,
  type CheckInRequest,
  type DeviceReport,
  enrolProofText,
  type HostFacts,
  sessionProofText,
} from '@portcullis/contract'
import { factsHash, inventoryHash } from '@portcullis/domain'

/** Creates a host that sends given reports and repeats each one until it is acknowledged or the host is deleted. */
export const restlessHost = async (url: () => string, token: string, name: string) => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const key = publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
  const proof = (text: string): string => sign(null, Buffer.from(text), privateKey).toString('base64')
  let facts: HostFacts = {
    hostname: name,
    address: '10.0.0.1',
    osName: 'Debian',
    osVersion: '12',
    kernel: '6',
    architecture: 'x64',
    vendor: 'LENOVO',
    model: 'T14',
    chassis: 'Notebook',
    sku: '',
    nics: [{ name: 'eth0', mac: '02:00:00:00:00:01', addresses: ['10.0.0.1'], isUp: true }],
    agentVersion: '1.0.0',
    enforcement: 'after-attach',
  }
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

  const enrolled = await post(agentPaths.enrol, {
    token,
    keyAlgorithm: 'Ed25519',
    publicKey: key,
    machineIdHash: null,
    smbiosHash: null,
    facts,
    proof: proof(enrolProofText(token, key)),
  })
  const agentId = enrolled?.agentId as string
  const bootId = randomUUID()
  const proven = { agentId, bootId, timestamp: Date.now(), nonce: randomBytes(24).toString('base64url') }
  const opened = await post(agentPaths.session, { ...proven, signature: proof(sessionProofText(proven)) })
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
