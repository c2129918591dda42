import { writeFileSync } from 'node:fs'
import {
  applyConfigDocument,
  type ConfigDocument,
  type ResponseOf,
  readConfigDocument,
} from '@portcullis/features/contract.ts'
import type { Command, OptionValues } from 'commander'
import type { Terminal } from './client.ts'
import { readConfigFile, writeConfigFile } from './config-file.ts'
import { plain } from './table.ts'

type Applied = ResponseOf<typeof applyConfigDocument>

/** Returns the differences as lines: - removed, + added, ~ changed. */
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

const summary = (applied: Applied, end: string): string => {
  const lines = differences(applied)
  return lines.length === 0 ? 'No differences.' : [...lines, end].join('\n')
}

/** Commands that export, compare and apply the configuration as a file. */
export const registerConfigCommands = (program: Command, { client, show }: Terminal): void => {
  const config = program.command('config').description('the configuration as one YAML file')

  config
    .command('export')
    .description('exports settings, tags, rules and notification groups; replaces secrets with references to variables')
    .option('--out <path>', 'file to write (default: standard output)')
    .action(async (options: OptionValues) => {
      const document = await client().get<ConfigDocument>(readConfigDocument.path)
      const text = writeConfigFile(document)
      if (options.out !== undefined) writeFileSync(options.out, text, { mode: 0o644 })
      show(document, () => (options.out === undefined ? text.trimEnd() : `Wrote ${options.out}.`))
    })

  config
    .command('plan <file>')
    .description('shows what applying the file would change')
    .action(async (file: string) => {
      const answer = await client().post<Applied>(`${applyConfigDocument.path}?dryRun=true`, readConfigFile(file))
      show(answer, () => summary(answer, 'Nothing has changed yet.'))
    })

  config
    .command('apply <file>')
    .description('replaces the configuration with the file, completely or not at all')
    .action(async (file: string) => {
      const answer = await client().post<Applied>(applyConfigDocument.path, readConfigFile(file))
      show(answer, () => summary(answer, 'Applied.'))
    })
}
