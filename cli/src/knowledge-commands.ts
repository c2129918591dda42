import { releaseKeyFingerprint } from '@portcullis/domain'
import {
  applyKnowledge,
  getKnowledge,
  type ResponseOf,
  rollbackKnowledge,
  uploadKnowledge,
} from '@portcullis/features/contract.ts'
import type { Command, OptionValues } from 'commander'
import type { Terminal } from './client.ts'
import { readSignedKnowledge, signKnowledge } from './knowledge-file.ts'
import { makeSigningKey, passphraseOf } from './signing-key.ts'
import { table } from './table.ts'

/** Commands that sign and upload knowledge. Signing needs no server, so the key can stay offline. */
export const registerKnowledgeCommands = (program: Command, { client, show }: Terminal): void => {
  const knowledge = program.command('knowledge').description('knowledge about USB devices')
  const passphrase = ['--passphrase-file <path>', 'file that contains the passphrase of the key'] as const

  knowledge
    .command('keys')
    .description('creates a key that signs knowledge')
    .requiredOption('--out <path>', 'file for the private key; only its owner can read it')
    .option(...passphrase)
    .action((options: OptionValues) => {
      const fingerprint = makeSigningKey(options.out, passphraseOf(options))
      show({ fingerprint }, () => `knowledge key ${fingerprint}\nKeep ${options.out} and a copy of it offline.`)
    })

  knowledge
    .command('sign <folder>')
    .description('packs the files of a folder (usb.ids, attack-tools.json, …) into a set and signs it')
    .requiredOption('--version <version>', 'numbers with dots, higher than the version in force')
    .requiredOption('--key <path>', 'private key that signs the set')
    .requiredOption('--out <path>', 'file to write')
    .option('--only <names...>', 'only these files: usbIds, attackTools, vulnerable, genuine, supplement')
    .option(...passphrase)
    .action((folder: string, options: OptionValues) => {
      const made = signKnowledge({
        folder,
        only: options.only ?? [],
        version: options.version,
        keyFile: options.key,
        passphrase: passphraseOf(options),
        out: options.out,
      })
      show(made, () => `${options.out}: ${made.version}, ${made.files.join(', ')}, signed by ${made.fingerprint}`)
    })

  knowledge
    .command('upload <file>')
    .description('uploads a signed set as a candidate and shows what it would change; takes effect only after apply')
    .option('--trust', 'pin the key of this set (needed once)')
    .action(async (file: string, options: OptionValues) => {
      const signed = readSignedKnowledge(file)
      const answer = await client().post<ResponseOf<typeof uploadKnowledge>>(uploadKnowledge.path, {
        ...signed,
        ...(options.trust === true ? { trust: releaseKeyFingerprint(signed.publicKey) } : {}),
      })
      const { candidate, effect } = answer
      show(answer, () =>
        [
          `candidate ${candidate.version}, id ${candidate.id}`,
          `changes the verdict of ${effect.designs} fingerprints: ${effect.devices} devices on ${effect.hosts} hosts (${effect.worse} worse, ${effect.better} better); renames ${effect.renamed} models`,
          table(
            ['device', 'name', 'hosts', 'severity', 'findings'],
            effect.data
              .slice(0, 20)
              .map((row) => [
                `${row.vid}:${row.pid}`,
                `${row.guiVid} ${row.guiPid}`,
                row.agentsCount,
                `${row.before.severity} → ${row.after.severity}`,
                row.after.findings,
              ]),
          ),
        ].join('\n'),
      )
    })

  const changed = (answer: { version: string; jobId: string }) =>
    `version ${answer.version} is in force; job ${answer.jobId} applies it to all devices`
  knowledge
    .command('apply <id>')
    .description('puts the candidate in force')
    .action(async (id: string) => {
      const answer = await client().post<ResponseOf<typeof applyKnowledge>>(applyKnowledge.path, { id })
      show(answer, () => changed(answer))
    })

  knowledge
    .command('rollback')
    .description('returns to the previous set')
    .action(async () => {
      const answer = await client().post<ResponseOf<typeof rollbackKnowledge>>(rollbackKnowledge.path, null)
      show(answer, () => changed(answer))
    })

  knowledge
    .command('status')
    .description('shows which set is in force and its age')
    .action(async () => {
      const answer = await client().get<ResponseOf<typeof getKnowledge>>(getKnowledge.path)
      show(answer, () =>
        [
          `${answer.version} (${answer.source}), ${answer.ageDays} days old`,
          table(
            ['file', 'version', 'source', 'entries'],
            answer.files.map((f) => [f.name, f.version, f.source, f.entries]),
          ),
        ].join('\n'),
      )
    })
}
