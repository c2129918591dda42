import { statSync, writeFileSync } from 'node:fs'
import {
  type AuditStatus,
  auditStatus,
  exportAuditCheckpoints,
  exportAuditTrail,
} from '@portcullis/features/contract.ts'
import type { Command, OptionValues } from 'commander'
import { refuseExisting, type Terminal } from './client.ts'
import { argumentsOf, recover, runEntry } from './run-entry.ts'
import { plain } from './table.ts'

const collect = (value: string, before: string[]): string[] => [...before, value]

/** Commands for the audit trail. A running server exports it; verification needs no server. */
export const registerAuditCommands = (program: Command, { client, show }: Terminal): void => {
  const audit = program.command('audit').description('the audit trail of a running server')

  audit
    .command('status')
    .description('shows up to which record checkpoints cover the trail')
    .action(async () => {
      const status = await client().get<AuditStatus>(auditStatus.path)
      const { lastCheckpoint: last, secondSink } = status
      show(status, () =>
        [
          `${status.newestAuditTrailID} records; ${status.uncovered} are not covered by a checkpoint yet`,
          last === null
            ? 'there are no checkpoints yet'
            : `checkpoint ${last.number} of ${plain(last.time)} by key ${plain(last.keyId)} covers records up to ${last.auditTrailID}`,
          secondSink.isCurrent
            ? 'the second sink is current'
            : `the second sink is behind: it has checkpoints up to ${secondSink.upTo}`,
          ...(status.problem === '' ? [] : [plain(status.problem)]),
        ].join('\n'),
      )
    })

  audit
    .command('key')
    .description('prints the public key of the checkpoints')
    .option('--out <path>', 'file to write; never overwritten')
    .action(async ({ out }: OptionValues) => {
      const { keyId, publicKey } = await client().get<AuditStatus>(auditStatus.path)
      if (typeof out === 'string') {
        refuseExisting(out)
        writeFileSync(out, publicKey, { flag: 'wx' })
      }
      show({ keyId, publicKey }, () => (typeof out === 'string' ? `key ${plain(keyId)}: ${out}` : publicKey.trimEnd()))
    })

  audit
    .command('anchor')
    .description(
      'accepts the restored database as the valid trail, after a restore; runs on the server and is recorded in the trail',
    )
    .action(() => recover('anchor-audit'))

  function download(name: string, what: string, path: string): void {
    audit
      .command(name)
      .description(what)
      .requiredOption('--out <path>', 'file to write; never overwritten')
      .action(async ({ out }: OptionValues) => {
        refuseExisting(out)
        await client().download(path, undefined, out)
        const { size } = statSync(out)
        show({ file: out, bytes: size }, () => `${out}: ${size.toLocaleString('en')} bytes`)
      })
  }
  download('export', 'writes the whole trail to a file for verify-audit', exportAuditTrail.path)
  download('checkpoints', 'writes the checkpoints of the database to a file', exportAuditCheckpoints.path)

  program
    .command('verify-audit')
    .description('finds the first changed record; exit codes: 0 unchanged, 1 changed, 2 could not be verified')
    .option('--file <path>', 'trail from "audit export"; needs no server and no database')
    .option('--database', 'verify the database of this machine (stop its server first), or of DATABASE_URL')
    .option('--checkpoints <path>', 'folder or file of checkpoints; repeat to compare several', collect, [])
    .option('--key <path>', 'public key of the checkpoints (PEM); repeat after a key change', collect, [])
    .action((options: OptionValues) =>
      runEntry(
        'verify-audit',
        argumentsOf({
          file: options.file,
          database: options.database,
          checkpoints: options.checkpoints,
          key: options.key,
          json: program.opts().json,
        }),
        { whenKilled: 2, usesData: options.database === true },
      ),
    )
    // Exit code 1 means a changed trail, so an invalid command line exits with 2.
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
}
