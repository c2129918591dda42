/**
 * Runs wixl and msibuild, which write Windows Installer packages. Uses the programs of this machine, or those of Debian
 * trixie.
 */
import { spawnSync } from 'node:child_process'
import { Refusal, say } from '../bootstrap/say.mjs'
import { pristineRoot, whyNoDebianRoot } from '../release/debian-root.ts'

/** Older versions cannot write services. */
const OLDEST = [0, 106]
const PATH = '/usr/sbin:/usr/bin:/sbin:/bin'

const hasOwnTools = (): boolean => {
  const { stdout } = spawnSync('wixl', ['--version'], { encoding: 'utf8' })
  const [major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(stdout ?? '') ?? []).slice(1).map(Number)
  const isNew = major > (OLDEST[0] ?? 0) || (major === OLDEST[0] && minor >= (OLDEST[1] ?? 0))
  return isNew && spawnSync('msibuild', ['--help']).status === 0
}

/** Returns why this machine cannot build Windows Installer packages, or null. */
export const whyNoMsi = (): string | null => {
  if (hasOwnTools()) return null
  const why = whyNoDebianRoot()
  return why === null ? null : `wixl ${OLDEST.join('.')} and msitools are not installed, and ${why}`
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/**
 * Returns a function that runs a program of wixl or msitools in the folder `dir` and returns its output.
 *
 * @throws Refusal if the programs are missing and cannot be installed
 */
export const createMsiTools = (dir: string) => {
  const why = whyNoMsi()
  if (why !== null) throw new Refusal(`Cannot build the Windows installer: ${why}.`)
  const isOwn = hasOwnTools()
  if (!isOwn) say('using wixl of Debian trixie in build/debian/trixie-wixl')
  const root = isOwn ? undefined : pristineRoot('trixie-wixl', 'trixie', ['wixl', 'msitools'])
  // The archive stores local times.
  const env = { PATH: process.env.PATH ?? PATH, LC_ALL: 'C.UTF-8', TZ: 'UTC' }

  return (program: string, args: readonly string[]): string => {
    const done =
      root === undefined
        ? spawnSync(program, args, { cwd: dir, encoding: 'utf8', env })
        : spawnSync(
            '/usr/bin/unshare',
            [
              ...['--mount', 'sh', '-euc'],
              `mount --bind ${quote(dir)} ${quote(`${root}/mnt`)}; exec chroot ${quote(root)} sh -c 'cd /mnt && exec "$@"' - "$@"`,
              ...['-', program, ...args],
            ],
            { encoding: 'utf8', env: { ...env, PATH }, maxBuffer: 16 * 1024 * 1024 },
          )
    if (done.status !== 0)
      throw new Error(`${program} failed:\n${done.error?.message ?? ''}${done.stdout ?? ''}${done.stderr ?? ''}`)
    return done.stdout
  }
}
export type MsiTools = ReturnType<typeof createMsiTools>
