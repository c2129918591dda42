import { join } from 'node:path'
import type { ReleaseKeyFile, ReleaseKeyRotation } from '@portcullis/contract/agent-protocol.ts'
import { followRotations, isReleaseKeyRotation, parseReleaseKeyFile, type ReleaseKeyPosition } from '@portcullis/domain'
import { parseJson, readIfThere, writeDurable } from '../files.ts'

/** The build replaces this with the text of the public release key file. In a checkout it does not exist. */
declare const PORTCULLIS_RELEASE_KEY: string | undefined

/** Returns the built-in release key, or undefined if the build has none or runs from a checkout. */
export const builtInReleaseKey = (): ReleaseKeyFile | undefined =>
  typeof PORTCULLIS_RELEASE_KEY === 'string' ? parseReleaseKeyFile(PORTCULLIS_RELEASE_KEY) : undefined

/** This host has no release key, so it installs no updates. */
export class ReleaseKeyMissing extends Error {}

/** Maximum number of stored rotations of about 400 bytes each. */
const maxStored = 1_000

const parseStored = (text: string | undefined, path: string): ReleaseKeyRotation[] => {
  if (text === undefined) return []
  const value = parseJson(text)
  // Falling back to the built-in key would undo a rotation.
  if (!Array.isArray(value) || value.length > maxStored || !value.every(isReleaseKeyRotation))
    throw new ReleaseKeyMissing(
      `The file ${path} is damaged, so the release key of this host is unknown. Install the agent again.`,
    )
  return value
}

/**
 * Creates the keeper of the release key. This host installs only builds of the built-in key or of the newest key that
 * signed rotations lead to. The agent stores the rotations, not the key, and every start verifies them again from the
 * built-in key. A build with a newer built-in key continues from there.
 */
export const createReleaseKey = ({ builtIn, stateDir }: { builtIn: ReleaseKeyFile | undefined; stateDir: string }) => {
  const path = join(stateDir, 'release-key.json')
  const load = (): ReleaseKeyRotation[] => parseStored(readIfThere(path), path)
  const save = (rotations: readonly ReleaseKeyRotation[]): void => writeDurable(path, JSON.stringify(rotations))
  function reach(more: readonly ReleaseKeyRotation[]) {
    if (builtIn === undefined)
      throw new ReleaseKeyMissing(
        'This agent was built without a release key, so it installs no updates. Install an agent that was built with one.',
      )
    const stored = load()
    const first = { releaseKey: builtIn.releaseKey, sequence: 0 }
    const start = followRotations(first, builtIn.rotations)
    const held = followRotations(start, stored)
    const reached = followRotations(held, more)
    const past = [builtIn.releaseKey, ...[...start.accepted, ...held.accepted].map((one) => one.releaseKey)]
    return { stored, held, reached, past }
  }
  return {
    /** Stores the built-in rotations, so that an older build of the agent cannot return to an earlier key. */
    keepBuiltIn(): void {
      if (builtIn === undefined) return
      const stored = load()
      const known = new Set(stored.map(({ signature }) => signature))
      const more = builtIn.rotations.filter(({ signature }) => !known.has(signature))
      if (more.length > 0) save([...stored, ...more])
    },
    /** Returns the current key (base64 SPKI DER), or undefined if there is no valid key. */
    known(): string | undefined {
      try {
        return reach([]).held.releaseKey
      } catch {
        return undefined
      }
    },
    /** Returns the keys that this host has trusted since its installation, the current one last. */
    trusted(): string[] {
      try {
        return reach([]).past
      } catch {
        return []
      }
    },
    /**
     * Accepts rotations that continue from the current key, stores them durably and returns the new current key.
     *
     * @throws ReleaseKeyMissing
     */
    follow(rotations: readonly ReleaseKeyRotation[]): ReleaseKeyPosition & { isNew: boolean } {
      const { stored, reached } = reach(rotations)
      const isNew = reached.accepted.length > 0
      if (isNew) save([...stored, ...reached.accepted])
      return { releaseKey: reached.releaseKey, sequence: reached.sequence, isNew }
    },
  }
}
export type ReleaseKey = ReturnType<typeof createReleaseKey>
