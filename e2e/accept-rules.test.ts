import { execFile } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { storageStick } from '@portcullis/domain/testing'
import type { PolicyChange } from '@portcullis/features/contract.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { dump, writeArchive } from '../platform/server/backup/index.ts'
import { createDb } from '../platform/server/db/db.ts'
import { migrate } from '../platform/server/db/migrate.ts'
import { createLog } from '../platform/server/log.ts'
import { runningEmbedded, startEmbeddedPostgres } from '../platform/server/postgres/index.ts'
import { createClient } from '../proof/kit/client.ts'
import {
  adminPassword,
  createTree,
  type RunningServer,
  remove,
  type Started,
  startAgent,
  startServer,
  temporaryDir,
  until,
} from '../proof/kit/harness.ts'
import { codeCache } from '../server/test/code-cache.ts'
import { serverDir } from './prepared.ts'

const cli = fileURLToPath(new URL('../cli/src/main.ts', import.meta.url))
const migrations = fileURLToPath(new URL('../server/migrations', import.meta.url))
const [dir, agentDir, restoredDir, earlierDir] = [serverDir(), temporaryDir(), temporaryDir(), temporaryDir()]
const [backupFile, passphraseFile] = [join(dir, 'before.backup'), join(agentDir, 'passphrase')]
let server: RunningServer
let agent: Started
/** The rule that denies the stick. */
let ruleId: string
let tree: ReturnType<typeof createTree>

beforeAll(async () => {
  server = await startServer(dir)
  tree = createTree([storageStick({ portPath: '1-2' })])
  agent = startAgent(server, await server.enrolmentToken(), tree, agentDir)
  const { value: uuid } = await until('the host', async () => (await server.agents())[0]?.uuid)
  await server.post('policy/rules', { effect: 'deny', vid: '1B4F', reason: 'test' })
  const deny = { effect: 'deny', kinds: ['Mass Storage'], reason: 'test' }
  ruleId = (await server.post<PolicyChange>('policy/rules', deny)).rule?.id ?? ''
  await server.post('agents/configuration', [
    { uuid, hostIdentifier: null, ipAddress: null, agentConfigViewResource: { isSystemArmed: 'ARM' } },
  ])
  await until('a denied stick', () => authorized() === '0')
}, 120_000)
afterAll(async () => {
  agent?.child.kill('SIGTERM')
  await agent?.ended
  await server?.stop()
  for (const one of [dir, agentDir, restoredDir, earlierDir, tree.dir]) remove(one)
})

const authorized = () => readFileSync(join(tree.dir, 'bus/usb/devices/1-2/authorized'), 'utf8').trim()
const inDatabase = async (statement: string): Promise<void> => {
  const client = createClient(runningEmbedded(dir)?.connection ?? {})
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
const withPassphrase = ['--passphrase-file', passphraseFile]
/** Runs a command of the server and returns its output, even if it reports a finding. */
const portcullis = async (dataDir: string, port: string, ...args: string[]): Promise<string> => {
  const env = { ...codeCache, PATH: process.env.PATH ?? '', HOME: dataDir, PORTCULLIS_DATA_DIR: dataDir }
  const { stdout } = await promisify(execFile)(process.execPath, [cli, ...args], {
    env: { ...env, PORTCULLIS_PORT: port },
  }).catch((fault: { stdout: string; stderr: string }) => ({ stdout: `${fault.stdout}${fault.stderr}` }))
  return stdout
}
const healthOf = async (at: RunningServer) => {
  const items = await at.get<{ name: string; status: string }[]>('admin/SubsystemHealth')
  return items.find(({ name }) => name === 'policy rules')?.status
}
const vidsOf = async (at: RunningServer) =>
  (await at.get<{ data: { vid: string | null }[] }>('policy/rules')).data.map(({ vid }) => vid).sort()

it('the server signs no policy after a rule was deleted in the database', async () => {
  const { port } = new URL(server.url)
  writeFileSync(passphraseFile, 'correct horse battery')
  const made = await portcullis(
    dir,
    port,
    ...['backup', 'make', '--with-keys'],
    ...['--out', backupFile],
    ...withPassphrase,
  )
  expect(made).toContain('with the key file')

  await inDatabase("delete from policy_rules where vid = '1B4F'")
  await until('health reports it', async () => (await healthOf(server)) === 'Error', 30_000)
  await server.put(`policy/rules/${ruleId}`, { effect: 'deny', kinds: ['Printer'], reason: 'the stick may work' })
  await until('the host gets no policy', () => /policy_fetch_retry.*rules_not_authentic/.test(agent.output()), 30_000)
  expect(authorized()).toBe('0')
}, 120_000)

it('a person on the server accepts the rules, and hosts get their policy again', async () => {
  const { port } = new URL(server.url)
  expect(await portcullis(dir, port, 'admin', 'accept-rules', '--yes')).toContain('Stop it')
  await server.stop()
  const listed = await portcullis(dir, port, 'admin', 'accept-rules')
  expect(listed).toMatch(/^missing: .*1B4F.*\nNothing has changed/)
  expect(await portcullis(dir, port, 'admin', 'accept-rules', '--yes')).toMatch(
    /^missing: .*1B4F.*\nThe rules are accepted/,
  )

  server = await startServer(dir, { PORTCULLIS_PORT: port, PORTCULLIS_ADMIN_PASSWORD: adminPassword })
  expect(await healthOf(server)).toBe('OK')
  await until('the host gets the changed policy', () => authorized() === '1', 30_000)
}, 120_000)

it('a restart does not make the server seal the rules again after every trace of the seal was removed', async () => {
  const { port } = new URL(server.url)
  await inDatabase(`
    delete from policy_rules;
    alter table audit_records disable trigger user;
    update audit_records set action = 'policy.changed' where action = 'policy.rulesSealed';
    alter table audit_records enable trigger user;
    update policy_head set set_version = null, set_sum = null, set_seal = null;
    update schema_migrations set applied_at = now() - interval '2 hours' where version = 198`)
  await server.stop()
  server = await startServer(dir, { PORTCULLIS_PORT: port, PORTCULLIS_ADMIN_PASSWORD: adminPassword })
  expect(await healthOf(server)).toBe('Error')
  expect(await portcullis(dir, port, 'doctor')).toMatch(
    /error +policy rules +changed in the database.*the seal of the set of rules is missing; .*missing: .*Printer/,
  )
}, 120_000)

it('a restored backup of an earlier state needs no acceptance', async () => {
  const { port } = new URL(server.url)
  const restored = await portcullis(restoredDir, port, 'restore', backupFile, ...withPassphrase)
  expect(restored).toContain('Restored')
  expect(await portcullis(restoredDir, port, 'doctor')).toMatch(/ok +policy rules +2 rules, as the server sealed them/)
  const other = await startServer(restoredDir)
  try {
    expect(await healthOf(other)).toBe('OK')
    expect(await vidsOf(other)).toEqual(['1B4F', null])
    await other.post('policy/rules', { effect: 'deny', vid: '0997', reason: 'test' })
    expect(await healthOf(other)).toBe('OK')
  } finally {
    await other.stop()
  }
}, 120_000)

it('a restored backup of release 0.2 is sealed again, although the key file records a seal', async () => {
  const { port } = new URL(server.url)
  // The user of the embedded database needs access to the folder.
  chmodSync(earlierDir, 0o711)
  const [source, target] = [join(earlierDir, 'source'), join(earlierDir, 'target')]
  const file = join(earlierDir, 'earlier.backup')
  const [log, schema] = [createLog('silent'), 197]
  const postgres = await startEmbeddedPostgres({ dataDir: source, log })
  const db = createDb({ connection: postgres.connection, max: 1, name: 'earlier', log, statementTimeoutMs: 0 })
  try {
    await migrate(db, migrations, schema)
    await db.withClient(async (client) => {
      await client.query('update policy_head set version = 1')
      const head = { createdAt: new Date().toISOString(), product: '0.2.0', schema, hasKeys: false }
      const chunks = []
      for await (const chunk of writeArchive(dump(client, null), { head, passphrase: null })) chunks.push(chunk)
      writeFileSync(file, Buffer.concat(chunks))
    })
  } finally {
    await db.close()
    await postgres.stop()
  }
  mkdirSync(target, { mode: 0o711 })
  cpSync(join(dir, 'portcullis.key'), join(target, 'portcullis.key'))
  expect(readFileSync(join(target, 'portcullis.key'), 'utf8')).toContain('"ruleSeal":"done"')
  expect(await portcullis(target, port, 'restore', file)).toContain('Restored')
  expect(await portcullis(target, port, 'doctor')).toMatch(/ok +policy rules +not sealed yet/)
  const other = await startServer(target)
  try {
    expect(await healthOf(other)).toBe('OK')
  } finally {
    await other.stop()
  }
}, 120_000)
