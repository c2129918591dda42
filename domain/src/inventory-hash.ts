import { hash } from 'node:crypto'
import type { DeviceReport, HostFacts } from '@portcullis/contract/agent-reports.ts'
import { cleanText } from './text.ts'

const digest = (text: string): string => hash('sha256', text, 'hex').slice(0, 32)

const text = (value: string | undefined): string | null => {
  if (value === undefined) return null
  const clean = cleanText(value)
  return clean === '' ? null : clean
}

/** Compares by UTF-16 units, which does not depend on the locale of a host. */
const byUnits = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/**
 * Returns a hash of the attached devices in 32 hex digits: port paths, raw descriptors, strings and authorisation, in any
 * order. It uses strings after `cleanText`, because the server stores cleaned text. An absent string equals an empty one,
 * and an absent `authorized` equals true.
 */
export const inventoryHash = (reports: readonly DeviceReport[]): string => {
  const rows = [...reports].sort((a, b) => byUnits(a.portPath, b.portPath))
  return digest(
    JSON.stringify(
      rows.map((r) => [
        r.portPath,
        r.descriptors,
        text(r.manufacturer),
        text(r.product),
        text(r.serial),
        text(r.configuration),
        r.authorized ?? true,
      ]),
    ),
  )
}

const canonical = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(canonical)
  if (value === null || typeof value !== 'object') return value
  return Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => byUnits(a, b))
    .map(([key, member]) => [key, canonical(member)])
}

/** Returns a hash of the facts of a host in 32 hex digits. The order of keys, network interfaces and addresses does not matter. */
export const factsHash = (facts: HostFacts): string => {
  const nics = facts.nics
    .map((nic) => JSON.stringify(canonical({ ...nic, addresses: [...nic.addresses].sort(byUnits) })))
    .sort(byUnits)
  return digest(JSON.stringify(canonical({ ...facts, nics })))
}
