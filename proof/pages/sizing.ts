/** Builds the sizing table from the last figures of benchmarks and drills. Missing figures read "not measured". */
import { fleetSizes } from './parts.ts'
import type { Proof } from './results.ts'

const checkInSeconds = 60
const gigabyte = 1024 ** 3

/** Returns the last figure of a check; undefined if it was not measured. */
const measured = ({ runs }: Proof, part: string, check: string, what: string, size?: number): number | undefined => {
  const results = runs[part]?.results ?? []
  const value = results
    .find(({ name, agents }) => name === check && agents === size)
    ?.findings.find((one) => one.what === what)?.value
  return Number.isFinite(value) ? value : undefined
}

const formatted = (value: number | undefined, unit: string, digits: number): string =>
  value === undefined ? 'not measured' : `${value.toLocaleString('en', { maximumFractionDigits: digits })} ${unit}`

const times = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? undefined : a * b

/** One row for each fleet size. */
export const sizingTable = (proof: Proof): string => {
  const socket = (what: string): number | undefined =>
    measured(proof, 'drill/connections', 'D10', `${what}: memory of each`)
  const [clear, tls] = [socket('wake sockets'), socket('wake sockets over TLS')]
  const rows = fleetSizes.map((size) => {
    const of = (check: string, what: string): number | undefined => measured(proof, 'bench/check-in', check, what, size)
    const perSecond = size / checkInSeconds
    const rate = of('check-in', 'TLS, 1 % changed: per core-second, server and database')
    const share = of('check-in', 'TLS, 1 % changed: share of the server process in the CPU time')
    const cores = rate === undefined || rate === 0 ? undefined : perSecond / rate
    const log = of('check-in', 'log of the database for a million check-ins, 1 % of every other one changed')
    return [
      size.toLocaleString('en'),
      formatted(of('load', 'devices'), '', 0).trim(),
      Math.round(perSecond).toLocaleString('en'),
      formatted(times(cores, times(share, 0.01)), 'cores', 2),
      formatted(times(cores, share === undefined ? undefined : 1 - share / 100), 'cores', 2),
      formatted(times(clear, (size * 1024) / gigabyte), 'GB', 2),
      formatted(times(tls, (size * 1024) / gigabyte), 'GB', 2),
      formatted(of('load', 'disk, without events'), 'MB', 0),
      formatted(times(log, (perSecond * 3600) / 1_000_000), 'MB', 0),
    ]
  })
  return [
    '| hosts | devices | check-ins per second at 60 s | processor: server | processor: database | memory for wake sockets, HTTP | memory for wake sockets, HTTPS | disk for the fleet | database log per hour |',
    '|---|---|---|---|---|---|---|---|---|',
    ...rows.map((row) => `| ${row.join(' | ')} |`),
  ].join('\n')
}
