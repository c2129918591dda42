/** Builds the agents of a release: one executable per system, each with the pinned Node. */
import { join } from 'node:path'
import { fetchNode } from '../bootstrap/node.mjs'
import { run, tail } from '../bootstrap/run.mjs'
import { ROOT, say } from '../bootstrap/say.mjs'
import { compressFile } from './archive.ts'
import { hostTarget, TARGETS, type Target } from './targets.ts'

/**
 * Builds the agents of all targets into `dir`: `agent.cjs`, `portcullis-agent-<target>` and `manifest.json`. Servers serve
 * this folder, so it contains all targets in every release. The result does not depend on the folder or the machine.
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
