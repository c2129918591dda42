import type { Command, OptionValues } from 'commander'
import { runEntry } from './run-entry.ts'

/** The key that signs commands to hosts: on the machine of the server only. */
export const registerCommandKeyCommands = (program: Command): void => {
  const json = (): string[] => (program.opts().json === true ? ['--json'] : [])
  const key = program
    .command('command-key')
    .description('the key that signs commands to hosts; on the machine and as the account of the server')
  key
    .command('show')
    .description('shows each command key, its fingerprint, and how many hosts hold it')
    .action(() => runEntry('command-key', ['show', ...json()]))
  key
    .command('rotate')
    .description('makes a new command key, signed by the present one; hosts take it over at their next session')
    .option('--keep-days <number>', 'days that the present key signs for hosts that cannot follow; 0 to 365', '30')
    .action((options: OptionValues) =>
      runEntry('command-key', ['rotate', '--keep-days', String(options.keepDays), ...json()]),
    )
}
