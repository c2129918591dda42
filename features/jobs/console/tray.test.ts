import { describe, expect, it } from 'vitest'
import type { Job } from '#features/contract.ts'
import { isOver, jobShare, jobText, keptMs, nextTray, type TrayJob } from './tray.ts'

const job = (change: Partial<Job> = {}): Job => ({
  id: 'one',
  kind: 'commands',
  title: 'Arm 4 hosts',
  state: 'running',
  total: 4,
  done: 0,
  failed: 0,
  message: '',
  createdBy: 'mia',
  createdAt: '2031-05-04T10:11:12.345Z',
  endedAt: null,
  canCancel: true,
  ...change,
})
const nobody = { followed: [], closed: new Set<string>() }
const ended = job({ state: 'completed', done: 4, endedAt: '2031-05-04T10:12:12.345Z' })

describe('job tray', () => {
  it('shows running jobs, and keeps jobs that ended while shown', () => {
    const running = nextTray([], [job()], nobody, 100)
    expect(running).toEqual([{ job: job(), endedAt: null }])
    const seen = nextTray(running, [ended], nobody, 200)
    expect(seen).toEqual([{ job: ended, endedAt: 200 }])
    expect(nextTray(seen, [ended], nobody, 300)).toEqual(seen)
  })

  it('leaves out jobs that ended earlier, unless this tab started them', () => {
    expect(nextTray([], [ended], nobody, 100)).toEqual([])
    expect(nextTray([], [ended], { ...nobody, followed: ['one'] }, 100)).toEqual([{ job: ended, endedAt: 100 }])
  })

  it('does not show closed jobs again', () => {
    const shown: TrayJob[] = [{ job: ended, endedAt: 100 }]
    expect(nextTray(shown, [ended], { followed: ['one'], closed: new Set(['one']) }, 200)).toEqual([])
  })

  it('removes ended jobs after a minute, except failed ones', () => {
    expect(isOver({ endedAt: 0, failed: false }, keptMs - 1)).toBe(false)
    expect(isOver({ endedAt: 0, failed: false }, keptMs)).toBe(true)
    expect(isOver({ endedAt: 0, failed: true }, keptMs * 9)).toBe(false)
    expect(isOver({ endedAt: null, failed: false }, keptMs * 9)).toBe(false)
  })
})

describe('jobText', () => {
  it.each([
    [job({ total: 0 }), 'Starting', null],
    [job({ done: 1, failed: 1 }), '1 of 4, 1 failed', 0.5],
    [ended, 'Done, 4 of 4', 1],
    [job({ state: 'completed', done: 3, failed: 1 }), 'Finished, 3 done, 1 failed', 1],
    [job({ state: 'cancelled', done: 1 }), 'Cancelled, 1 of 4 done', 0.25],
    [job({ state: 'failed', message: 'no signing key' }), 'Failed: no signing key', 0],
  ])('%#', (one, text, share) => {
    expect(jobText(one)).toBe(text)
    expect(jobShare(one)).toBe(share)
  })
})
