import { createHash, createPublicKey, verify } from 'node:crypto'
import { packageProofText } from '@portcullis/contract/agent-signed-texts.ts'

interface SignedBuild {
  version: string
  architecture: string
  sha256: string
  size: number
  /** Base64 SPKI DER. */
  releaseKey: string
  /** Base64. */
  signature: string
}

/** Returns true if the release key in the build signed it. Does not check whether that key is trusted. */
export const isSignedBuild = (build: SignedBuild): boolean => {
  try {
    const key = createPublicKey({ key: Buffer.from(build.releaseKey, 'base64'), format: 'der', type: 'spki' })
    if (key.asymmetricKeyType !== 'ed25519') return false
    return verify(null, Buffer.from(packageProofText(build)), key, Buffer.from(build.signature, 'base64'))
  } catch {
    return false
  }
}

/** Returns the fingerprint of a release key: its SHA-256 in hex. */
export const releaseKeyFingerprint = (releaseKey: string): string =>
  createHash('sha256').update(Buffer.from(releaseKey, 'base64')).digest('hex')

const compareIdentifiers = (a: string, b: string): number => {
  const numeric = [a, b].map((text) => /^\d+$/.test(text))
  if (numeric[0] && numeric[1]) return Math.sign(Number(a) - Number(b))
  if (numeric[0] !== numeric[1]) return numeric[0] ? -1 : 1
  return a < b ? -1 : a > b ? 1 : 0
}

/** Compares two semantic versions: negative if `a` is older. Ignores build metadata. */
export const compareVersions = (a: string, b: string): number => {
  function split(text: string) {
    const [version = ''] = text.split('+')
    const dash = version.indexOf('-')
    return dash < 0
      ? { core: version.split('.'), pre: [] }
      : { core: version.slice(0, dash).split('.'), pre: version.slice(dash + 1).split('.') }
  }
  const [left, right] = [split(a), split(b)]
  for (let i = 0; i < 3; i++) {
    const order = compareIdentifiers(left.core[i] ?? '0', right.core[i] ?? '0')
    if (order !== 0) return order
  }
  // A release is newer than its pre-releases.
  if (left.pre.length === 0 || right.pre.length === 0) return right.pre.length - left.pre.length
  for (let i = 0; i < Math.max(left.pre.length, right.pre.length); i++) {
    const [x, y] = [left.pre[i], right.pre[i]]
    if (x === undefined || y === undefined) return x === undefined ? -1 : 1
    const order = compareIdentifiers(x, y)
    if (order !== 0) return order
  }
  return 0
}
