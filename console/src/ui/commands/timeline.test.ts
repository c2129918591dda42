import type { Command } from '@portcullis/contract'
import { describe, expect, it } from 'vitest'
import { timelineOf } from './timeline.ts'

const at = (seconds: number) => new Date(Date.UTC(2031, 4, 4) + seconds * 1000).toISOString()
const command = (change: Partial<Command>): Command => ({
  id: 'c',
  uuid: 'a',
  hostIdentifier: 'KIOSK-0413',
  kind: 'configure',
  title: 'Arm',
  state: 'queued',
  createdAt: at(0),
  createdBy: 'mia',
  expiresAt: at(7 * 86_400),
  deliveredAt: null,
  endedAt: null,
  message: '',
  jobId: null,
  ...change,
})

describe('the story of a command', () => {
  it.each<[Partial<Command>, string]>([
    [{}, 'Waits for the host to check in; expires in 7 d from its start.'],
    [{ state: 'delivered', deliveredAt: at(1) }, 'Reached the host at once, not confirmed yet.'],
    [
      { state: 'confirmed', deliveredAt: at(3600 * 3), endedAt: at(3600 * 3 + 20) },
      'Reached the host after 3 h, confirmed after 20 s.',
    ],
    [
      { state: 'failed', deliveredAt: at(0), endedAt: at(10), message: 'sysfs is read-only.' },
      'Failed after 10 s: sysfs is read-only.',
    ],
    [{ state: 'expired', endedAt: at(7 * 86_400) }, 'The host did not check in for 7 d.'],
    [{ state: 'expired', deliveredAt: at(9), endedAt: at(7 * 86_400) }, 'The host had it and did not confirm in time.'],
    [{ state: 'cancelled', endedAt: at(30), message: 'Cancelled by mia.' }, 'Cancelled after 30 s: Cancelled by mia.'],
  ])('%#', (change, story) => {
    expect(timelineOf(command(change))).toBe(story)
  })
})
