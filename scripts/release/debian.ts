/** Fetches the Debian packages that a container image contains. */
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { tail } from '../bootstrap/run.mjs'
import { Refusal, ROOT, say } from '../bootstrap/say.mjs'
import { DEBIAN, type DebianPackage } from './debian-pins.ts'
import type { Target } from './targets.ts'

/** Debian's mirror. https://snapshot.debian.org/archive has all versions that were ever published. */
export const DEBIAN_MIRROR = 'http://deb.debian.org'

const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg'

/** Folder of downloaded packages. Each use checks their digests. */
const CACHE = join(ROOT, 'build', 'debian')

const fileOf = (pinned: DebianPackage, { debian }: Target): string =>
  join(CACHE, `${pinned.name}_${pinned.version}_${debian}.deb`)

const matches = (file: string, sha256: string): boolean =>
  existsSync(file) && createHash('sha256').update(readFileSync(file)).digest('hex') === sha256

/**
 * Returns the files of the pinned packages for a target. Downloads missing ones with apt, which checks Debian's signatures.
 * apt uses a separate configuration, so the sources and packages of this machine do not matter.
 *
 * @throws Refusal if apt is missing, a package cannot be downloaded, or its digest is not the pinned one
 */
export const fetchDebian = (target: Target, mirror: string): Map<DebianPackage, string> => {
  const missing = DEBIAN.packages.filter((one) => !matches(fileOf(one, target), one.sha256[target.debian]))
  if (missing.length > 0) download(missing, target, mirror)
  return new Map(DEBIAN.packages.map((one) => [one, fileOf(one, target)]))
}

const download = (missing: readonly DebianPackage[], target: Target, mirror: string): void => {
  if (!existsSync('/usr/bin/apt-get') || !existsSync(KEYRING))
    throw new Refusal(
      'A container image contains Debian packages, but apt-get or debian-archive-keyring is missing. ' +
        'Build the release on Debian or Ubuntu, or build without images (--no-images).',
    )
  say(`fetching ${missing.length} packages of Debian ${DEBIAN.suite} for ${target.debian}`)
  mkdirSync(CACHE, { recursive: true })
  const dir = mkdtempSync(join(CACHE, 'draft-'))
  try {
    for (const name of ['state/lists/partial', 'cache/archives/partial', 'etc/preferences.d', 'files'])
      mkdirSync(join(dir, name), { recursive: true })
    const source = (path: string, suite: string) =>
      `deb [signed-by=${KEYRING} check-valid-until=no] ${mirror}/${path} ${suite} main\n`
    writeFileSync(
      join(dir, 'etc/sources.list'),
      source('debian', DEBIAN.suite) +
        source('debian', `${DEBIAN.suite}-updates`) +
        source('debian-security', `${DEBIAN.suite}-security`),
    )
    const settings = {
      'Dir::State': join(dir, 'state'),
      'Dir::State::status': '/dev/null',
      'Dir::Cache': join(dir, 'cache'),
      'Dir::Etc': join(dir, 'etc'),
      'Dir::Etc::sourceparts': '-',
      'Dir::Etc::parts': '-',
      'APT::Architecture': target.debian,
      'APT::Architectures::': target.debian,
      'APT::Sandbox::User': 'root',
      'Acquire::Languages': 'none',
    }
    const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])
    apt(dir, [...options, 'update'])
    apt(dir, [...options, 'download', ...missing.map(({ name, version }) => `${name}=${version}`)])
    for (const one of missing) {
      // apt writes the colon of an epoch as %3a.
      const name = readdirSync(join(dir, 'files')).find((file) => file.startsWith(`${one.name}_`))
      const file = join(dir, 'files', name ?? '')
      if (name === undefined || !matches(file, one.sha256[target.debian]))
        throw new Refusal(`The Debian package ${one.name} ${one.version} does not match its pinned digest.`)
      renameSync(file, fileOf(one, target))
    }
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

const apt = (dir: string, args: string[]): void => {
  const done = spawnSync('apt-get', ['-q', ...args], { cwd: join(dir, 'files'), encoding: 'utf8' })
  if (done.status === 0) return
  throw new Refusal(
    `apt-get failed:\n${tail(`${done.stdout}${done.stderr}`, 5)}\nIf Debian replaced a pinned version, pin the new one in ` +
      'scripts/release/debian-pins.ts, or pass --debian-mirror with a date of snapshot.debian.org.',
  )
}

/** Returns the control fields of a package. */
export const controlOf = (file: string): string => execFileSync('dpkg-deb', ['--field', file], { encoding: 'utf8' })

/** Unpacks the files of a package that match the patterns into `dir`. */
export const unpackDebian = (file: string, dir: string, patterns: readonly string[]): void => {
  const pipe = 'package=$1 into=$2; shift 2; dpkg-deb --fsys-tarfile "$package" | tar -x -C "$into" --wildcards "$@"'
  const done = spawnSync('sh', ['-c', pipe, 'sh', file, dir, ...patterns], { encoding: 'utf8' })
  if (done.status !== 0) throw new Error(`${file} could not be unpacked:\n${tail(done.stderr)}`)
}
