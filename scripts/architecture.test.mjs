import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ROOT } from './bootstrap/say.mjs'

const GOOD = `# Architecture
\`features/tags/\` owns tags.

## Four paths, file by file

### One
1. \`server/src/a.ts\` (\`createA\`): x.
### Two
### Three
### Four
(\`server/src/a.ts\`, \`readA\`)

## 5. A request
`

let tree

beforeEach(() => {
  tree = mkdtempSync(join(tmpdir(), 'portcullis-architecture-'))
  mkdirSync(join(tree, 'features/tags/server'), { recursive: true })
  mkdirSync(join(tree, 'server/src'), { recursive: true })
  writeFileSync(join(tree, 'server/src/a.ts'), 'export const createA = () => ({ readA: 1 })')
})
afterEach(() => rmSync(tree, { recursive: true, force: true }))

it('accepts a correct document', () => {
  expect(check(GOOD)).toEqual({ status: 0, said: '' })
})

it.each([
  ['no document', undefined, 'ARCHITECTURE.md is missing'],
  ['more than 1,800 words', GOOD + 'word '.repeat(1800), '1800 is the limit'],
  ['a folder it does not name', GOOD.replace('features/tags', 'features_tags'), 'does not name `features/tags/`'],
  ['a folder that is gone', `${GOOD}\`features/mail/\``, '`features/mail/`, which is gone'],
  [
    'a capability in another place than its tier',
    `\`features/events/\`\n${GOOD}`.replace('tags/', 'audit/'),
    'in another place',
  ],
  ['no paths', GOOD.replace('## Four paths', '## Paths'), 'no section "Four paths"'],
  ['three paths', GOOD.replace('### Two', ''), 'describes 3'],
  [
    'a file of a path that is gone',
    GOOD.replace('`server/src/a.ts` (', '`server/src/b.ts` ('),
    'server/src/b.ts, which is gone',
  ],
  ['a function of a path that is gone', GOOD.replace('readA', 'readB'), 'readB, which server/src/a.ts does not have'],
])('refuses %s', (_name, doc, reason) => {
  const { status, said } = check(doc)
  expect([status, said]).toEqual([1, expect.stringContaining(reason)])
})

function check(doc) {
  if (doc !== undefined) writeFileSync(join(tree, 'ARCHITECTURE.md'), doc)
  const done = spawnSync(process.execPath, [join(ROOT, 'scripts/check-architecture.mjs'), tree], { encoding: 'utf8' })
  return { status: done.status, said: done.stderr }
}
