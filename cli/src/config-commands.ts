import { writeFileSync } from 'node:fs'
import { applyConfigDocument, type ConfigDocument, type ResponseOf, readConfigDocument } from '@portcullis/contract'
import type { Command, OptionValues } from 'commander'
import type { createClient } from './client.ts'
import { readConfigFile, writeConfigFile } from './config-file.ts'
import { plain } from './table.ts'

interface Terminal {
  client(): ReturnType<typeof createClient>
  show(answer: unknown, text: () => string): void
}

type Applied = ResponseOf<typeof applyConfigDocument>

/** Differences as a person reads them: - what goes, + what comes. */
const differences = ({ settings, tags, notificationGroups, rules }: Applied): string[] => [
  ...settings.map(
    ({ name, from, to }) =>
      `~ ${name}: ${plain(from === '' ? 'not set' : from)} -> ${plain(to === '' ? 'not set' : to)}`,
  ),
  ...tags.added.map((name) => `+ tag ${plain(name)}`),
  ...notificationGroups.map(({ groupName, changes }) => `~ notification group ${groupName}: ${plain(changes)}`),
  ...rules.removed.map((sentence) => `- rule ${plain(sentence)}`),
  ...rules.added.map((sentence) => `+ rule ${plain(sentence)}`),
]

const said = (applied: Applied, end: string): string => {
  const lines = differences(applied)
  return lines.length === 0 ? 'Nothing differs.' : [...lines, end].join('\n')
}

/** The configuration as a file: written, compared, applied. */
export const registerConfigCommands = (program: Command, { client, show }: Terminal): void => {
  const config = program.command('config').description('the configuration as one YAML file')

  config
    .command('export')
    .description('writes settings, tags, rules and notification groups; secrets become references to variables')
    .option('--out <path>', 'file to write; without: printed')
    .action(async (options: OptionValues) => {
      const document = await client().get<ConfigDocument>(readConfigDocument.path)
      const text = writeConfigFile(document)
      if (options.out !== undefined) writeFileSync(options.out, text, { mode: 0o644 })
      show(document, () => (options.out === undefined ? text.trimEnd() : `${options.out} is written.`))
    })

  config
    .command('plan <file>')
    .description('says what applying it would change')
    .action(async (file: string) => {
      const answer = await client().post<Applied>(`${applyConfigDocument.path}?dryRun=true`, readConfigFile(file))
      show(answer, () => said(answer, 'Nothing was changed yet.'))
    })

  config
    .command('apply <file>')
    .description('makes the configuration what the file says, all of it or nothing')
    .action(async (file: string) => {
      const answer = await client().post<Applied>(applyConfigDocument.path, readConfigFile(file))
      show(answer, () => said(answer, 'Applied.'))
    })
}
