import { createPublicKey } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { issueLicence, type Licence, licenceFault, licenceKeysOf, readLicence } from '@portcullis/domain'
import type { LicenceDetails } from '@portcullis/features/contract.ts'
import { addOrUpdateLicense, getLicence } from '@portcullis/features/contract.ts'
import type { Command, OptionValues } from 'commander'
import { CliError, readText, type Terminal } from './client.ts'
import { now } from './clock.ts'
import { makeSigningKey, passphraseOf, readSigningKey } from './signing-key.ts'

const summary = ({ accountName, agents, expires, graceDays, features }: Licence): string =>
  `${accountName}: ${agents ?? 'any number of'} hosts, ${expires === null ? 'never expires' : `expires ${expires}, with ${graceDays} days of grace`}${features.length === 0 ? '' : `, ${features.join(', ')}`}`

/** Commands that issue licences, which needs no server, and install them. */
export const registerLicenceCommands = (program: Command, { client, show }: Terminal): void => {
  const licence = program.command('licence').description('licences')
  const passphrase = ['--passphrase-file <path>', 'file that contains the passphrase of the key'] as const

  licence
    .command('keys')
    .description('creates a key pair for issuing licences')
    .requiredOption(
      '--out <path>',
      'file for the private key; writes the public key next to it with the suffix .pub.pem',
    )
    .option(...passphrase)
    .action((options: OptionValues) => {
      const fingerprint = makeSigningKey(options.out, passphraseOf(options))
      const publicKey = createPublicKey(readSigningKey(options.out, passphraseOf(options)))
      const file = `${options.out}.pub.pem`
      writeFileSync(file, publicKey.export({ type: 'spki', format: 'pem' }), { mode: 0o644 })
      show({ fingerprint, publicKey: file }, () =>
        [
          `licence key ${fingerprint}`,
          `Keep ${options.out} and a copy of it offline.`,
          `Copy ${file} to the data directory of each server as licence-keys.pem.`,
        ].join('\n'),
      )
    })

  licence
    .command('issue')
    .description('issues a licence')
    .requiredOption('--key <path>', 'private key of the issuer')
    .requiredOption('--account <name>', 'name of the customer account')
    .requiredOption('--account-id <id>', 'ID of the customer account')
    .option('--agents <number>', 'number of hosts (default: any number)')
    .option('--expires <date>', 'last day, yyyy-mm-dd in UTC (default: never expires)')
    .option('--grace-days <number>', 'days after the last day during which everything keeps working', '14')
    .option('--feature <name...>', 'features')
    .option('--out <path>', 'file to write (default: standard output)')
    .option(...passphrase)
    .action((options: OptionValues) => {
      const content: Licence = {
        product: 'portcullis',
        accountId: options.accountId,
        accountName: options.account,
        agents: options.agents === undefined ? null : Number(options.agents),
        expires: options.expires ?? null,
        graceDays: Number(options.graceDays),
        features: options.feature ?? [],
        issued: now().toISOString().slice(0, 10),
      }
      const fault = licenceFault({ ...content })
      if (fault !== null) throw new CliError(fault)
      const text = issueLicence(content, readSigningKey(options.key, passphraseOf(options)))
      if (options.out !== undefined) writeFileSync(options.out, `${text}\n`, { mode: 0o644 })
      show({ ...content, licence: text }, () =>
        options.out === undefined ? text : `${options.out}: ${summary(content)}`,
      )
    })

  licence
    .command('show <file>')
    .description('verifies the signature of a licence and shows its content')
    .requiredOption('--keys <path>', 'file with the public keys of issuers')
    .action((file: string, options: OptionValues) => {
      const content = readLicence(readText(file), licenceKeysOf(readText(options.keys)))
      if (typeof content === 'string') throw new CliError(content)
      show(content, () => summary(content))
    })

  licence
    .command('enter <file>')
    .description('installs a licence on the server; needs an API token of an Administrator')
    .action(async (file: string) => {
      const answer = await client().post<LicenceDetails>(addOrUpdateLicense.path, {
        LICENSE_KEY: readText(file).trim(),
      })
      show(answer, () => `${answer.status}: ${answer.used} of ${answer.agents ?? 'any number of'} hosts`)
    })

  licence
    .command('status')
    .description('shows the licence in force')
    .action(async () => {
      const answer = await client().get<LicenceDetails>(getLicence.path)
      show(
        answer,
        () =>
          `${answer.status} ${answer.accountName}: ${answer.used} of ${answer.agents ?? 'any number of'} hosts${answer.expires === null ? '' : `, expires ${answer.expires}`}`,
      )
    })
}
