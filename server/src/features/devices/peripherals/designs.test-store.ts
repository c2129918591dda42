import type { PolicyDevice } from '@portcullis/domain'
import type { NewDesign, StoredDesign } from './design.ts'
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

/** Creates a store that assigns an id to each new fingerprint and counts its calls. */
export const fakeStore = () => {
  const all = new Map<string, StoredDesign>()
  let asked = 0
  async function ensureDesigns(_db: unknown, designs: readonly NewDesign[]) {
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
