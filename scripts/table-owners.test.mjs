import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ROOT } from './bootstrap/say.mjs'

let tree

const write = (path, text) => {
  mkdirSync(dirname(join(tree, path)), { recursive: true })
  writeFileSync(join(tree, path), text)
}
const check = () => {
  const { status, stderr } = spawnSync(process.execPath, [join(ROOT, 'scripts/table-owners.mjs'), tree], {
    encoding: 'utf8',
  })
  return { status, said: stderr }
}

beforeEach(() => {
  tree = mkdtempSync(join(tmpdir(), 'portcullis-owners-'))
  write('server/migrations/0001.sql', 'CREATE TABLE hosts (id int);\nCREATE TABLE tags (id int);')
  write(
    'features/agents/server/agents.store.ts',
    'sql`insert into hosts (id) values (1)`; sql`update hosts h set id = 2`',
  )
  write('features/tags/server/tags.store.ts', 'sql`delete from tags t`; sql`select 1 from hosts for update`')
})
afterEach(() => rmSync(tree, { recursive: true, force: true }))

it('accepts tables with one writer and any readers', () => {
  write('features/tags/server/tags.test.ts', 'sql`update hosts set id = 3`')
  expect(check()).toEqual({ status: 0, said: '' })
})

it.each([
  ['update hosts set id = 3'],
  ['UPDATE ONLY hosts AS h SET id = 3'],
  ['with x as (select 1) insert into hosts select 1'],
  ['delete from hosts h where true'],
  ['merge into hosts h using x on true when matched then delete'],
  ['truncate hosts cascade'],
  ['copy hosts (id) from stdin'],
])('names a second writer that runs: %s', (statement) => {
  write('features/policy/server/second.store.ts', `sql\`${statement}\``)
  const { status, said } = check()
  expect(status).toBe(1)
  expect(said).toContain('table hosts has 2 writers: features/agents (features/agents/server/agents.store.ts)')
  expect(said).toContain('features/policy (features/policy/server/second.store.ts)')
})

it('reports a capability that declares a sealed column of another one', () => {
  write('features/deliveries/server/mail/index.ts', "const c = { table: 'hosts', key: 't.id', column: 'box' }")
  expect(check().said).toContain('features/deliveries')
})

it('rejects a statement with a variable table name outside the platform', () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the source under test
  const hidden = 'sql`update ${raw(table)} set id = 3`'
  write('platform/server/tool.ts', hidden)
  expect(check().status).toBe(0)
  write('features/ingest/server/hidden.store.ts', hidden)
  expect(check().said).toContain('features/ingest/server/hidden.store.ts: a statement hides which table it changes')
})
