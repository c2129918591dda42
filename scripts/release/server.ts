/** Builds the archive of a server: Node, packages, PostgreSQL, the console and the agents in one folder. */
import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fetchNode } from '../bootstrap/node.mjs'
import { ROOT, say } from '../bootstrap/say.mjs'
import { writeArchive } from './archive.ts'
import { serverFiles } from './contents.ts'
import { writeLaunchers } from './launchers.ts'
import { installPackages } from './packages.ts'
import type { Target } from './targets.ts'

interface Options {
  target: Target
  version: string
  /** Time of all files, in seconds since 1970. */
  seconds: number
  /** Folder for the archive and for intermediate files. */
  draft: string
  /** Level of compression, 0 to 9. The default is 6. */
  level?: number
}

/** Puts all files of a server into a folder below `draft` and returns the folder. Its name is that of the archive. */
export const stageServer = async ({
  target,
  version,
  draft,
}: Pick<Options, 'target' | 'version' | 'draft'>): Promise<string> => {
  const name = `portcullis-server-${version}-${target.name}`
  const dir = join(draft, name)
  mkdirSync(dir)
  say(`building ${name}`)
  await installPackages(dir, target)
  for (const file of serverFiles(ROOT)) {
    mkdirSync(dirname(join(dir, file)), { recursive: true })
    cpSync(join(ROOT, file), join(dir, file))
  }
  for (const built of ['console', 'agent'])
    cpSync(join(ROOT, 'build', built), join(dir, 'build', built), { recursive: true })
  const node = await fetchNode(target.name)
  for (const file of ['bin/node', 'LICENSE']) {
    mkdirSync(dirname(join(dir, 'node', file)), { recursive: true })
    cpSync(join(node, file), join(dir, 'node', file))
  }
  writeLaunchers(dir)
  return dir
}

/** Builds the server archive for a target and returns its path. */
export const buildServer = async ({ seconds, level = 6, ...options }: Options): Promise<string> => {
  const dir = await stageServer(options)
  const file = `${dir}.tar.xz`
  await writeArchive(dir, file, seconds, level)
  rmSync(dir, { recursive: true })
  return file
}
