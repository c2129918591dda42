import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { Refusal, ROOT } from '../bootstrap/say.mjs'
import { changesOf, releaseNotes } from './notes.ts'

const changelog = `# Changelog

## Unreleased

- Later.

## 1.10.0

## [1.1.0] - 2031-02-03

### Added

- A thing.

## 1.0.0

- The first.
`

it('takes the section of exactly the version', () => {
  expect(changesOf(changelog, '1.1.0')).toBe('### Added\n\n- A thing.')
  expect(changesOf(changelog, '1.0.0')).toBe('- The first.')
})

it.each(['1.0', '1.1', '2.0.0', '1.10.0'])('refuses version %s, which has no section or an empty one', (version) => {
  expect(() => changesOf(changelog, version)).toThrow(Refusal)
  expect(() => changesOf(changelog, version)).toThrow(`no section "## ${version}" with changes`)
})

it('lists the files with their sizes', () => {
  const dir = mkdtempSync(join(tmpdir(), 'portcullis-notes-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  writeFileSync(join(dir, 'a.tar.xz'), Buffer.alloc(1_250_000))
  const notes = releaseNotes(changelog, '1.0.0', [join(dir, 'a.tar.xz')], true)
  expect(notes).toMatch(/^# Portcullis 1\.0\.0\n\n- The first\.\n/)
  expect(notes).toContain('| `a.tar.xz` | 1.3 MB |')
})

it('says in one line that the figures were not measured', () => {
  const [proven, notProven] = [true, false].map((is) => releaseNotes(changelog, '1.0.0', [], is).split('\n'))
  expect(notProven?.filter((line) => !proven?.includes(line))).toEqual([expect.stringMatching(/^\*\*Not proven:\*\* /)])
})

it('finds the section of this version', () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
  expect(changesOf(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'), version)).toContain('### ')
})
