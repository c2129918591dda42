import { readFileSync } from 'node:fs'
import { followRotations, newestReleaseKey, parseReleaseKeyFile, releaseKeyFingerprint } from '@portcullis/domain'
import { StartError } from '@portcullis/platform/server/start-error.ts'
import type { HostsByReleaseKey, ReleaseKey, ReleaseKeyFile } from '#features/contract.ts'

/** The source of a server's release key, read once at start. */
export interface ReleaseKeySource {
  source: ReleaseKey['source']
  /** The path of the file, for people. */
  where: string
  file: ReleaseKeyFile
  /** Whether the agent build of this server contains the key. */
  isInBuild: boolean
}

/** Returns the release key of this server, with the members that answers and refusals need. */
export const trustedKey = ({ source, where, file, isInBuild }: ReleaseKeySource) => {
  const { releaseKey, accepted } = followRotations({ releaseKey: file.releaseKey, sequence: 0 }, file.rotations)
  const keys = [file.releaseKey, ...accepted.map((rotation) => rotation.releaseKey)].map(releaseKeyFingerprint)
  const earlier = keys.slice(0, -1).reverse()
  const last = accepted.at(-1)
  const view: ReleaseKey = {
    fingerprint: releaseKeyFingerprint(releaseKey),
    source,
    isInBuild,
    sequence: last?.sequence ?? 0,
    rotatedAt: last?.rotatedAt ?? null,
    earlier,
  }
  return { releaseKey, where, rotations: accepted, view }
}

/** Returns enough digits of a fingerprint to distinguish the keys of a fleet. */
const shortFingerprint = (fingerprint: string): string => fingerprint.slice(0, 16)

/** Compares a key that hosts report with the key of this server. */
export const hostKeyState = (reported: string, key: ReleaseKey | null): HostsByReleaseKey['state'] => {
  if (reported === 'none') return 'None'
  if (reported === 'unreported') return 'Unreported'
  if (key !== null && shortFingerprint(key.fingerprint) === reported) return 'Current'
  return key?.earlier.some((one) => shortFingerprint(one) === reported) === true ? 'Earlier' : 'Foreign'
}

const newestOf = (file: ReleaseKeyFile): string => releaseKeyFingerprint(newestReleaseKey(file).releaseKey)

/** Returns the key in this server's agent build; null: there is no build, or it contains no key. */
const keyOfBuild = (manifest: string): ReleaseKeyFile | null => {
  let held: unknown
  try {
    held = (JSON.parse(readFileSync(manifest, 'utf8')) as { releaseKey?: unknown }).releaseKey
  } catch {
    return null
  }
  if (held === undefined || held === null) return null
  return parseReleaseKeyFile(JSON.stringify({ format: 'portcullis-release-key', ...held }))
}

/**
 * Reads the release key of a server: from the named file, or else from its own agent build.
 *
 * @throws StartError if a key is configured but unusable
 */
export const loadReleaseKey = (file: string | null, manifest: string): ReleaseKeySource | null => {
  const held = keyOfBuild(manifest)
  if (file === null)
    return held === null
      ? null
      : { source: 'build', where: 'the agent build of this server', file: held, isInBuild: true }
  try {
    const own = parseReleaseKeyFile(readFileSync(file, 'utf8'))
    return { source: 'file', where: file, file: own, isInBuild: held !== null && newestOf(held) === newestOf(own) }
  } catch (error) {
    throw new StartError(`PORTCULLIS_RELEASE_KEY_FILE names ${file}, which cannot be used. ${(error as Error).message}`)
  }
}
