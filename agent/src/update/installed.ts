import { createHash } from 'node:crypto'
import { closeSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { type AgentCommandBodies, packageProofText } from '@portcullis/contract/agent-protocol.ts'
import { isSignedBy } from '@portcullis/domain'
import { readIfThere, readJson, removeIfThere, writeDurable } from '../files.ts'
import { previousOf, type UpdateRecord } from './record.ts'
import { isNewer } from './version.ts'

/** The properties of a build that the release key signed. */
type SignedBuild = Pick<
  AgentCommandBodies['update'],
  'version' | 'architecture' | 'size' | 'sha256' | 'releaseKey' | 'releaseSignature'
>

/** Paths that may contain a build: the new one, its predecessor, and an incomplete one after a kill. */
const MAX_SIGNED = 3

const signedPath = (executable: string): string => `${executable}.signed`

const isSignedBuild = (value: unknown): value is SignedBuild => {
  const build = value as Partial<SignedBuild> | null
  return (
    typeof build === 'object' &&
    build !== null &&
    Number.isSafeInteger(build.size) &&
    [build.version, build.architecture, build.sha256, build.releaseKey, build.releaseSignature].every(
      (member) => typeof member === 'string',
    )
  )
}

const loadSigned = (executable: string): SignedBuild[] => {
  const value = readJson(signedPath(executable))
  return Array.isArray(value) ? value.filter(isSignedBuild) : []
}

/** Stores the signed properties of a build, so that later starts can verify the executable. */
export const keepSigned = (executable: string, build: SignedBuild): void => {
  const { version, architecture, size, sha256, releaseKey, releaseSignature } = build
  const others = loadSigned(executable).filter((one) => one.sha256 !== sha256)
  const all = [...others, { version, architecture, size, sha256, releaseKey, releaseSignature }]
  writeDurable(signedPath(executable), JSON.stringify(all.slice(-MAX_SIGNED)))
}

/** Removes the builds that the agent installed itself. The next start runs the version of the package. */
export const removeInstalled = (executable: string): void => {
  for (const path of [executable, previousOf(executable), `${executable}.new`, signedPath(executable)])
    removeIfThere(path)
}

const PACKAGE = '{}\n'

/**
 * Makes Node stop searching for a `package.json` in the folder of scripts. In a parent folder that every user can write
 * to, such a file could prevent Node from loading the scripts.
 */
export const shieldScripts = (dir: string): void => {
  const path = join(dir, 'package.json')
  if (readIfThere(path) !== PACKAGE) writeDurable(path, PACKAGE)
}

/** Returns the SHA-256 of a file in hex, or undefined if it cannot be read. */
const digestOf = (path: string): string | undefined => {
  const hash = createHash('sha256')
  const chunk = Buffer.alloc(1024 * 1024)
  try {
    const fd = openSync(path, 'r')
    try {
      for (let size = readSync(fd, chunk); size > 0; size = readSync(fd, chunk)) hash.update(chunk.subarray(0, size))
    } finally {
      closeSync(fd)
    }
    return hash.digest('hex')
  } catch {
    return undefined
  }
}

export interface Selection {
  /** Path of the executable that updates install. */
  executable: string
  /** Path and version of the executable in the package. */
  packaged: string
  version: string
  architecture: string
  /** The release keys that this host trusts since its installation. */
  trusted: readonly string[]
  /** The update in progress. Its new version cannot restore the defaults after it ended unexpectedly. */
  unproven: UpdateRecord | undefined
}

/**
 * Returns the path of the executable to run: the newest version that a release key of this host signed and that is
 * complete, otherwise the version of the package.
 */
export const selectExecutable = ({
  executable,
  packaged,
  version,
  architecture,
  trusted,
  unproven,
}: Selection): string => {
  const path = unproven?.state === 'swapped' ? previousOf(executable) : executable
  const digest = digestOf(path)
  const build = loadSigned(executable).find((one) => one.sha256 === digest)
  return build !== undefined &&
    build.architecture === architecture &&
    trusted.includes(build.releaseKey) &&
    isSignedBy(build.releaseKey, packageProofText(build), build.releaseSignature) &&
    isNewer(build.version, version)
    ? path
    : packaged
}
