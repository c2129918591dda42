/** Builds the agents of a release: one executable per Linux system, each with the pinned Node, and the script for Windows. */
import { createPublicKey, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { newestReleaseKey, windowsScriptName } from '@portcullis/domain'
import { fetchNode } from '../bootstrap/node.mjs'
import { run, tail } from '../bootstrap/run.mjs'
import { ROOT, say } from '../bootstrap/say.mjs'
import { compressFile } from './archive.ts'
import { hostTarget, TARGETS, type Target } from './targets.ts'

/**
 * Builds the agents of all targets into `dir`: `agent.cjs`, `portcullis-agent-<target>`, the script for Windows and
 * `manifest.json`. Servers serve this folder, so it contains all targets in every release. The result does not depend on
 * the folder or the machine.
 */
export const buildAgents = async (dir: string): Promise<void> => {
  say('building the agents')
  const node = join(await fetchNode(hostTarget().name), 'bin', 'node')
  const args = ['scripts/build-agent.mjs', ...TARGETS.flatMap(({ name }) => ['--system', name])]
  const done = await run(node, [...args, join(ROOT, 'agent', 'src', 'main.ts'), dir])
  if (!done.ok) throw new Error(`The agents could not be built:\n${tail(done.output)}`)
}

/** Returns the path of a built agent. */
export const agentFile = (dir: string, { name }: Target): string => join(dir, `portcullis-agent-${name}`)

/** An agent that hosts install as an update. */
export interface UpdateBuild {
  /** System in file names. */
  name: string
  file: string
  architecture: string
}

/** Returns the agents in `dir` that Linux hosts of these targets and, with `hasWindows`, Windows hosts install as updates. */
export const updateBuilds = (dir: string, targets: readonly Target[], hasWindows: boolean): UpdateBuild[] => [
  ...targets.map((target) => ({ name: target.name, file: agentFile(dir, target), architecture: target.arch })),
  ...(hasWindows ? [{ name: 'windows-x64', file: join(dir, windowsScriptName), architecture: 'windows-x64' }] : []),
]

/** Writes the agent of a target as a file of the release, compressed with xz, and returns the path. */
export const packAgent = async (options: {
  agents: string
  target: Target
  version: string
  draft: string
}): Promise<string> => {
  const { agents, target, version, draft } = options
  const file = join(draft, `portcullis-agent-${version}-${target.name}.xz`)
  await compressFile(agentFile(agents, target), file, 6)
  return file
}

/** Returns the release key that agents in `dir` accept; null if they were built without one. */
const acceptedKey = (dir: string): string | null => {
  const { releaseKey: built } = JSON.parse(readFileSync(join(dir, 'manifest.json'), 'utf8')) as {
    releaseKey: Parameters<typeof newestReleaseKey>[0] | null
  }
  return built === null ? null : newestReleaseKey(built).releaseKey
}

/**
 * Signs agents as packages that servers publish as updates, and returns the files. Does nothing if
 * the agents do not accept builds of this key: their hosts would refuse them.
 */
export const signAgents = async (options: {
  agents: string
  builds: readonly UpdateBuild[]
  version: string
  draft: string
  signer: KeyObject
  keyFile: string
  passphraseFile: string | undefined
}): Promise<string[]> => {
  const { agents, builds, version, draft, signer, keyFile, passphraseFile } = options
  const own = createPublicKey(signer).export({ type: 'spki', format: 'der' }).toString('base64')
  const accepted = acceptedKey(agents)
  if (accepted !== own) {
    const why = accepted === null ? 'were built without a release key' : 'accept builds of another release key'
    say(`The agents ${why}, so the release contains no signed builds for updates from a server.`)
    return []
  }
  const files: string[] = []
  for (const { name, file, architecture } of builds) {
    const out = join(draft, `portcullis-agent-${version}-${name}.pkg`)
    const done = await run(process.execPath, [
      join(ROOT, 'cli', 'src', 'main.ts'),
      ...['package', 'sign', file, '--version', version, '--architecture', architecture],
      ...[
        '--key',
        keyFile,
        ...(passphraseFile === undefined ? [] : ['--passphrase-file', passphraseFile]),
        '--out',
        out,
      ],
    ])
    if (!done.ok) throw new Error(`The agent for ${name} could not be signed:\n${tail(done.output)}`)
    files.push(out)
  }
  return files
}
