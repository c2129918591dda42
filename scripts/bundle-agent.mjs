import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { formatReleaseKeyFile, parseReleaseKeyFile } from '../domain/src/release-keys.ts'
import { windowsScriptLine } from '../domain/src/windows-script.ts'
import { ROOT } from './bootstrap/say.mjs'

/**
 * Reads and validates the public release key file for a build; returns null for a build without a key.
 *
 * @throws Error with a message for the person who runs the build
 */
export const readReleaseKey = (file) => {
  if (file === null) return null
  try {
    return parseReleaseKeyFile(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new Error(`The release key file ${file} cannot be used. ${error.message}`)
  }
}

/** Returns the version of the product. */
export const readVersion = () => JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version

/** Puts only the version of the product into the bundle, not the rest of package.json. */
const versionOnly = (version) => ({
  name: 'version',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]package\.json$/ }, () => ({ contents: JSON.stringify({ version }), loader: 'json' })),
})

/** Entry point of the agent for Windows. */
export const WINDOWS_ENTRY = join(ROOT, 'agent', 'src', 'platform', 'windows', 'main.ts')

/**
 * Writes the agent as one script that any Node can run, with the release key inside. `version` is for tests of updates,
 * which need a newer agent. Without `write`, the result contains the script and no file is written.
 *
 * @param {{ entry?: string, outfile: string, version?: string, releaseKey: ReturnType<typeof readReleaseKey>, write?: boolean, firstLine?: string }} options
 */
export const bundleAgent = ({
  entry = join(ROOT, 'agent', 'src', 'main.ts'),
  outfile,
  releaseKey,
  version = readVersion(),
  write = true,
  firstLine,
}) =>
  build({
    entryPoints: [entry],
    outfile,
    // The comments of the bundle contain paths relative to this folder.
    absWorkingDir: ROOT,
    bundle: true,
    write,
    platform: 'node',
    // We cannot upgrade Node on hosts, so the script supports older versions.
    target: 'node20',
    format: 'cjs',
    minifySyntax: true,
    legalComments: 'none',
    ...(firstLine === undefined ? {} : { banner: { js: firstLine } }),
    logLevel: 'warning',
    plugins: [versionOnly(version)],
    define: {
      PORTCULLIS_RELEASE_KEY: releaseKey === null ? 'undefined' : JSON.stringify(formatReleaseKeyFile(releaseKey)),
    },
  })

/**
 * Writes the agent for Windows, whose first line names its system and version.
 *
 * @param {Parameters<typeof bundleAgent>[0]} options
 */
export const bundleWindowsAgent = ({ version = readVersion(), ...options }) =>
  bundleAgent({ entry: WINDOWS_ENTRY, version, firstLine: windowsScriptLine(version), ...options })
