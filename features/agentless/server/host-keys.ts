import { createHash } from 'node:crypto'
import { nameKey } from './connection.rules.ts'

/** Fingerprints in a list, by the normalized name of the computer. */
export type ListedKeys = ReadonlyMap<string, ReadonlySet<string>>

const fingerprint = /^SHA256:[A-Za-z0-9+/]{43}$/
const keyTypes = /^(ssh-|ecdsa-|sk-)/

const fingerprintOf = (base64: string): string | null => {
  if (!/^[A-Za-z0-9+/]{40,}={0,2}$/.test(base64)) return null
  return `SHA256:${createHash('sha256').update(Buffer.from(base64, 'base64')).digest('base64').replace('=', '')}`
}

/** `[host]:2222` and `host` are the same computer here, because a connection has one port. */
const namesOf = (text: string): string[] => text.split(',').map((name) => name.replace(/^\[(.+)\]:\d+$/, '$1'))

/** Parses one line; null if it is invalid. */
const readLine = (line: string): { names: string[]; key: string } | null => {
  const words = line.trim().split(/\s+/)
  const [first = '', second = '', third = ''] = words
  // `name SHA256:…`
  if (fingerprint.test(second) && words.length === 2) return { names: namesOf(first), key: second }
  // `256 SHA256:… name (ED25519)`, as ssh-keygen -l prints it
  if (/^\d+$/.test(first) && fingerprint.test(second) && third !== '') return { names: namesOf(third), key: second }
  // `name ssh-ed25519 AAAA…`, as in known_hosts; hashed names cannot be read
  const key = keyTypes.test(second) ? fingerprintOf(third) : null
  return key === null || first.startsWith('|') || first.startsWith('@') ? null : { names: namesOf(first), key }
}

/** Reads a list of host keys. `unreadable` contains the numbers of invalid lines. */
export const readHostKeys = (text: string): { keys: ListedKeys; unreadable: number[] } => {
  const keys = new Map<string, Set<string>>()
  const unreadable: number[] = []
  for (const [i, line] of text.split('\n').entries()) {
    if (line.trim() === '' || line.trim().startsWith('#')) continue
    const entry = readLine(line)
    if (entry === null) unreadable.push(i + 1)
    for (const name of entry?.names ?? []) {
      const known = keys.get(nameKey(name)) ?? new Set<string>()
      known.add((entry as { key: string }).key)
      keys.set(nameKey(name), known)
    }
  }
  return { keys, unreadable }
}
