import { createPublicKey, verify } from 'node:crypto'
import { windowsVerificationText } from '@portcullis/contract/agent-signed-texts.ts'
import { type WindowsStepId, windowsSteps } from '@portcullis/contract/windows-steps.ts'
import type { WindowsVerification, WindowsVerificationFile } from '@portcullis/contract/windows-verification.ts'
import { majorBuildOf } from './windows-arming.ts'

/** Age above which a verification can no longer be imported. */
const maxAgeMs = 30 * 24 * 3_600_000
/** Maximum time by which the clock of the host may be ahead. */
const maxLeadMs = 15 * 60_000

/** Creates a verification file. `sign` signs a text with the agent key and returns base64. */
export const createVerificationFile = (
  verification: WindowsVerification,
  sign: (text: string) => string,
): WindowsVerificationFile => {
  const payload = JSON.stringify(verification)
  return { payload, signature: sign(windowsVerificationText(payload)) }
}

/** Returns whether the agent key signed the file. `publicKey` is SPKI DER of an Ed25519 or P-256 key. */
export const isSignedVerification = ({ payload, signature }: WindowsVerificationFile, publicKey: Buffer): boolean => {
  try {
    const key = createPublicKey({ key: publicKey, format: 'der', type: 'spki' })
    const algorithm = key.asymmetricKeyType === 'ed25519' ? null : 'sha256'
    return verify(algorithm, Buffer.from(windowsVerificationText(payload)), key, Buffer.from(signature, 'base64'))
  } catch {
    return false
  }
}

/** Returns why a verification does not match the host. Null if it matches. */
export const verificationFault = (
  { osBuild, createdAt, checks }: WindowsVerification,
  host: { osBuild: string | null; now: number },
): string | null => {
  if (host.osBuild === null) return 'The host has not reported a Windows build to this server.'
  if (majorBuildOf(host.osBuild) !== majorBuildOf(osBuild))
    return `The file is for build ${osBuild}, but the host reports ${host.osBuild}. Run the verification again on the host.`
  const at = Date.parse(createdAt)
  if (!(at <= host.now + maxLeadMs)) return 'The file is from the future. Check the clock of the host.'
  if (at < host.now - maxAgeMs) return 'The file is older than 30 days. Run the verification again on the host.'
  return new Set(checks.map(({ id }) => id)).size === windowsSteps.length
    ? null
    : 'The file does not contain each step exactly once.'
}

/** Steps that keep a verification from being imported. */
export interface OpenSteps {
  failed: WindowsStepId[]
  /** Steps that neither the program performed nor the person confirmed. */
  unconfirmed: WindowsStepId[]
  /** Steps that the person confirmed although the program performed them. */
  needless: WindowsStepId[]
}

/** Compares the results of the program with the confirmations of a person. */
export const openSteps = ({ checks }: WindowsVerification, confirmed: readonly string[]): OpenSteps => {
  const named = new Set(confirmed)
  const ids = (wanted: (check: WindowsVerification['checks'][number]) => boolean): WindowsStepId[] =>
    checks.filter(wanted).map(({ id }) => id)
  return {
    failed: ids(({ result }) => result === 'failed'),
    unconfirmed: ids(({ id, result }) => result === 'not-performed' && !named.has(id)),
    needless: ids(({ id, result }) => result !== 'not-performed' && named.has(id)),
  }
}
