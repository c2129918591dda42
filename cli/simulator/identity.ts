/** Keys and IDs of simulated hosts. With a file, a fleet keeps its identities over restarts. */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import {
  type EnrolRequest,
  enrolProofText,
  type HostFacts,
  type SessionRequest,
  sessionProofText,
} from '@portcullis/contract/agent-protocol.ts'

/** Identity of a simulated host at the server. */
export interface Identity {
  agentId: string
  privateKey: KeyObject
}

export const createKey = (): KeyObject => generateKeyPairSync('ed25519').privateKey

/** Returns the base64 signature over a text. */
const signText = (privateKey: KeyObject, text: string): string =>
  sign(null, Buffer.from(text), privateKey).toString('base64')

/** Returns the request with which a host enrols. */
export const enrolRequest = (
  privateKey: KeyObject,
  token: string,
  facts: HostFacts,
  ids: Partial<Pick<EnrolRequest, 'machineIdHash' | 'smbiosHash'>> = {},
): EnrolRequest => {
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'der' }).toString('base64')
  const proof = signText(privateKey, enrolProofText(token, publicKey))
  return { token, keyAlgorithm: 'Ed25519', publicKey, machineIdHash: null, smbiosHash: null, ...ids, facts, proof }
}

/** Returns the request with which a host opens a session, with its proof. */
export const sessionRequest = (
  { agentId, privateKey }: Identity,
  bootId: string,
  timestamp: number,
  nonce = randomBytes(24).toString('base64url'),
): SessionRequest => {
  const proven = { agentId, bootId, timestamp, nonce }
  return { ...proven, signature: signText(privateKey, sessionProofText(proven)) }
}

interface StoredFleet {
  server: string
  seed: number
  agents: { index: number; agentId: string; key: string }[]
}

/**
 * Returns the identities of an earlier run with the same server and seed, by index of the host. Empty if the file does
 * not exist or belongs to another fleet.
 */
export const loadIdentities = (path: string, server: string, seed: number): Map<number, Identity> => {
  const result = new Map<number, Identity>()
  if (!existsSync(path)) return result
  const stored = JSON.parse(readFileSync(path, 'utf8')) as StoredFleet
  if (stored.server !== server || stored.seed !== seed) return result
  for (const { index, agentId, key } of stored.agents) {
    const privateKey = createPrivateKey({ key: Buffer.from(key, 'base64'), format: 'der', type: 'pkcs8' })
    if (createPublicKey(privateKey).asymmetricKeyType === 'ed25519') result.set(index, { agentId, privateKey })
  }
  return result
}

/** Replaces the file. Only its owner can read it. */
export const saveIdentities = (
  path: string,
  server: string,
  seed: number,
  identities: ReadonlyMap<number, Identity>,
): void => {
  const stored: StoredFleet = {
    server,
    seed,
    agents: [...identities].map(([index, { agentId, privateKey }]) => ({
      index,
      agentId,
      key: privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64'),
    })),
  }
  writeFileSync(`${path}.new`, JSON.stringify(stored), { mode: 0o600 })
  renameSync(`${path}.new`, path)
}
