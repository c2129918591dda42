import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureBuilds } from '../../../scripts/bootstrap/builds.mjs'
import { ROOT } from '../../../scripts/bootstrap/say.mjs'

export interface Debs {
  server: string
  agent: string
  remove(): void
}

const gitDir = (): string =>
  execFileSync('git', ['rev-parse', '--absolute-git-dir'], { cwd: ROOT, encoding: 'utf8' }).trim()

/** Builds the `.deb` files of server and agent from a checkout. */
export const buildDebs = async (root: string): Promise<Debs> => {
  await ensureBuilds(process.execPath, ['console', 'agent'])
  const draft = mkdtempSync(join(tmpdir(), 'portcullis-debs-'))
  const remove = (): void => rmSync(draft, { recursive: true, force: true })
  const script = join(root, 'e2e', 'installed', 'build-debs.ts')
  // A broken copy of the checkout has no index of its own, and a package contains the files of the index.
  const env = existsSync(join(root, '.git')) ? process.env : { ...process.env, GIT_DIR: gitDir() }
  const done = spawnSync(process.execPath, [script, draft], { encoding: 'utf8', env, maxBuffer: 64 * 1024 * 1024 })
  if (done.status === 0) {
    const last = done.stdout.trim().split('\n').at(-1) ?? ''
    return { ...(JSON.parse(last) as { server: string; agent: string }), remove }
  }
  remove()
  throw new Error(`the packages cannot be built: ${done.stdout}${done.stderr}`)
}
