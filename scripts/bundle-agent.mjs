import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { formatReleaseKeyFile, parseReleaseKeyFile } from '../domain/src/release-keys.ts'
import { ROOT } from './bootstrap/say.mjs'

/**
 * Reads and checks the public release key file that a build is to hold; null for a build without one.
 *
 * @throws Error with a sentence for the person who builds
 */
export const readReleaseKey = (file) => {
  if (file === null) return null
  try {
    return parseReleaseKeyFile(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new Error(`The release key file ${file} cannot be used. ${error.message}`)
  }
}

/** Writes the agent as one script that any Node runs, with the release key inside. */
export const bundleAgent = ({ entry = join(ROOT, 'agent', 'src', 'main.ts'), outfile, releaseKey }) =>
  build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    // Hosts are not ours to upgrade: the script runs on any Node that is still around.
    target: 'node20',
    format: 'cjs',
    minifySyntax: true,
    legalComments: 'none',
    logLevel: 'warning',
    define: {
      PORTCULLIS_RELEASE_KEY: releaseKey === null ? 'undefined' : JSON.stringify(formatReleaseKeyFile(releaseKey)),
    },
  })
