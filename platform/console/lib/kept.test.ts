import { expect, it } from 'vitest'
import { createKept, forgetKept } from './kept.ts'

const day = 86_400_000
const storageOf = (entries: Map<string, string>): Storage =>
  ({
    getItem: (key: string) => entries.get(key) ?? null,
    setItem: (key: string, value: string) => void entries.set(key, value),
    removeItem: (key: string) => void entries.delete(key),
  }) as unknown as Storage

it('returns what the same account typed into the same form, for seven days', () => {
  const entries = new Map<string, string>()
  const storage = storageOf(entries)
  const kept = createKept(storage, 'ada', 'rule.1', { reason: '' })
  kept.keep({ reason: 'typed' }, 0)
  expect(kept.read(7 * day)).toEqual({ at: '1970-01-01T00:00:00.000Z', value: { reason: 'typed' } })
  expect(kept.read(7 * day + 1)).toBeNull()
  expect(createKept(storage, 'ben', 'rule.1', { reason: '' }).read(0)).toBeNull()
  expect(createKept(storage, 'ada', 'rule.2', { reason: '' }).read(0)).toBeNull()
  kept.keep(null, 0)
  expect(entries.size).toBe(0)
})

it('deletes what is older, of every account that used the browser', () => {
  const old = JSON.stringify({ at: '1970-01-01T00:00:00.000Z', value: 'typed' })
  const entries: Record<string, string> = { 'portcullis.draft.ada.x': old, 'portcullis.draft.ben.y': old, other: old }
  const methods = {
    getItem: (key: string) => entries[key] ?? null,
    removeItem: (key: string) => void delete entries[key],
  }
  const storage = new Proxy(entries, {
    get: (_, name) => Reflect.get(methods, name),
  }) as unknown as Storage
  expect(createKept(storage, 'ada', 'x', '').read(7 * day)).not.toBeNull()
  expect(createKept(storage, 'ada', 'z', '').read(7 * day + 1)).toBeNull()
  expect(Object.keys(entries)).toEqual(['other'])
})

it('ignores what has another shape', () => {
  const sample = { draft: { name: '', tags: [''], end: null as string | null }, base: null }
  const read = (value: unknown) => {
    const storage = storageOf(new Map([['portcullis.draft.ada.x', JSON.stringify({ at: new Date(0), value })]]))
    return createKept(storage, 'ada', 'x', sample).read(0)?.value ?? null
  }
  const good = { draft: { name: 'n', tags: [], end: '2031' }, base: { id: 1 } }
  expect(read(good)).toEqual(good)
  for (const bad of [undefined, 7, [], {}, { draft: {} }, { draft: { name: 7, tags: [], end: null } }])
    expect(read(bad)).toBeNull()
  expect(read({ draft: { name: '', tags: {}, end: null }, base: null })).toBeNull()
})

it('forgets what an account typed when it signs out', () => {
  const entries: Record<string, string> = {}
  const methods = {
    setItem: (key: string, value: string) => void Reflect.set(entries, key, value),
    removeItem: (key: string) => void delete entries[key],
  }
  const storage = new Proxy(entries, {
    get: (_, name) => Reflect.get(methods, name),
  }) as unknown as Storage
  for (const account of ['ada', 'ada.b', 'ben']) createKept(storage, account, 'x', '').keep('typed', 0)
  forgetKept(storage, 'ada')
  expect(Object.keys(entries)).toEqual(['portcullis.draft.ada%2Eb.x', 'portcullis.draft.ben.x'])
})

it('ignores broken entries and a browser that refuses storage', () => {
  const kept = createKept(storageOf(new Map([['portcullis.draft.ada.x', '{']])), 'ada', 'x', {})
  expect(kept.read(0)).toBeNull()
  const refusing = createKept({} as Storage, 'ada', 'x', {})
  refusing.keep({}, 0)
  expect(refusing.read(0)).toBeNull()
})
