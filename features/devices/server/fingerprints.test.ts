import { plainKeyboard } from '@portcullis/domain/testing'
import type { Db } from '@portcullis/platform/server/db/db.ts'
import { contextOf } from '@portcullis/server/test/capability-app.ts'
import { describe, expect, it } from 'vitest'
import { loadKnowledge } from '#features/knowledge/server/index.ts'
import { fakeStore } from './fingerprints.test-store.ts'
import { createFingerprints } from './fingerprints.ts'

const devices = (from: number, n: number) =>
  Array.from({ length: n }, (_, i) => plainKeyboard({ portPath: '1-1', product: `made up ${from + i}` }))
const now = new Date(0)
const accepted = { all: async () => new Map() }

describe('fingerprints in memory', () => {
  it('are evicted above a limit, and every report still gets its own', async () => {
    const { store } = fakeStore()
    const knowledge = await loadKnowledge(new URL('../../../knowledge', import.meta.url).pathname)
    const fingerprints = createFingerprints(
      contextOf({
        db: {} as Db,
        store,
        knowledge: { current: () => knowledge },
        accepted,
        limit: 20_000,
      }),
    )
    const known = devices(0, 5)
    await fingerprints.evaluateAll(known, now)
    for (let round = 1; round < 10; round++) {
      const evaluated = await fingerprints.evaluateAll([...known, ...devices(round * 100, 7)], now)
      expect(evaluated.map((j) => j.fingerprint?.product)).toEqual([
        ...known.map((d) => d.product),
        ...devices(round * 100, 7).map((d) => d.product),
      ])
      const ids = evaluated.map((j) => j.fingerprint.id)
      expect([...(await fingerprints.byIds(ids)).keys()].sort()).toEqual([...ids].sort())
    }
  })

  it('are read from the database once while memory lasts', async () => {
    const { store, asked } = fakeStore()
    const knowledge = await loadKnowledge(new URL('../../../knowledge', import.meta.url).pathname)
    const fingerprints = createFingerprints(
      contextOf({
        db: {} as Db,
        store,
        knowledge: { current: () => knowledge },
        accepted,
      }),
    )
    for (let i = 0; i < 3; i++) await fingerprints.evaluateAll(devices(0, 50), now)
    expect(asked()).toBe(50)
  })
})
