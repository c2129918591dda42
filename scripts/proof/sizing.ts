/** Builds the sizing table from the figures of benchmarks and drills. Missing figures read "not measured". */
import type { Finding } from '../../rig/verdict.ts'
import { type Proof, shownRun } from './store.ts'

const checkInSeconds = 60
const megabyte = 1024 * 1024

/** Returns a figure of a full run; undefined if the part did not run or produced no number. */
const measured = (proof: Proof, part: string, result: string, what: string): number | undefined => {
  const known = proof.parts.find((one) => one.part === part && one.form === 'full')
  if (known === undefined) return undefined
  const finding: Finding | undefined = shownRun(known)
    .results.find(({ name }) => name === result)
    ?.findings.find((one) => one.what === what)
  return typeof finding?.value === 'number' && Number.isFinite(finding.value) ? finding.value : undefined
}

const missing = 'not measured'

const formatted = (value: number | undefined, unit: string, digits: number): string =>
  value === undefined ? missing : `${value.toLocaleString('en', { maximumFractionDigits: digits })} ${unit}`

const times = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? undefined : a * b

/** One row for each fleet size. */
export const sizingRows = (proof: Proof, sizes: readonly number[]): string => {
  const socket = (what: string): number | undefined => measured(proof, 'drill/D10', 'D10', `${what}: memory of each`)
  const [clear, tls] = [socket('wake sockets'), socket('wake sockets over TLS')]
  const rows = sizes.map((size) => {
    const part = `bench/${size}`
    const of = (what: string): number | undefined => measured(proof, part, 'check-in', what)
    const perSecond = size / checkInSeconds
    const rate = of('TLS, 1 % changed: per core-second, server and database')
    const share = of('TLS, 1 % changed: share of the server process in the CPU time')
    const cores = rate === undefined || rate === 0 ? undefined : perSecond / rate
    const log = of('log of the database for a million check-ins, 1 % of every other one changed')
    const devices = measured(proof, part, 'load', 'devices')
    const gigabytes = (kilobytes: number | undefined): string =>
      formatted(times(kilobytes, (size * 1024) / (megabyte * 1024)), 'GB', 2)
    return [
      size.toLocaleString('en'),
      devices === undefined ? missing : devices.toLocaleString('en'),
      Math.round(perSecond).toLocaleString('en'),
      formatted(times(cores, share === undefined ? undefined : share / 100), 'cores', 2),
      formatted(times(cores, share === undefined ? undefined : 1 - share / 100), 'cores', 2),
      gigabytes(clear),
      gigabytes(tls),
      formatted(measured(proof, part, 'load', 'disk, without events'), 'MB', 0),
      formatted(times(log, (perSecond * 3600) / 1_000_000), 'MB', 0),
    ]
  })
  return [
    '| hosts | devices | check-ins per second at 60 s | processor: server | processor: database | memory for wake sockets, HTTP | memory for wake sockets, HTTPS | disk for the fleet | database log per hour |',
    '|---|---|---|---|---|---|---|---|---|',
    ...rows.map((row) => `| ${row.join(' | ')} |`),
  ].join('\n')
}
