import { statSync } from 'node:fs'
import { newestReleaseKey, releaseKeyFingerprint } from '@portcullis/domain'
import { loadReleaseKey, type ReleaseKeySource } from '@portcullis/features/builds/server/index.ts'
import type { Config } from '@portcullis/platform/server/config.ts'
import { error, type Finding, ok, reasonOf, warning } from './finding.ts'
import type { ServerKeyFile } from './server-environment.ts'

const name = 'release key'
const guide = 'See docs/guide/agent-updates.md.'

const fingerprintOf = ({ file }: ReleaseKeySource): string => releaseKeyFingerprint(newestReleaseKey(file).releaseKey)

/** Compares the key whose agent builds this server accepts with the key in its own agent build. */
export const releaseKey = (
  config: Pick<Config, 'releaseKeyFile'>,
  manifest: string,
  known: ServerKeyFile = { server: 'stopped' },
): Finding => {
  const releaseKeyFile = known.server === 'running' ? known.file : config.releaseKeyFile
  let configured: ReleaseKeySource | null
  let built: ReleaseKeySource | null
  try {
    configured = loadReleaseKey(releaseKeyFile, manifest)
    built = loadReleaseKey(null, manifest)
  } catch (fault) {
    return error(name, reasonOf(fault), `Correct the file, because the server does not start with it. ${guide}`)
  }
  const guess =
    known.server === 'unreadable' ? ' (in the environment of this command; the running server may use another key)' : ''
  if (configured === null)
    return warning(
      name,
      `not configured${guess}: packages are refused, and hosts with this agent build refuse updates`,
      `Run portcullis release-key new on the build machine. ${guide}`,
    )
  const seen = `${fingerprintOf(configured)} in ${configured.where}${guess}`
  if (configured.source === 'file' && (statSync(configured.where).mode & 0o022) !== 0)
    return error(name, `${seen}: others may write to the file`, `chmod go-w ${configured.where}`)
  return built === null || fingerprintOf(built) !== fingerprintOf(configured)
    ? warning(
        name,
        `${seen}; the agent build contains ${built === null ? 'no key' : 'another key'}`,
        'Run npm run build.',
      )
    : ok(name, seen)
}
