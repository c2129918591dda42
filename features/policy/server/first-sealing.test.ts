import { cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemActor } from '@portcullis/platform/server/http/actor.ts'
import type { KeyFile } from '@portcullis/platform/server/key-file.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { agentPost, enrolAgent } from '@portcullis/server/test/builders.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const hourMs = 3_600_000
let t: TestApp
let closing: (() => unknown)[]

const keyFile = (dir: string) => join(dir, 'key')
const recordedIn = (dir: string) => (JSON.parse(readFileSync(keyFile(dir), 'utf8')) as KeyFile).ruleSeal
const inDatabase = (statements: string) => t.db.withClient((client) => client.query(statements))
const upgradedAt = (ago: string) =>
  inDatabase(`update schema_migrations set applied_at = now() - interval '${ago}' where version = 198`)
/** Everything in the database that shows that the set was sealed. */
const removeTraces = `
  alter table audit_records disable trigger user;
  update audit_records set action = 'policy.changed' where action = 'policy.rulesSealed';
  alter table audit_records enable trigger user;
  update policy_head set set_version = null, set_sum = null, set_seal = null`

/** Starts a server on the same database, as after a restart or on another machine. */
const startOn = async (keyDir: string): Promise<TestApp> => {
  const app = await startTestApp({ database: t.database, clock: t.clock, keyDir, listen: true })
  closing.push(app.close)
  return app
}
/** Copies the key file to another machine, as it is or as an earlier release wrote it. */
const copiedKey = (asWrittenBy: 'this release' | 'an earlier release'): string => {
  const dir = mkdtempSync(join(tmpdir(), 'portcullis-first-sealing-'))
  closing.push(() => rmSync(dir, { recursive: true }))
  cpSync(keyFile(t.keyDir), keyFile(dir))
  if (asWrittenBy === 'an earlier release') {
    const { ruleSeal: _, ...rest } = JSON.parse(readFileSync(keyFile(dir), 'utf8')) as KeyFile
    writeFileSync(keyFile(dir), JSON.stringify(rest))
  }
  return dir
}
const addDeny = async (): Promise<void> => {
  const rule = { effect: 'deny', vid: '1B4F', reason: 'test' }
  expect((await (await t.admin()).post('/prime/webui/policy/rules', rule)).statusCode).toBe(200)
}
const policyOf = async (app: TestApp) => {
  const { state } = await enrolAgent(app)
  const { status, text } = await agentPost(app, '/agent/v1/policy', { nonce: 'n'.repeat(24) }, state.session)
  return status === 200 ? 'signed' : JSON.parse(text).code
}

beforeEach(async () => {
  closing = []
  t = await startTestApp({ listen: true })
})
afterEach(async () => {
  for (const close of closing.reverse()) await close()
  await t.close()
})

describe('a database writer who removes every trace of the seal and waits for a restart', () => {
  beforeEach(async () => {
    expect(await t.server.policy.integrity.maintain()).toBe('whole')
    await addDeny()
    expect(recordedIn(t.keyDir)).toBe('done')
    await inDatabase(removeTraces)
  })

  it.each([
    ['', 'select'],
    ['as if the upgrade was just now', 'update schema_migrations set applied_at = now() where version = 198'],
    ['as if the upgrade was long ago', "update schema_migrations set applied_at = now() - interval '2 hours'"],
    [
      'as if the policy was new',
      'delete from policy_changes; delete from policy_versions; update policy_head set version = 0',
    ],
    ['with the head itself', 'delete from policy_head'],
  ])('does not make the server seal the rules that are left %s', async (_, statement) => {
    await inDatabase(`delete from policy_rules; ${statement}`)
    for (const keyDir of [t.keyDir, copiedKey('this release')]) {
      const again = await startOn(keyDir)
      expect(await again.server.policy.integrity.maintain()).toBe('broken')
      expect(await policyOf(again)).toBe('rules_not_authentic')
      expect(await again.server.policy.integrity.health()).toEqual({
        status: 'Error',
        description: expect.stringMatching(/No policies are signed\. the seal of the set of rules is missing/),
      })
      again.clock.advance(2 * hourMs)
      expect(await again.server.policy.integrity.maintain()).toBe('broken')
    }
    const again = await startOn(t.keyDir)
    const [first] = await again.server.policy.integrity.accept(systemActor('command line'))
    expect(first).toBe('the seal of the set of rules is missing')
    expect(await policyOf(again)).toBe('signed')
  })

  it('does not get a server with a key file of an earlier release to seal them long after the upgrade', async () => {
    await upgradedAt('61 minutes')
    expect(await (await startOn(copiedKey('an earlier release'))).server.policy.integrity.maintain()).toBe('broken')
  })
})

describe('an upgrade', () => {
  beforeEach(addDeny)

  it('seals the rules after an hour, even if the server was stopped meanwhile', async () => {
    expect(await t.server.policy.integrity.maintain()).toBe('unsealed')
    expect(recordedIn(t.keyDir)).toBe('due')
    expect(await policyOf(t)).toBe('signed')
    await upgradedAt('3 hours')
    expect(await (await startOn(t.keyDir)).server.policy.integrity.maintain()).toBe('whole')
    expect(recordedIn(t.keyDir)).toBe('done')
  })

  it('seals them after an hour of the server, although the database says that it has just begun', async () => {
    expect(await t.server.policy.integrity.maintain()).toBe('unsealed')
    t.clock.advance(hourMs)
    expect(await t.server.policy.integrity.maintain()).toBe('whole')
  })

  it('signs no policy while the key file cannot be read, and goes on once it can', async () => {
    expect(await t.server.policy.integrity.maintain()).toBe('unsealed')
    renameSync(keyFile(t.keyDir), `${keyFile(t.keyDir)}.away`)
    t.clock.advance(60_000)
    expect(await t.server.policy.integrity.maintain()).toBe('broken')
    renameSync(`${keyFile(t.keyDir)}.away`, keyFile(t.keyDir))
    t.clock.advance(60_000)
    expect(await policyOf(t)).toBe('signed')
    expect(recordedIn(t.keyDir)).toBe('due')
  })

  it('seals them once, even if a writer removes the traces at the same moment', async () => {
    const other = await startOn(t.keyDir)
    for (const { server } of [t, other]) expect(await server.policy.integrity.maintain()).toBe('unsealed')
    await inDatabase(`
      create function hide() returns trigger language plpgsql as $$ begin
        new.set_version = null; new.set_sum = null; new.set_seal = null; return new; end $$;
      create trigger hide before insert or update on policy_head for each row execute function hide();
      create function rename() returns trigger language plpgsql as $$ begin
        if new.action = 'policy.rulesSealed' then new.action = 'policy.changed'; end if; return new; end $$;
      create trigger rename before insert on audit_records for each row execute function rename()`)
    t.clock.advance(hourMs)
    for (const { server } of [t, other]) expect(await server.policy.integrity.maintain()).toBe('broken')
    expect(recordedIn(t.keyDir)).toBe('done')
  })

  it('is recorded in the key file of each server', async () => {
    const other = await startOn(copiedKey('an earlier release'))
    for (const { server } of [t, other]) expect(await server.policy.integrity.maintain()).toBe('unsealed')
    await upgradedAt('61 minutes')
    t.clock.advance(60_000)
    expect(await t.server.policy.integrity.maintain()).toBe('whole')
    other.clock.advance(60_000)
    expect(await other.server.policy.integrity.maintain()).toBe('whole')
    expect(recordedIn(other.keyDir)).toBe('done')
  })
})

it('a server whose key file cannot be written signs policies, and records the seal once it can', async () => {
  const obstacle = `${keyFile(t.keyDir)}.new`
  mkdirSync(obstacle)
  expect(await t.server.policy.integrity.maintain()).toBe('whole')
  expect(await policyOf(t)).toBe('signed')
  expect(recordedIn(t.keyDir)).toBeUndefined()
  rmSync(obstacle, { recursive: true })
  t.clock.advance(60_000)
  expect(await t.server.policy.integrity.maintain()).toBe('whole')
  expect(recordedIn(t.keyDir)).toBe('done')
})
