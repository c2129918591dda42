import type { PolicyDevice } from '@portcullis/domain'
import type { NewFingerprint, StoredFingerprint } from './fingerprint.ts'
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
  ruleFingerprint: 'c'.repeat(32),
  attackTool: null,
}

/** Creates a store that assigns an id to each new fingerprint and counts its calls. */
export const fakeStore = () => {
  const all = new Map<string, StoredFingerprint>()
  let asked = 0
  async function ensureFingerprints(_db: unknown, fingerprints: readonly NewFingerprint[]) {
    asked += fingerprints.length
    return fingerprints.map((fingerprint) => {
      const known = all.get(fingerprint.fingerprint) ?? {
        ...fingerprint,
        id: all.size + 1,
        modelId: 1,
        shapeId: 1,
        device: { ...nobody },
      }
      all.set(fingerprint.fingerprint, known)
      return known
    })
  }
  const fingerprintsById = async (ids: readonly number[]) => [...all.values()].filter((d) => ids.includes(d.id))
  return { store: { ensureFingerprints, fingerprintsById } as unknown as PeripheralsStore, asked: () => asked }
}
