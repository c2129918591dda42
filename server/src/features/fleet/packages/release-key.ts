import { readFileSync } from 'node:fs'
import type { HostsByReleaseKey, ReleaseKey, ReleaseKeyFile } from '@portcullis/contract'
import { followRotations, parseReleaseKeyFile, releaseKeyFingerprint } from '@portcullis/domain'
import { StartError } from '#platform/start-error.ts'

/** Where a server reads its release key from, once, when it starts. */
export interface ReleaseKeySource {
  source: ReleaseKey['source']
  /** For people: the path of the file. */
  where: string
  file: ReleaseKeyFile
}

/** The release key of this server, with the members that answers and refusals need. */
export const trustedKey = ({ source, where, file }: ReleaseKeySource) => {
  const { releaseKey, accepted } = followRotations({ releaseKey: file.releaseKey, sequence: 0 }, file.rotations)
  const keys = [file.releaseKey, ...accepted.map((rotation) => rotation.releaseKey)].map(releaseKeyFingerprint)
  const earlier = keys.slice(0, -1).reverse()
  const last = accepted.at(-1)
  const view: ReleaseKey = {
    fingerprint: releaseKeyFingerprint(releaseKey),
    source,
    sequence: last?.sequence ?? 0,
    rotatedAt: last?.rotatedAt ?? null,
    earlier,
  }
  return { releaseKey, where, rotations: accepted, view }
}

/** Digits of a fingerprint that are enough to tell the keys of one fleet apart in its list. */
const shortFingerprint = (fingerprint: string): string => fingerprint.slice(0, 16)

/** How hosts with this reported key relate to the key of this server. */
export const hostKeyState = (reported: string, key: ReleaseKey | null): HostsByReleaseKey['state'] => {
  if (reported === 'none') return 'None'
  if (reported === 'unreported') return 'Unreported'
  if (key !== null && shortFingerprint(key.fingerprint) === reported) return 'Current'
  return key?.earlier.some((one) => shortFingerprint(one) === reported) === true ? 'Earlier' : 'Foreign'
}

/** The key that the agent build of this server holds; null without a build, or with one that holds none. */
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
 * Reads the release key of a server: from the file that was named, else from its own agent build.
 *
 * @throws StartError when a key is configured and cannot be used
 */
export const loadReleaseKey = (file: string | null, manifest: string): ReleaseKeySource | null => {
  if (file === null) {
    const held = keyOfBuild(manifest)
    return held === null ? null : { source: 'build', where: 'the agent build of this server', file: held }
  }
  try {
    return { source: 'file', where: file, file: parseReleaseKeyFile(readFileSync(file, 'utf8')) }
  } catch (error) {
    throw new StartError(`PORTCULLIS_RELEASE_KEY_FILE names ${file}, which cannot be used. ${(error as Error).message}`)
  }
}
