import { execFile } from 'node:child_process'
import { createPublicKey } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { AuditStatus } from '@portcullis/contract'
import type { verifyTrail } from '@portcullis/domain'
import { tryMutations } from '../../server/test/audit-mutations.ts'
import { temporaryFolder } from '../kit/database.ts'
import { api, type Environment, withEnvironment } from '../kit/environment.ts'
import { amount, type Check, type Outcome } from '../kit/verdict.ts'

/** Number of records between two checkpoints. */
const everyRecords = 1_000

const statusOf = async ({ call, admin }: Environment): Promise<AuditStatus> =>
  (await call('GET', `${api}/admin/audit`, undefined, admin.token)) as AuditStatus

/** Makes changes until the trail has the wanted number of records. */
const changeUntil = async (environment: Environment, wanted: number): Promise<void> => {
  const { call, admin } = environment
  for (;;) {
    const { newestAuditTrailID: newest } = await statusOf(environment)
    if (newest >= wanted) return
    const names = Array.from({ length: Math.min(64, wanted - newest) }, (_, i) => `audit gate ${newest + i} \u202e"\\`)
    await Promise.all(names.map((name) => call('POST', `${api}/agents/enrollmenttokens`, { name }, admin.token)))
  }
}

/** Waits until the status meets a condition. The server updates it every two seconds. */
const untilStatus = async (environment: Environment, is: (status: AuditStatus) => boolean): Promise<AuditStatus> => {
  const end = performance.now() + 20_000
  for (;;) {
    const status = await statusOf(environment)
    if (is(status) || performance.now() > end) return status
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

const fileOf = async ({ server, admin }: Environment, path: string): Promise<Buffer> => {
  const answer = await fetch(`${server.url}${api}/admin/audit/${path}`, {
    headers: { authorization: `Bearer ${admin.token}` },
  })
  return Buffer.from(await answer.arrayBuffer())
}

const codeOf = (root: string, args: readonly string[]): Promise<number> =>
  new Promise((resolve) => {
    execFile(process.execPath, [join(root, 'server/src/entry/verify-audit.ts'), ...args], (error) =>
      resolve(error === null ? 0 : Number(error.code)),
    )
  })

/** Checks that every change to an audit trail is found and named, and that the server stops signing a changed trail. */
export const audit: Check = {
  name: 'audit',
  what: "A server's trail of about 2,100 records with its checkpoints is changed in 1,000 ways, or 250 in the short form. Bytes, texts, hashes, columns and the order are changed; records are deleted, inserted or cut off; checkpoints are forged or removed; all are rebuilt with another key. Each change is found, and its first record is named. The server does not sign a record that was changed in its table.",
  run: async ({ isQuick, root, seed }): Promise<Outcome> => {
    const folder = temporaryFolder('audit')
    const at = (name: string): string => join(folder, name)
    try {
      // The configured directory must exist.
      mkdirSync(at('sink'))
      return await withEnvironment({ root, env: { PORTCULLIS_AUDIT_DIR: at('sink') } }, async (environment) => {
        const first = await untilStatus(environment, ({ lastCheckpoint }) => lastCheckpoint !== null)
        await changeUntil(environment, (first.lastCheckpoint?.auditTrailID ?? 0) + 2 * everyRecords + 100)
        const status = await untilStatus(environment, ({ lastCheckpoint }) => (lastCheckpoint?.number ?? 0) >= 3)
        // The second sink is written up to two seconds later.
        await untilStatus(environment, ({ secondSink }) => secondSink.isCurrent)
        const sink = existsSync(at('sink')) ? readdirSync(at('sink')).filter((name) => name.endsWith('.jsonl')) : []
        const checkpoints = Buffer.concat(sink.sort().map((name) => readFileSync(join(at('sink'), name))))
        const trail = await fileOf(environment, 'trail')
        writeFileSync(at('trail'), trail)
        writeFileSync(at('checkpoints'), checkpoints)
        writeFileSync(at('key'), status.publicKey)
        const given = ['--file', at('trail'), '--checkpoints', at('checkpoints'), '--key', at('key')]
        const whole = await codeOf(root, given)

        const verifier = (await import(pathToFileURL(join(root, 'domain/src/audit-verify.ts')).href)) as {
          verifyTrail: typeof verifyTrail
        }
        const count = isQuick ? 250 : 1_000
        const report = await tryMutations(
          { trail, checkpoints, keys: [createPublicKey(status.publicKey)] },
          { count, seed: seed % 1_000_000, verify: verifier.verifyTrail },
        )
        writeFileSync(at('trail'), trail.toString().replace('enrolment_token.created', 'enrolment_token.deleted'))
        const edited = await codeOf(root, given)

        // The server writes a checkpoint every minute. The changed record must be newer than the last one.
        await changeUntil(environment, (await statusOf(environment)).newestAuditTrailID + 1)
        const { newestAuditTrailID: newest } = await statusOf(environment)
        await environment.rows('alter table audit_records disable trigger user')
        await environment.rows(
          `update audit_records set record = replace(record, 'gate', 'door') where audit_id = $1`,
          [newest],
        )
        const before = (await statusOf(environment)).lastCheckpoint?.auditTrailID ?? 0
        await changeUntil(environment, before + everyRecords)
        const after = await untilStatus(environment, ({ problem }) => problem !== '')
        const signed = (after.lastCheckpoint?.auditTrailID ?? 0) >= newest
        return {
          findings: [
            { what: 'records', value: trail.toString('latin1').split('\n').length - 1, atLeast: 2 * everyRecords },
            {
              what: 'checkpoints outside of the database',
              value: checkpoints.toString().split('\n').length - 1,
              atLeast: 3,
            },
            { what: 'exit code of verify-audit for the whole trail', value: whole, atMost: 0 },
            { what: 'exit code of verify-audit for an edited trail', value: edited, atLeast: 1, atMost: 1 },
            { what: amount(isQuick, 'changes tried'), value: report.tried, atLeast: count },
            { what: 'changes not found', value: report.tried - report.detected, atMost: 0 },
            { what: 'changes found and named wrongly', value: report.detected - report.named, atMost: 0 },
            { what: 'changed records that the server signed', value: signed ? 1 : 0, atMost: 0 },
            {
              what: 'changed records that the server named',
              value: after.problem.includes(`Record ${newest} `) ? 1 : 0,
              atLeast: 1,
            },
          ],
          notes: report.failures.slice(0, 10),
        }
      })
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
}
