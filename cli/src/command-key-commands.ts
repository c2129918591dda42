import type { Command, OptionValues } from 'commander'
import { argumentsOf, runEntry } from './run-entry.ts'

/** Commands for the key that signs commands to hosts. They run on the server only. */
export const registerCommandKeyCommands = (program: Command): void => {
  const run = (verb: string, options: OptionValues = {}) =>
    runEntry('command-key', [verb, ...argumentsOf({ 'keep-days': options.keepDays, json: program.opts().json })])
  const key = program
    .command('command-key')
    .description('the key that signs commands to hosts; runs on the server, as its account')
  key
    .command('show')
    .description('shows each command key, its fingerprint, and how many hosts hold it')
    .action(() => run('show'))
  key
    .command('rotate')
    .description('creates a new command key, signed by the current one; hosts adopt it at their next session')
    .option(
      '--keep-days <number>',
      'days for which the current key still signs for hosts that cannot follow, 0 to 365',
      '30',
    )
    .action((options: OptionValues) => run('rotate', options))
}
