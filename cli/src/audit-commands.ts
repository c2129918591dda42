import { existsSync, statSync, writeFileSync } from 'node:fs'
import { type AuditStatus, auditStatus, exportAuditCheckpoints, exportAuditTrail } from '@portcullis/contract'
import type { Command, OptionValues } from 'commander'
import { CliError, type createClient } from './client.ts'
import { runEntry } from './run-entry.ts'
import { plain } from './table.ts'

interface Terminal {
  client(): ReturnType<typeof createClient>
  show(answer: unknown, text: () => string): void
}

const gather = (value: string, before: string[]): string[] => [...before, value]

/** The audit trail: handed out by a running server, verified without one. */
export const registerAuditCommands = (program: Command, { client, show }: Terminal): void => {
  const audit = program.command('audit').description('the audit trail of a running server')

  audit
    .command('status')
    .description('up to where the trail is signed')
    .action(async () => {
      const status = await client().get<AuditStatus>(auditStatus.path)
      const { lastCheckpoint: last, secondSink } = status
      show(status, () =>
        [
          `${status.newestAuditTrailID} records, ${status.uncovered} of them not covered by a checkpoint yet`,
          last === null
            ? 'no checkpoint yet'
            : `checkpoint ${last.number} of ${plain(last.time)} by key ${plain(last.keyId)} covers records up to ${last.auditTrailID}`,
          secondSink.isCurrent
            ? 'the second sink is current'
            : `the second sink has checkpoints up to ${secondSink.upTo}`,
          ...(status.problem === '' ? [] : [plain(status.problem)]),
        ].join('\n'),
      )
    })

  audit
    .command('key')
    .description('the public key of its checkpoints')
    .option('--out <path>', 'file to write; never overwritten')
    .action(async ({ out }: OptionValues) => {
      const { keyId, publicKey } = await client().get<AuditStatus>(auditStatus.path)
      if (typeof out === 'string') {
        if (existsSync(out)) throw new CliError(`${out} is there already.`)
        writeFileSync(out, publicKey, { flag: 'wx' })
      }
      show({ keyId, publicKey }, () => (typeof out === 'string' ? `key ${plain(keyId)}: ${out}` : publicKey.trimEnd()))
    })

  audit
    .command('anchor')
    .description(
      'says that the database is as it ought to be, after a restore; on the machine of the server, on record',
    )
    .action(() => runEntry('anchor-audit', []))

  function download(name: string, what: string, path: string): void {
    audit
      .command(name)
      .description(what)
      .requiredOption('--out <path>', 'file to write; never overwritten')
      .action(async ({ out }: OptionValues) => {
        if (existsSync(out)) throw new CliError(`${out} is there already.`)
        await client().download(path, undefined, out)
        const { size } = statSync(out)
        show({ file: out, bytes: size }, () => `${out}: ${size.toLocaleString('en')} bytes`)
      })
  }
  download('export', 'writes the whole trail into a file, as verify-audit reads it', exportAuditTrail.path)
  download('checkpoints', 'writes the checkpoints of the database into a file', exportAuditCheckpoints.path)

  program
    .command('verify-audit')
    .description('names the first record that is not as it was written; 0: none, 1: broken, 2: could not be verified')
    .option('--file <path>', 'trail from "audit export"; no server and no database are needed')
    .option('--database', 'the database of this machine (with its server stopped), or of DATABASE_URL')
    .option('--checkpoints <path>', 'folder or file of checkpoints; more than one are compared', gather, [])
    .option('--key <path>', 'public key of the checkpoints, PEM; more than one after a change of key', gather, [])
    .action((options: OptionValues) =>
      runEntry(
        'verify-audit',
        [
          ...(typeof options.file === 'string' ? ['--file', options.file] : []),
          ...(options.database === true ? ['--database'] : []),
          ...(options.checkpoints as string[]).flatMap((path) => ['--checkpoints', path]),
          ...(options.key as string[]).flatMap((path) => ['--key', path]),
          ...(program.opts().json === true ? ['--json'] : []),
        ],
        2,
      ),
    )
    // 1 says that the trail is broken; what could not be read of the command line says nothing of it.
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
}
