/** Stages the program of a server: Node, packages, PostgreSQL, the console and the agents in one folder. */
import { cpSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fetchNode } from '../bootstrap/node.mjs'
import { ROOT, say } from '../bootstrap/say.mjs'
import { serverFiles } from './contents.ts'
import { writeLaunchers } from './launchers.ts'
import { installPackages } from './packages.ts'
import type { Target } from './targets.ts'

interface Options {
  target: Target
  version: string
  /** Folder with the built agents. By default, the one of this checkout, which has only the agent of this machine. */
  agents?: string
  /** Folder for the result. */
  draft: string
}

/** Returns the name of the files of a server in a release, without extension. */
export const serverName = (version: string, { name }: Target): string => `portcullis-server-${version}-${name}`

/** Stages the server for a target, and returns the folder. Archive, packages and image contain these files. */
export const stageServer = async ({
  target,
  version,
  agents = join(ROOT, 'build', 'agent'),
  draft,
}: Options): Promise<string> => {
  const dir = join(draft, serverName(version, target))
  mkdirSync(dir)
  say(`building the server for ${target.name}`)
  await installPackages(dir, target)
  for (const file of serverFiles(ROOT)) {
    mkdirSync(dirname(join(dir, file)), { recursive: true })
    cpSync(join(ROOT, file), join(dir, file))
  }
  for (const name of ['console', 'help'])
    cpSync(join(ROOT, 'build', name), join(dir, 'build', name), { recursive: true })
  cpSync(agents, join(dir, 'build', 'agent'), { recursive: true })
  const node = await fetchNode(target.name)
  for (const file of ['bin/node', 'LICENSE']) {
    mkdirSync(dirname(join(dir, 'node', file)), { recursive: true })
    cpSync(join(node, file), join(dir, 'node', file))
  }
  writeLaunchers(dir)
  return dir
}
