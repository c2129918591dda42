import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AuditStatus } from '@portcullis/features/contract.ts'
import { startTestApp, type TestApp } from './app.ts'

export const minute = 60_000

/** Returns the directory of the second sink. */
export const sinkDir = (app: TestApp): string => join(app.keyDir, 'audit-checkpoints')

export const sinkFiles = (dir: string): string[] =>
  readdirSync(dir)
    .filter((name) => name.endsWith('.jsonl'))
    .sort()

export const sinkText = (dir: string): string =>
  sinkFiles(dir)
    .map((name) => readFileSync(join(dir, name), 'utf8'))
    .join('')

/** Makes a change that adds one record. */
export const change = async (app: TestApp, name: string): Promise<void> => {
  const { statusCode, body } = await (await app.admin()).post('/prime/webui/agents/enrollmenttokens', { name })
  if (statusCode !== 200) throw new Error(body)
}

/** Advances the clock and runs the checkpoint timer once. */
export const turn = async (app: TestApp, ms: number): Promise<void> => {
  app.clock.advance(ms)
  await app.server.checkpoints.run()
}

export const auditStatusOf = async (app: TestApp): Promise<AuditStatus> =>
  (await (await app.admin()).get('/prime/webui/admin/audit')).json()

/** Returns the actions of the newest records. */
export const actionsOf = async (app: TestApp): Promise<string[]> =>
  (await (await app.admin()).get('/prime/webui/events/GetAuditsIntegration?PageSize=50'))
    .json()
    .data.map(({ action }: { action: string }) => action)

/** Changes the trail like an attacker with the database role. */
export const tamper = (app: TestApp, statement: string): Promise<unknown> =>
  app.db.withClient(async (client) => {
    for (const how of ['disable', 'enable'])
      await client.query(
        `${how === 'enable' ? `${statement};` : ''} alter table audit_records ${how} trigger user; alter table audit_checkpoints ${how} trigger user`,
      )
  })

/** Runs a function with its own server. */
export const withApp = async (work: (app: TestApp) => Promise<void>): Promise<void> => {
  const app = await startTestApp()
  try {
    await work(app)
  } finally {
    await app.close()
  }
}
