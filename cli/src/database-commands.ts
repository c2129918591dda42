import type { Command, OptionValues } from 'commander'
import { argumentsOf, runEntry } from './run-entry.ts'

/** Commands for a PostgreSQL cluster with standbys. They need only its servers, and run on any machine. */
export const registerDatabaseCommands = (program: Command): void => {
  const file = ['--url-file <path>', 'file with the address of all database servers, with a role for failover'] as const
  const database = program.command('database').description('PostgreSQL with standbys; runs on any machine')
  database
    .command('status')
    .description('shows the role and the position of each database server')
    .requiredOption(...file)
    .action(({ urlFile }: OptionValues) =>
      runEntry('database', ['status', ...argumentsOf({ 'url-file': urlFile, json: program.opts().json })]),
    )
  database
    .command('promote')
    .description(
      'fences the former primary, promotes the standby with the most data, and lets the other one follow it; exit code 2 if this would lose data',
    )
    .requiredOption(...file)
    .option('--to <host>', 'server to promote, even if the primary answers')
    .option('--stop-command <command>', 'command that stops the former primary, run once it is fenced')
    .option('--accept-loss', 'promote even if acknowledged changes may be lost')
    .option('--dry-run', 'describe the steps and change nothing')
    .action(({ urlFile, to, stopCommand, acceptLoss, dryRun }: OptionValues) =>
      runEntry('database', [
        'promote',
        ...argumentsOf({
          'url-file': urlFile,
          to,
          'stop-command': stopCommand,
          'accept-loss': acceptLoss,
          'dry-run': dryRun,
        }),
      ]),
    )
}
