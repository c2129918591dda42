import { existsSync, statSync } from 'node:fs'
import { createBackup } from '@portcullis/features/contract.ts'
import type { Command, OptionValues } from 'commander'
import { CliError, type Terminal } from './client.ts'
import { argumentsOf, runEntry } from './run-entry.ts'
import { passphraseOf } from './signing-key.ts'

/** Commands that create backups of a running server, and verify and restore them. */
export const registerBackupCommands = (program: Command, { client, show }: Terminal): void => {
  const passphrase = ['--passphrase-file <path>', 'file that contains the passphrase (12 characters or more)'] as const
  const common = ({ passphraseFile }: OptionValues) => ({
    'passphrase-file': passphraseFile,
    json: program.opts().json,
  })
  const backup = program.command('backup').description('backups of a running server')

  backup
    .command('make')
    .description(
      'writes the whole database to a file; needs an API token of an Administrator. With --with-keys, run it on the server as the server account',
    )
    .requiredOption('--out <path>', 'file to write; never overwritten')
    .option('--with-keys', 'include the key file of this server; needs a passphrase but no token')
    .option(...passphrase)
    .action(async (options: OptionValues) => {
      if (existsSync(options.out)) throw new CliError(`${options.out} already exists.`)
      if (options.withKeys === true) return runEntry('backup', argumentsOf({ out: options.out, ...common(options) }))
      await client().download(createBackup.path, { passphrase: passphraseOf(options) ?? null }, options.out)
      const { size } = statSync(options.out)
      show(
        { file: options.out, bytes: size },
        () =>
          `${options.out}: ${size.toLocaleString('en')} bytes. Verify it: portcullis backup verify ${options.out}${options.passphraseFile === undefined ? '' : ` --passphrase-file ${options.passphraseFile}`}`,
      )
    })

  backup
    .command('verify <file>')
    .description('restores the backup into a temporary database and compares each table')
    .option(...passphrase)
    .action((file: string, options: OptionValues) =>
      runEntry('restore', argumentsOf({ file, verify: true, ...common(options) }), { usesData: false }),
    )

  program
    .command('restore <file>')
    .description('fills the empty database of this machine, or of DATABASE_URL, from a backup; stop the server first')
    .option(...passphrase)
    .action((file: string, options: OptionValues) => runEntry('restore', argumentsOf({ file, ...common(options) })))
}
