/**
 * Runs `portcullis backup make --with-keys`, the only way to export the key file. Its caller can read that file anyway.
 */
import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { parseArgs } from 'node:util'
import { makeLocalBackup } from '@portcullis/features/operations/server/backup/index.ts'
import { systemClock } from '@portcullis/platform/server/clock.ts'
import { Secret } from '@portcullis/platform/server/secret.ts'
import { StartError } from '@portcullis/platform/server/start-error.ts'
import packageFile from '../../../package.json' with { type: 'json' }
import { assertKeyFile, ownConfig, runCommand, withDatabase } from './local.ts'

const passphraseOf = (file: string): Secret => {
  let text: string
  try {
    text = readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new StartError(`Cannot read the passphrase: ${(error as Error).message}`)
  }
  if (text.length < 12) throw new StartError('The passphrase is too short. Use 12 characters or more.')
  return new Secret(text)
}

const run = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      out: { type: 'string' },
      'passphrase-file': { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  })
  const { out, 'passphrase-file': passphraseFile } = values
  if (out === undefined) throw new StartError('Set the output file with --out.')
  if (passphraseFile === undefined) throw new StartError('A backup with keys must be encrypted. Add --passphrase-file.')
  const passphrase = passphraseOf(passphraseFile)
  const config = ownConfig()
  assertKeyFile(config)
  const { keyFile } = config
  const by = userInfo().username
  const { bytes } = await withDatabase(config, { name: 'backup' }, (db) =>
    makeLocalBackup({ db, clock: systemClock, version: packageFile.version, out, passphrase, keyFile, by }),
  )
  process.stdout.write(
    values.json
      ? `${JSON.stringify({ file: out, bytes, hasKeys: true })}\n`
      : `${out}: ${bytes.toLocaleString('en')} bytes, with the key file. Verify it: portcullis backup verify ${out} --passphrase-file ${passphraseFile}\n`,
  )
}

runCommand(run)
