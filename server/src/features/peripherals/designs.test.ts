import type { PolicyDevice } from '@portcullis/domain'
import { plainKeyboard } from '@portcullis/domain/testing'
import { describe, expect, it } from 'vitest'
import { loadKnowledge } from '#features/knowledge/index.ts'
import type { Db } from '#platform/db/db.ts'
import type { NewDesign, StoredDesign } from './design.ts'
import { createDesigns } from './designs.ts'
import type { PeripheralsStore } from './peripherals.store.ts'

const nobody: PolicyDevice = {
  vid: '0000',
  pid: '0000',
  serial: '',
  kinds: ['Unknown'],
  mayType: false,
  isHub: false,
  fingerprint: '',
  fingerprintWithoutRevision: '',
  attackTool: null,
}

/** A store that gives each new design an id and counts what it is asked for. */
const fakeStore = () => {
  const all = new Map<string, StoredDesign>()
  let asked = 0
  const ensureDesigns = async (_db: unknown, designs: readonly NewDesign[]) => {
    asked += designs.length
    return designs.map((design) => {
      const known = all.get(design.fingerprint) ?? {
        ...design,
        id: all.size + 1,
        modelId: 1,
        shapeId: 1,
        device: { ...nobody },
      }
      all.set(design.fingerprint, known)
      return known
    })
  }
  const designsById = async (ids: readonly number[]) => [...all.values()].filter((d) => ids.includes(d.id))
  return { store: { ensureDesigns, designsById } as unknown as PeripheralsStore, asked: () => asked }
}

const devices = (from: number, n: number) =>
  Array.from({ length: n }, (_, i) => plainKeyboard({ portPath: '1-1', product: `made up ${from + i}` }))
const now = new Date(0)

describe('designs in memory', () => {
  it('are let go when there are too many, and every report has its own all the same', async () => {
    const { store } = fakeStore()
    const knowledge = await loadKnowledge(new URL('../../../../knowledge', import.meta.url).pathname)
    const designs = createDesigns({ db: {} as Db, store, knowledge: () => knowledge, limit: 20_000 })
    const known = devices(0, 5)
    await designs.judgeAll(known, now)
    for (let round = 1; round < 10; round++) {
      const judged = await designs.judgeAll([...known, ...devices(round * 100, 7)], now)
      expect(judged.map((j) => j.design?.product)).toEqual([
        ...known.map((d) => d.product),
        ...devices(round * 100, 7).map((d) => d.product),
      ])
      const ids = judged.map((j) => j.design.id)
      expect([...(await designs.byIds(ids)).keys()].sort()).toEqual([...ids].sort())
    }
  })

  it('are asked for once while there is room', async () => {
    const { store, asked } = fakeStore()
    const knowledge = await loadKnowledge(new URL('../../../../knowledge', import.meta.url).pathname)
    const designs = createDesigns({ db: {} as Db, store, knowledge: () => knowledge })
    for (let i = 0; i < 3; i++) await designs.judgeAll(devices(0, 50), now)
    expect(asked()).toBe(50)
  })
})
