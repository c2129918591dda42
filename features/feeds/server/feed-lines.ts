import { hash } from 'node:crypto'
import type { FeedLine } from '@portcullis/domain'
import type { SeenHost } from './feeds.store.ts'

/** A line with the time of its event. A time in the future counts as the time of receipt. */
export type TimedLine = FeedLine & { digest: Buffer; when: Date }

/** Returns the lines without duplicates, in their order. */
export const distinctLines = (lines: readonly FeedLine[], now: number): TimedLine[] => {
  const found = new Map<string, TimedLine>()
  for (const line of lines) {
    const digest = hash('sha256', line.key, 'buffer').subarray(0, 16)
    const key = digest.toString('hex')
    if (!found.has(key)) found.set(key, { ...line, digest, when: new Date(Math.max(0, Math.min(line.at ?? now, now))) })
  }
  return [...found.values()]
}

/** Returns the lines whose digest is not among the given ones. */
export const unseen = (lines: readonly TimedLine[], seen: ReadonlySet<string>): TimedLine[] =>
  lines.filter(({ digest }) => !seen.has(digest.toString('hex')))

/** Returns the hosts of lines, each with its first and last event. */
export const hostsOf = (lines: readonly TimedLine[]): SeenHost[] => {
  const hosts = new Map<string, SeenHost>()
  for (const { host, when } of lines) {
    const known = hosts.get(host)
    if (known === undefined) hosts.set(host, { host, first: when, last: when, events: 1 })
    else {
      known.events++
      if (when < known.first) known.first = when
      if (when > known.last) known.last = when
    }
  }
  return [...hosts.values()]
}

/** Returns the newest line of each device. */
export const newestOfDevices = (lines: readonly TimedLine[]): TimedLine[] => {
  const devices = new Map<string, TimedLine>()
  for (const line of lines) {
    const key = `${line.host}\n${line.instance.toUpperCase()}`
    const other = devices.get(key)
    if (other === undefined || line.when >= other.when) devices.set(key, line)
  }
  return [...devices.values()]
}
