import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, inject, it } from 'vitest'
import { createDb } from './db/db.ts'
import { sql } from './db/sql.ts'
import { createLog } from './log.ts'
import { createLogFile, logFileOf } from './log-file.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'portcullis-log-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

it('keeps the newest lines and one older file, readable by its owner only', () => {
  const path = logFileOf(dir)
  const { write } = createLogFile(path, 30)
  for (let i = 0; i < 10; i++) write(`line ${i} of ten\n`)
  expect(readFileSync(`${path}.1`, 'utf8')).toBe('line 6 of ten\nline 7 of ten\nline 8 of ten\n')
  expect(readFileSync(path, 'utf8')).toBe('line 9 of ten\n')
  expect([statSync(path).mode & 0o777, statSync(join(dir, 'logs')).mode & 0o777]).toEqual([0o600, 0o700])
  // A restarted server appends.
  createLogFile(path, 30).write('after\n')
  expect(readFileSync(path, 'utf8')).toBe('line 9 of ten\nafter\n')
})

it('loses lines instead of stopping the server if it cannot write', () => {
  const missing = join(dir, 'missing')
  createLogFile(logFileOf(missing)).write('lost\n')
  expect(existsSync(missing)).toBe(false)
  // Writes again as soon as that works.
  const late = createLogFile(logFileOf(missing))
  late.write('lost\n')
  mkdirSync(missing)
  late.write('kept\n')
  expect(readFileSync(logFileOf(missing), 'utf8')).toBe('kept\n')
  writeFileSync(join(dir, 'logs'), '')
  createLogFile(logFileOf(dir)).write('lost\n')
})

it('gets information even if the terminal shows only warnings, and slow statements without their values', async () => {
  const lines: string[] = []
  const log = createLog('fatal', { write: (line) => lines.push(line) })
  const db = createDb({
    connection: inject('postgres'),
    max: 1,
    name: 'slow',
    log,
    statementTimeoutMs: 5_000,
    slowMs: 0,
  })
  try {
    await db.query(sql`select   ${'a secret value'}::text as x`)
  } finally {
    await db.close()
  }
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: 30, pool: 'slow', statement: 'select $1::text as x', msg: 'slow statement' },
  ])
  expect(lines.join('')).not.toContain('secret value')
})
