import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createHostTime } from '../src/host-time.ts'
import { temporaryDir } from './temporary-dir.ts'

const minute = 60_000

/** Creates the time of a host in a boot, with a host clock that is at 0. */
const create = (stateDir: string, id: string, elapsed: () => number, reports: string[] = []) =>
  createHostTime({
    stateDir,
    boot: { id, elapsed },
    clock: { now: () => 0, monotonic: () => 7 },
    reports: { add: (code, message) => void reports.push(`${code}: ${message}`) },
  })
const stored = (stateDir: string) => JSON.parse(readFileSync(join(stateDir, 'time.json'), 'utf8'))

describe('a stamp', () => {
  it('says when it was in its boot', () => {
    let elapsed = 500
    const time = create(temporaryDir(), 'one', () => elapsed)
    expect([time.monotonic(), time.elapsed()]).toEqual([7, 500])
    const stamp = time.stampOf(1_000)
    expect([stamp, time.stampOf(1_000, 100)]).toEqual([
      { at: 1_000, boot: 'one', elapsed: 500 },
      { at: 1_000, boot: 'one', elapsed: 100 },
    ])
    elapsed = 800
    expect(time.after(stamp)).toBe(1_300)
    // Of another boot, and of an earlier container in the same boot: the whole uptime has passed since.
    expect(time.after({ ...stamp, boot: 'other' })).toBe(1_800)
    expect(time.after({ ...stamp, elapsed: 801 })).toBe(1_800)
    expect(time.after({ ...stamp, elapsed: 800 })).toBe(1_000)
  })

  it('of an unknown boot counts no time', () => {
    const time = create(temporaryDir(), '', () => 800)
    expect(time.after({ at: 1_000, boot: 'one', elapsed: 500 })).toBe(1_000)
    expect(time.stampOf(1).boot).not.toBe('')
    expect(time.after(time.stampOf(1_000, 300))).toBe(1_500)
  })
})

describe('the stored time', () => {
  it('is that of the server, even if it is earlier', () => {
    const stateDir = temporaryDir()
    const time = create(stateDir, 'one', () => 500)
    expect(time.now()).toBe(0)
    time.confirm(9_000, 400)
    expect([stored(stateDir), time.now()]).toEqual([{ at: 9_000, boot: 'one', elapsed: 400 }, 9_100])
    time.confirm(5_000, 500)
    expect(time.now()).toBe(5_000)
  })

  it('is raised in memory by an earlier signature, and never lowered', () => {
    const stateDir = temporaryDir()
    let elapsed = 500
    const time = create(stateDir, 'one', () => elapsed)
    time.atLeast(3_000)
    expect(time.now()).toBe(3_000)
    elapsed = 600
    time.atLeast(3_050)
    expect(time.now()).toBe(3_100)
    time.atLeast(3_101)
    expect(time.now()).toBe(3_101)
    expect(() => stored(stateDir)).toThrow('ENOENT')
  })

  it('is kept every minute', () => {
    const stateDir = temporaryDir()
    let elapsed = 500
    const time = create(stateDir, 'one', () => elapsed)
    time.keep()
    expect(() => stored(stateDir)).toThrow('ENOENT')
    time.confirm(9_000, 500)
    elapsed += minute - 1
    time.keep()
    expect(stored(stateDir).at).toBe(9_000)
    elapsed += 1
    time.keep()
    expect(stored(stateDir)).toEqual({ at: 9_000 + minute, boot: 'one', elapsed: 500 + minute })
  })

  it('resumes unchanged after a restart of the agent, and a minute later after a restart of the host', () => {
    const stateDir = temporaryDir()
    create(stateDir, 'one', () => 500).confirm(9_000, 500)
    expect(create(stateDir, 'one', () => 700).now()).toBe(9_200)
    expect(stored(stateDir).at).toBe(9_000)
    expect(create(stateDir, 'two', () => 100).now()).toBe(9_100 + minute)
    expect(stored(stateDir)).toEqual({ at: 9_100 + minute, boot: 'two', elapsed: 100 })
    expect(create(stateDir, '', () => 100).now()).toBe(9_100 + minute)
  })

  it.each([
    '',
    'null',
    '1',
    '{}',
    '{"at":1e999,"boot":"one","elapsed":1}',
    '{"at":1,"boot":1,"elapsed":1}',
    '{"at":1,"boot":"one"}',
  ])('does not count if it is %j', (text) => {
    const stateDir = temporaryDir()
    writeFileSync(join(stateDir, 'time.json'), text)
    expect(create(stateDir, 'one', () => 500).now()).toBe(0)
  })

  it('that cannot be written is reported once until it can', () => {
    const dir = temporaryDir()
    const reports: string[] = []
    const time = create(join(dir, 'state'), 'one', () => 500, reports)
    time.confirm(1, 500)
    time.confirm(2, 500)
    expect(reports).toHaveLength(1)
    mkdirSync(join(dir, 'state'))
    time.confirm(3, 500)
    rmSync(join(dir, 'state'), { recursive: true })
    time.confirm(4, 500)
    expect(reports).toHaveLength(2)
    expect(reports[0]).toMatch(/^time_not_stored: .*ENOENT/)
  })
})
