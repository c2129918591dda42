/** `npm run build:msi -- [--out DIR] [--sign-with COMMAND]`: builds the Windows installer of the agent. */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { Refusal, ROOT, say } from '../bootstrap/say.mjs'
import { readReleaseKey, readVersion, WINDOWS_ENTRY } from '../bundle-agent.mjs'
import { releaseKeyFile } from '../release-key-file.mjs'
import { buildInstaller } from './installer.ts'

const USAGE = `Usage: npm run build:msi -- [options]
  --out DIR             folder for the installer and its manifest (default: build/agent/msi, from which the server offers it)
  --sign-with COMMAND   shell command that signs the file $IN with the certificate of your organisation and writes $OUT, such as
                        'osslsigncode sign -pkcs12 company.pfx -readpass pass.txt -h sha256 -in "$IN" -out "$OUT"'`

const readOptions = () => {
  try {
    return parseArgs({
      options: {
        out: { type: 'string', default: join(ROOT, 'build', 'agent', 'msi') },
        'sign-with': { type: 'string' },
      },
    }).values
  } catch (error) {
    throw new Refusal(`${(error as Error).message}\n${USAGE}`)
  }
}

try {
  const { out, 'sign-with': signWith } = readOptions()
  if (!existsSync(WINDOWS_ENTRY)) throw new Refusal('This version has no agent for Windows.')
  const files = await buildInstaller({
    out: resolve(out),
    signWith,
    version: readVersion(),
    releaseKey: readReleaseKey(releaseKeyFile()),
  })
  say(`wrote ${files.join(', ')} to ${resolve(out)}`)
} catch (error) {
  if (!(error instanceof Refusal)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
