/** A package of the operating system, described once for Debian's and Red Hat's formats. */
import { spawnSync } from 'node:child_process'
import { chmodSync, lstatSync, lutimesSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Refusal } from '../bootstrap/say.mjs'
import type { Target } from './targets.ts'

/**
 * Shell code that packages run, at least one command each. The functions of `helpers` are available to the others,
 * `$is_first` to `afterInstall`.
 */
export interface PackageScripts {
  helpers: string
  /** Before the files of an installed version are replaced. */
  beforeUpgrade: string
  /** After installation and after each upgrade. */
  afterInstall: string
  /** Before the package is removed, but not before an upgrade. */
  beforeRemove: string
  /** After the package was removed. */
  afterRemove: string
  /** After the package was removed with its configuration and data. Only Debian's format has this step. */
  purge: string
}

export interface SystemPackage {
  name: string
  version: string
  target: Target
  summary: string
  /** Lines. */
  description: readonly string[]
  /** Folder with the files of the package at their paths on the system. */
  root: string
  /** Files that belong to the administrator after the installation. */
  configFiles: readonly string[]
  /** The paths that belong to the package, without shared folders and `configFiles`. Folders include their contents. */
  owned: readonly string[]
  debDepends: readonly string[]
  rpmRequires: readonly string[]
  /** The unit that an installation enables. */
  unit: string
  /** All units of the package. */
  units: readonly string[]
  scripts: PackageScripts
  /** Time of all files, in seconds since 1970. */
  seconds: number
  /** Folder for the file of the package. */
  draft: string
  /** Level of compression, 0 to 9. The default is 6. */
  level?: number | undefined
}

/** Turns a semantic version into one of a package, in which `~` sorts a pre-release before its release. */
export const packageVersion = (version: string): string => version.replace('-', '~').replaceAll('-', '.')

/** Returns all paths below a folder, parents first and in a fixed order. */
export const pathsBelow = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((name) => join(dir, name))

/** Gives all files below a folder the same time, and permissions that depend only on whether a file is a program. */
export const normaliseTree = (dir: string, seconds: number): void => {
  for (const path of [dir, ...pathsBelow(dir)]) {
    const found = lstatSync(path)
    if (!found.isSymbolicLink()) chmodSync(path, found.isDirectory() || (found.mode & 0o111) !== 0 ? 0o755 : 0o644)
    lutimesSync(path, seconds, seconds)
  }
}

/**
 * Runs a program that builds packages.
 *
 * @throws Refusal if the program is missing or fails
 */
export const runBuilder = (
  program: string,
  args: readonly string[],
  seconds: number,
  more: Record<string, string> = {},
): void => {
  const done = spawnSync(program, args, {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, SOURCE_DATE_EPOCH: String(seconds), LC_ALL: 'C', ...more },
  })
  if (done.error !== undefined) throw new Refusal(missingBuilder(program))
  if (done.status !== 0) throw new Refusal(`${program} failed:\n${done.stderr.trim().slice(-2000)}`)
}

const DEBIAN_PACKAGES: Readonly<Record<string, string>> = { 'dpkg-deb': 'dpkg', rpmbuild: 'rpm' }

const missingBuilder = (program: string): string =>
  `${program} is missing. Install it (apt-get install ${DEBIAN_PACKAGES[program]}), or build without packages (--no-packages).`

/** Refuses a build of packages on a machine without the programs for it. */
export const assertBuilders = (): void => {
  for (const program of Object.keys(DEBIAN_PACKAGES))
    if (spawnSync(program, ['--version']).error !== undefined) throw new Refusal(missingBuilder(program))
}
