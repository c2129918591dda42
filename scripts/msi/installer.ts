/** Writes the Windows installer and its manifest for servers. */
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Refusal, ROOT } from '../bootstrap/say.mjs'
import { WINDOWS_ENTRY } from '../bundle-agent.mjs'
import { buildMsi, type PackageOptions } from './package.ts'

/** Returns the name of the installer in a release. */
export const installerName = (version: string): string => `portcullis-agent-${version}-windows-x64.msi`

/** Returns the time of the commit in seconds since 1970. Outside a checkout, returns 1980. */
const commitSeconds = (): number => {
  try {
    const text = execFileSync('git', ['show', '-s', '--format=%ct', 'HEAD'], {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return Number(text)
  } catch {
    return 315_532_800
  }
}

/** Signs a file in place with the command of the organisation. */
const signFile = (file: string, command: string): void => {
  const out = `${file}.signed`
  const { status, stderr, error } = spawnSync('sh', ['-c', command], {
    encoding: 'utf8',
    env: { ...process.env, IN: file, OUT: out },
  })
  if (status !== 0) throw new Refusal(`The command of --sign-with failed for ${basename(file)}:\n${stderr || error}`)
  renameSync(out, file)
}

export interface InstallerOptions extends Pick<PackageOptions, 'version' | 'releaseKey'> {
  /** Folder of the result, which is replaced as a whole. */
  out: string
  /** Shell command that signs `$IN` and writes `$OUT`; undefined: nothing is signed. */
  signWith?: string | undefined
  entry?: string
  seconds?: number
}

/**
 * Builds the installer into the folder `out` and returns the names of the files. A server writes an address and a token
 * into the installer. This would break a signature, so the signed installer is a separate file.
 */
export const buildInstaller = async ({
  out,
  signWith,
  version,
  releaseKey,
  entry = WINDOWS_ENTRY,
  seconds = commitSeconds(),
}: InstallerOptions): Promise<string[]> => {
  mkdirSync(dirname(out), { recursive: true })
  const draft = mkdtempSync(`${out}-draft-`)
  try {
    const name = installerName(version)
    const file = join(draft, name)
    const sign = signWith === undefined ? undefined : (path: string) => signFile(path, signWith)
    const slots = await buildMsi({ entry, version, releaseKey, seconds, out: file, sign })
    const content = readFileSync(file)
    const sha256 = createHash('sha256').update(content).digest('hex')
    const manifest = { version, name, size: content.length, sha256, slots }
    writeFileSync(join(draft, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`)
    const files = [name, 'manifest.json']
    if (sign !== undefined) {
      const signed = name.replace('.msi', '-signed.msi')
      writeFileSync(join(draft, signed), content)
      sign(join(draft, signed))
      files.push(signed)
    }
    // The server may run as another user.
    chmodSync(draft, 0o755)
    rmSync(out, { recursive: true, force: true })
    renameSync(draft, out)
    return files
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}
