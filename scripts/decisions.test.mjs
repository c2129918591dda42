import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ROOT } from './bootstrap/say.mjs'

let tree

beforeEach(() => {
  tree = mkdtempSync(join(tmpdir(), 'portcullis-decisions-'))
  mkdirSync(join(tree, 'docs/adr'), { recursive: true })
  write('0001-first.md', '# 1. First\n\nStatus: accepted.\n\nBecause.\n')
  expect(run('--write')).toEqual([])
})
afterEach(() => rmSync(tree, { recursive: true, force: true }))

it('accepts and lists unchanged decisions', () => {
  expect(run()).toEqual([])
  expect(readFileSync(join(tree, 'docs/adr/README.md'), 'utf8')).toContain('| [1](0001-first.md) | First | accepted |')
})

it('accepts a new title, and a status that names its successor', () => {
  write(
    '0001-first.md',
    '# 1. The first\n\nStatus: accepted. Superseded in part by [ADR 2](0002-second.md).\n\nBecause.\n',
  )
  expect(run()).toContain('docs/adr/0001-first.md: its status names 0002-second.md, which does not exist')
  write('0002-second.md', '# 2. Second\n\nStatus: accepted.\n\nBetter.\n')
  expect(run()).toEqual([
    'docs/adr/README.md is not the index of these ADRs; run `node scripts/check-decisions.mjs --write`',
  ])
  expect(run('--write')).toEqual([])
  expect(run()).toEqual([])
})

it.each([
  ['# 1. First\n\nBecause.\n', 'the third line is "Status: accepted."'],
  ['# First\n\nStatus: accepted.\n\nBecause.\n', 'the first line is "# 1. <title>"'],
])('refuses %j', (text, message) => {
  write('0001-first.md', text)
  expect(run().join('\n')).toContain(message)
})

it('rejects a removed decision', () => {
  write('0002-second.md', '# 2. Second\n\nStatus: accepted.\n\nBetter.\n')
  expect(run('--write')).toEqual([])
  rmSync(join(tree, 'docs/adr/0001-first.md'))
  expect(run()).toEqual(['docs/adr/ADR 1 was removed; supersede it instead'])
})

function write(name, text) {
  writeFileSync(join(tree, 'docs/adr', name), text)
}

function run(...args) {
  const script = join(ROOT, 'scripts/check-decisions.mjs')
  const done = spawnSync(process.execPath, [script, tree, ...args], { encoding: 'utf8' })
  const lines = done.stderr.split('\n').filter((line) => line !== '')
  expect(done.status).toBe(lines.length > 0 ? 1 : 0)
  return lines
}
