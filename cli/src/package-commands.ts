import type { AgentPackage, listPackages, ResponseOf } from '@portcullis/features/contract.ts'
import {
  listPackages as listOperation,
  packageArchitectures,
  publishPackage,
  withdrawPackage,
} from '@portcullis/features/contract.ts'
import { type Command, Option, type OptionValues } from 'commander'
import type { Terminal } from './client.ts'
import { readPackageHeader, signPackage } from './package-file.ts'
import { refuseTrust } from './release-key-commands.ts'
import { passphraseOf } from './signing-key.ts'
import { table } from './table.ts'

/** Commands that sign and publish agent builds. Signing needs no server, so the release key can stay offline. */
export const registerPackageCommands = (program: Command, { client, show }: Terminal): void => {
  const packages = program.command('package').description('agent builds')
  const passphrase = ['--passphrase-file <path>', 'file that contains the passphrase of the release key'] as const

  packages
    .command('sign <executable>')
    .description('packs and signs an agent executable or the agent script for Windows')
    .requiredOption('--version <version>', 'version of the agent, for example 1.4.0')
    .requiredOption('--architecture <name>', packageArchitectures.join(', '))
    .requiredOption('--key <path>', 'release key')
    .requiredOption('--out <path>', 'package file to write')
    .option(...passphrase)
    .action(async (executable: string, options: OptionValues) => {
      const header = await signPackage({
        executable,
        version: options.version,
        architecture: options.architecture,
        keyFile: options.key,
        passphrase: passphraseOf(options),
        out: options.out,
      })
      show(header, () => `${options.out}: ${header.version} ${header.architecture}, SHA-256 ${header.sha256}`)
    })

  packages
    .command('publish <file>')
    .description('publishes a package; needs --user with an Administrator account')
    .addOption(new Option('--trust [fingerprint]').hideHelp())
    .action(async (file: string, options: OptionValues) => {
      refuseTrust(options.trust)
      await readPackageHeader(file)
      const answer = await client().upload<AgentPackage>(publishPackage.path, {}, file)
      show(answer, () => `published ${answer.version} ${answer.architecture}, SHA-256 ${answer.sha256}`)
    })

  packages
    .command('withdraw <id>')
    .description('withdraws a package; agents that already run it keep it')
    .action(async (id: string) => {
      const answer = await client().delete<AgentPackage>(withdrawPackage.path.replace('{id}', encodeURIComponent(id)))
      show(answer, () => `withdrawn ${answer.version} ${answer.architecture}`)
    })

  packages
    .command('list')
    .description('lists published builds, newest first')
    .action(async () => {
      const answer = await client().get<ResponseOf<typeof listPackages>>(listOperation.path)
      show(answer, () =>
        [
          answer.releaseKey === null
            ? 'no release key is configured, so the server refuses packages'
            : `release key ${answer.releaseKey.fingerprint}`,
          table(
            ['version', 'architecture', 'state', 'newest', 'published', 'by', 'id', 'sha256'],
            answer.data.map((p) => [
              p.version,
              p.architecture,
              p.state,
              p.isNewest ? 'yes' : '',
              p.publishedAt,
              p.publishedBy,
              p.id,
              p.sha256,
            ]),
          ),
        ].join('\n'),
      )
    })
}
