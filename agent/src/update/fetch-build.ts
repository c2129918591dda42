import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, openSync, statSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type AgentCommandBodies, agentLimits, agentPaths, packageProofText } from '@portcullis/contract/agent-protocol'
import { releaseKeyFingerprint } from '@portcullis/domain'
import { cutText } from '../collectors/text.ts'
import { removeIfThere, writeAll } from '../files.ts'
import { verifySignature } from '../keys.ts'
import { Unusable } from '../server-calls.ts'
import type { Transport } from '../transport/http.ts'
import { isNewer } from './version.ts'

type Build = AgentCommandBodies['update']

export interface Running {
  version: string
  architecture: string
  /** The one release key of this host, base64 SPKI DER. */
  releaseKey: string
}

/** The release key of this host did not sign the build: someone who can command this host may be attacking it. */
export class ForeignBuild extends Error {}

/** The first run of a build only prints its version. */
const TRIAL_MS = 20_000

/** @throws with why this host does not take the build, before a byte of it is fetched */
export const checkBuild = (build: Build, running: Running): void => {
  if (running.releaseKey !== build.releaseKey)
    throw new ForeignBuild(
      `The build is signed with another release key (${releaseKeyFingerprint(build.releaseKey)}) than this host trusts (${releaseKeyFingerprint(running.releaseKey)}).`,
    )
  if (!verifySignature(running.releaseKey, packageProofText(build), build.releaseSignature))
    throw new ForeignBuild('The release signature of the build does not verify.')
  if (build.architecture !== running.architecture)
    throw new Error(`The build is for ${build.architecture}, this host is ${running.architecture}.`)
  if (!isNewer(build.version, running.version))
    throw new Error(`Version ${build.version} is not newer than ${running.version}, which runs.`)
  if (build.size === 0 || build.size > agentLimits.packageBytes)
    throw new Error(`A build of ${build.size} bytes is out of bounds.`)
}

/**
 * V8 lets 64 MB of network buffers pile up before it looks at them: over a build of 109 MB the agent peaked at 66 MB above
 * its rest, with this at 15 MB. The unit's bound of 200 MB is for it and the trial run.
 */
const COLLECT_BYTES = 8 * 1024 * 1024
const collectGarbage = (): void => {
  setFlagsFromString('--expose-gc')
  const gc: unknown = runInNewContext('gc')
  if (typeof gc === 'function') gc()
}

const tryBuild = (path: string, version: string): void => {
  const trial = spawnSync(path, ['--version'], { encoding: 'utf8', timeout: TRIAL_MS, killSignal: 'SIGKILL' })
  const said = trial.stdout?.trim() ?? ''
  if (said === version) return
  if (trial.status === 0) throw new Unusable(`The build says it is version ${cutText(said, 64)}, not ${version}.`)
  const reason = trial.error?.message ?? (cutText(trial.stderr.trim(), 200) || `exit ${trial.status ?? trial.signal}`)
  throw new Unusable(`The build does not run on this host: ${reason}.`)
}

/**
 * Fetches a build to a file, executable like the one it replaces, and runs it once for its version.
 *
 * @throws with what is wrong with it; the file is gone then
 */
export const fetchBuild = async (
  transport: Pick<Transport, 'download'>,
  build: Build,
  { target, like }: { target: string; like: string },
  token: string,
  signal: AbortSignal,
): Promise<void> => {
  removeIfThere(target)
  const hash = createHash('sha256')
  let bytes = 0
  let sinceCollected = 0
  try {
    const fd = openSync(target, 'wx', statSync(like).mode & 0o777)
    try {
      const take = (chunk: Buffer): void => {
        bytes += chunk.length
        if (bytes > build.size)
          throw new Unusable(`The download is longer than the ${build.size} bytes that were announced.`)
        hash.update(chunk)
        writeAll(fd, chunk)
        sinceCollected += chunk.length
        if (sinceCollected >= COLLECT_BYTES) {
          sinceCollected = 0
          collectGarbage()
        }
      }
      await transport.download(`${agentPaths.packages}/${build.sha256}`, token, take, signal)
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    if (bytes !== build.size || hash.digest('hex') !== build.sha256)
      throw new Unusable('The download is not what was announced (size or digest differs).')
    tryBuild(target, build.version)
  } catch (error) {
    removeIfThere(target)
    throw error
  }
}
