import { describe, expect, it } from 'vitest'
import type { Command } from '#features/contract.ts'
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

describe('timelineOf', () => {
  it.each<[Partial<Command>, string]>([
    [{}, 'Waiting for the host to check in. Expires 7 d after it was sent.'],
    [{ state: 'delivered', deliveredAt: at(1) }, 'Reached the host at once. Not confirmed yet.'],
    [
      { state: 'confirmed', deliveredAt: at(3600 * 3), endedAt: at(3600 * 3 + 20) },
      'Reached the host after 3 h. Confirmed after 20 s.',
    ],
    [
      { state: 'failed', deliveredAt: at(0), endedAt: at(10), message: 'sysfs is read-only.' },
      'Failed after 10 s. sysfs is read-only.',
    ],
    [{ state: 'expired', endedAt: at(7 * 86_400) }, 'The host did not check in for 7 d.'],
    [
      { state: 'expired', deliveredAt: at(9), endedAt: at(7 * 86_400) },
      'The host received the command but did not confirm it in time.',
    ],
    [{ state: 'cancelled', endedAt: at(30), message: 'Cancelled by mia.' }, 'Cancelled after 30 s. Cancelled by mia.'],
  ])('%#', (change, text) => {
    expect(timelineOf(command(change))).toBe(text)
  })
})
