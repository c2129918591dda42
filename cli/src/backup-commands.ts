import { spawn } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createBackup } from '@portcullis/contract'
import type { Command, OptionValues } from 'commander'
import { CliError, type createClient } from './client.ts'
import { passphraseOf } from './signing-key.ts'

interface Terminal {
  client(): ReturnType<typeof createClient>
  show(answer: unknown, text: () => string): void
}

/** Runs an entry of the server in a process of its own; what it says is what it says. */
const runEntry = async (name: string, args: readonly string[]): Promise<void> => {
  const entry = fileURLToPath(new URL(`../../server/src/entry/${name}.ts`, import.meta.url))
  const child = spawn(process.execPath, [entry, ...args], { stdio: 'inherit' })
  process.exitCode = await new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 1))
  })
}

const passphraseArgs = ({ passphraseFile }: OptionValues): string[] =>
  typeof passphraseFile === 'string' ? ['--passphrase-file', passphraseFile] : []

/** Backups: made from a running server, verified and restored beside a stopped one. */
export const registerBackupCommands = (program: Command, { client, show }: Terminal): void => {
  const passphrase = ['--passphrase-file <path>', 'file with the passphrase, 12 characters or more'] as const
  const json = (): string[] => (program.opts().json === true ? ['--json'] : [])
  const backup = program.command('backup').description('backups of a running server')

  backup
    .command('make')
    .description('writes everything the database holds into a file; needs an API token of an Administrator')
    .requiredOption('--out <path>', 'file to write; never overwritten')
    .option('--with-keys', 'puts the key file of the server into it; needs a passphrase')
    .option(...passphrase)
    .action(async (options: OptionValues) => {
      if (existsSync(options.out)) throw new CliError(`${options.out} is there already.`)
      await client().download(
        createBackup.path,
        { passphrase: passphraseOf(options) ?? null, withKeys: options.withKeys === true },
        options.out,
      )
      const { size } = statSync(options.out)
      show(
        { file: options.out, bytes: size },
        () => `${options.out}: ${size.toLocaleString('en')} bytes. Try it: npm run cli -- backup verify ${options.out}`,
      )
    })

  backup
    .command('verify <file>')
    .description('restores it into a database that is thrown away, and compares each table')
    .option(...passphrase)
    .action((file: string, options: OptionValues) =>
      runEntry('restore', ['--file', file, '--verify', ...passphraseArgs(options), ...json()]),
    )

  program
    .command('restore <file>')
    .description('fills the empty database of this machine, or of DATABASE_URL, from a backup; stop the server first')
    .option(...passphrase)
    .action((file: string, options: OptionValues) =>
      runEntry('restore', ['--file', file, ...passphraseArgs(options), ...json()]),
    )
}
