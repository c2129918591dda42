import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, openSync, statSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import {
  type AgentCommandBodies,
  agentLimits,
  agentPaths,
  packageProofText,
} from '@portcullis/contract/agent-protocol.ts'
import { isSignedBy, releaseKeyFingerprint } from '@portcullis/domain'
import { cutText } from '../collectors/text.ts'
import { removeIfThere, writeAll } from '../files.ts'
import { Unusable } from '../server-calls.ts'
import type { Transport } from '../transport/http.ts'
import { isNewer } from './version.ts'

type Build = AgentCommandBodies['update']

export interface Running {
  version: string
  architecture: string
  /** Release key of this host, base64 SPKI DER. */
  releaseKey: string
}

/** The release key of this host did not sign the build. This can be an attack by someone who can send commands. */
export class ForeignBuild extends Error {}

/** Time limit for the first run of a build, which only prints its version. */
const VERSION_CHECK_MS = 20_000

/**
 * Checks a build before it is downloaded.
 *
 * @throws with the reason if this host refuses the build
 */
export const checkBuild = (build: Build, running: Running): void => {
  if (running.releaseKey !== build.releaseKey)
    throw new ForeignBuild(
      `The release key of the build (${releaseKeyFingerprint(build.releaseKey)}) is not the one that this host trusts (${releaseKeyFingerprint(running.releaseKey)}).`,
    )
  if (!isSignedBy(running.releaseKey, packageProofText(build), build.releaseSignature))
    throw new ForeignBuild('The release signature of the build does not verify.')
  if (build.architecture !== running.architecture)
    throw new Error(`The build is for ${build.architecture}, but this host is ${running.architecture}.`)
  if (!isNewer(build.version, running.version))
    throw new Error(`Version ${build.version} is not newer than the running version ${running.version}.`)
  if (build.size === 0 || build.size > agentLimits.packageBytes)
    throw new Error(`The build has ${build.size} bytes. The limit is ${agentLimits.packageBytes} bytes.`)
}

/**
 * Bytes between two garbage collections of a download. Without them, V8 keeps up to 64 MB of network buffers. A build
 * of 109 MB raised the memory of the agent by 66 MB without them and by 15 MB with them. The unit's limit of 200 MB
 * also includes the first run of the build.
 */
const COLLECT_BYTES = 8 * 1024 * 1024
const collectGarbage = (): void => {
  setFlagsFromString('--expose-gc')
  const gc: unknown = runInNewContext('gc')
  if (typeof gc === 'function') gc()
}

const checkVersion = ([program = '', ...args]: readonly string[], version: string): void => {
  const run = spawnSync(program, [...args, '--version'], {
    encoding: 'utf8',
    timeout: VERSION_CHECK_MS,
    killSignal: 'SIGKILL',
  })
  const printed = run.stdout?.trim() ?? ''
  if (printed === version) return
  if (run.status === 0) throw new Unusable(`The build reports version ${cutText(printed, 64)} instead of ${version}.`)
  const reason = run.error?.message ?? (cutText(run.stderr.trim(), 200) || `exit ${run.status ?? run.signal}`)
  throw new Unusable(`The build does not run on this host: ${reason}.`)
}

/**
 * Downloads a build to a file with the mode of the current executable, and runs it once to check its version.
 *
 * @param options.interpreter program that runs the build, if it is a script
 * @throws with the reason if the build is unusable; the file is then removed
 */
export const fetchBuild = async (
  transport: Pick<Transport, 'download'>,
  build: Build,
  { target, like, interpreter }: { target: string; like: string; interpreter?: string | undefined },
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
        if (bytes > build.size) throw new Unusable(`The download is longer than the expected ${build.size} bytes.`)
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
      throw new Unusable('The size or digest of the download does not match the update command.')
    checkVersion(interpreter === undefined ? [target] : [interpreter, target], build.version)
  } catch (error) {
    removeIfThere(target)
    throw error
  }
}
