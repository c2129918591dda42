import { hash } from 'node:crypto'
import type { DeviceReport, HostFacts } from '@portcullis/contract'
import { cleanText } from './text.ts'

const digest = (text: string): string => hash('sha256', text, 'hex').slice(0, 32)

const text = (value: string | undefined): string | null => {
  if (value === undefined) return null
  const clean = cleanText(value)
  return clean === '' ? null : clean
}

/** Compares by UTF-16 units: the same on every host, whatever its locale. */
const byUnits = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/**
 * 32 hex digits over what a host has attached: port paths, raw descriptors, strings and authorisation, in any order.
 * Strings count as `cleanText` leaves them, so that a server that stores cleaned text computes the same; an absent
 * string equals an empty one, and `authorized` absent equals true.
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

/** 32 hex digits over the facts of a host, whatever the order of keys, network interfaces and addresses. */
export const factsHash = (facts: HostFacts): string => {
  const nics = facts.nics
    .map((nic) => JSON.stringify(canonical({ ...nic, addresses: [...nic.addresses].sort(byUnits) })))
    .sort(byUnits)
  return digest(JSON.stringify(canonical({ ...facts, nics })))
}
