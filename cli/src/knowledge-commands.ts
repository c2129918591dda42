import { applyKnowledge, getKnowledge, type ResponseOf, rollbackKnowledge, uploadKnowledge } from '@portcullis/contract'
import { releaseKeyFingerprint } from '@portcullis/domain'
import type { Command, OptionValues } from 'commander'
import type { createClient } from './client.ts'
import { readSignedKnowledge, signKnowledge } from './knowledge-file.ts'
import { makeSigningKey, passphraseOf } from './signing-key.ts'
import { table } from './table.ts'

interface Terminal {
  client(): ReturnType<typeof createClient>
  /** Prints an answer, as JSON when that was asked for. */
  show(answer: unknown, text: () => string): void
}

/** Making, signing and sending knowledge. Signing needs no server, so the key can stay off the network. */
export const registerKnowledgeCommands = (program: Command, { client, show }: Terminal): void => {
  const knowledge = program.command('knowledge').description('what the server knows of USB devices')
  const passphrase = ['--passphrase-file <path>', 'file with the passphrase that encrypts the key'] as const

  knowledge
    .command('keys')
    .description('makes a key to sign knowledge with')
    .requiredOption('--out <path>', 'file for the private key; only its owner can read it')
    .option(...passphrase)
    .action((options: OptionValues) => {
      const fingerprint = makeSigningKey(options.out, passphraseOf(options))
      show(
        { fingerprint },
        () => `knowledge key ${fingerprint}\nKeep ${options.out} off the network, and a copy of it.`,
      )
    })

  knowledge
    .command('sign <folder>')
    .description('packs the files of a folder (usb.ids, attack-tools.json, …) into a set and signs it')
    .requiredOption('--version <version>', 'numbers with dots; has to be above what is in force')
    .requiredOption('--key <path>', 'key to sign with')
    .requiredOption('--out <path>', 'file to write')
    .option('--only <names...>', 'some of usbIds, attackTools, vulnerable, genuine, supplement')
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
    .description('sends a signed set as a candidate and says what it would change; nothing counts before apply')
    .option('--trust', 'pin the key of this set; needed once')
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
          `changes ${effect.designs} designs: ${effect.devices} devices on ${effect.hosts} hosts (${effect.worse} worse, ${effect.better} better), ${effect.renamed} models get another name`,
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

  const changed = (answer: { version: string; jobId: string }) => `${answer.version} is in force; job ${answer.jobId}`
  knowledge
    .command('apply <id>')
    .description('puts the candidate in force')
    .action(async (id: string) => {
      const answer = await client().post<ResponseOf<typeof applyKnowledge>>(applyKnowledge.path, { id })
      show(answer, () => changed(answer))
    })

  knowledge
    .command('rollback')
    .description('goes back to what was in force before')
    .action(async () => {
      const answer = await client().post<ResponseOf<typeof rollbackKnowledge>>(rollbackKnowledge.path, null)
      show(answer, () => changed(answer))
    })

  knowledge
    .command('status')
    .description('what is in force, and how fresh it is')
    .action(async () => {
      const answer = await client().get<ResponseOf<typeof getKnowledge>>(getKnowledge.path)
      show(answer, () =>
        [
          `${answer.version} (${answer.source}), ${answer.ageDays} days old`,
          table(
            ['file', 'version', 'from', 'entries'],
            answer.files.map((f) => [f.name, f.version, f.source, f.entries]),
          ),
        ].join('\n'),
      )
    })
}
