import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ROOT } from './bootstrap/say.mjs'

const GLOSSARY = `# Glossary

| term | meaning | avoid | name |
|---|---|---|---|
| notified | gets a message | "is told", "are told" | \`x\` |

| use | avoid |
|---|---|
| cannot | "can not" |
`

let tree

beforeEach(() => {
  tree = mkdtempSync(join(tmpdir(), 'portcullis-language-'))
  spawnSync('git', ['init', '-q', tree])
  write('docs/glossary.md', GLOSSARY)
  write('docs/guide/alerts.md', 'An operator is notified.\n')
})
afterEach(() => rmSync(tree, { recursive: true, force: true }))

it('accepts text that uses the terms', () => {
  expect(check()).toEqual([])
})

it.each([
  ['a guide', 'docs/guide/alerts.md', 'An operator is told.\n', 'is told'],
  ['a string', 'console/src/a.tsx', "export const a = 'It can not start'\n", 'can not'],
  ['a comment over two lines', 'server/src/a.ts', '/**\n * Whoever can\n * not sign in.\n */\n', 'can not'],
  ['capitals', 'agent/src/a.ts', '// Is told by mail.\n', 'is told'],
])('refuses an avoided phrase in %s', (_where, file, text, phrase) => {
  write(file, text)
  expect(check()).toEqual([`${file}: ${phrase}: docs/glossary.md says what to write instead`])
})

it('reads whole words only', () => {
  write('docs/guide/alerts.md', 'This told-you-so is toldish. You can nothing.\n')
  expect(check()).toEqual([])
})

it('allows the count of old phrases to fall but never to rise', () => {
  write('docs/guide/old.md', 'It can not. They are told.\n')
  write('scripts/language-debts.json', '{ "docs/guide/old.md": 2 }')
  expect(check()).toEqual([])
  write('docs/guide/old.md', 'It cannot. They are told.\n')
  expect(check()).toEqual(['docs/guide/old.md: better than scripts/language-debts.json says; run with --write'])
  expect(check('--write')).toEqual([])
  expect(JSON.parse(readFileSync(join(tree, 'scripts/language-debts.json'), 'utf8'))).toEqual({
    'docs/guide/old.md': 1,
  })
  write('docs/guide/old.md', 'It can not. They are told.\n')
  expect(check('--write')).toHaveLength(1)
})

function write(file, text) {
  mkdirSync(dirname(join(tree, file)), { recursive: true })
  writeFileSync(join(tree, file), text)
  spawnSync('git', ['add', '-A'], { cwd: tree })
}

function check(...args) {
  const script = join(ROOT, 'scripts/check-language.mjs')
  const done = spawnSync(process.execPath, [script, tree, ...args], { encoding: 'utf8' })
  const lines = done.stderr.split('\n').filter((line) => line !== '')
  expect(done.status).toBe(lines.length > 0 ? 1 : 0)
  return lines
}
