import type { CounterDelta, Fingerprint } from '#features/devices/server/index.ts'
import type { HostPeripheral } from '#features/policy/server/index.ts'

type Key = 'modelId' | 'shapeId' | 'id'

const presentBy = (key: Key, all: readonly HostPeripheral[]): Map<number, number> => {
  const counts = new Map<number, number>()
  for (const { present, fingerprint } of all)
    if (present) counts.set(fingerprint[key], (counts.get(fingerprint[key]) ?? 0) + 1)
  return counts
}

/** Sums up how the reports of a batch change the counters of models, shapes and fingerprints. */
export const createCounterMoves = () => {
  const moved = { modelId: new Map<number, CounterDelta>(), shapeId: new Map(), id: new Map() } satisfies Record<
    Key,
    Map<number, CounterDelta>
  >

  function count(key: Key, before: readonly HostPeripheral[], after: readonly HostPeripheral[]): void {
    const [was, is] = [presentBy(key, before), presentBy(key, after)]
    for (const id of new Set([...was.keys(), ...is.keys()])) {
      const [from, to] = [was.get(id) ?? 0, is.get(id) ?? 0]
      if (from === to) continue
      const delta: CounterDelta = moved[key].get(id) ?? { id, hosts: 0, devices: 0 }
      delta.devices += to - from
      delta.hosts += Number(to > 0) - Number(from > 0)
      moved[key].set(id, delta)
    }
  }

  return {
    /** Adds one host: its peripherals before and after its report. */
    add: (before: readonly HostPeripheral[], after: readonly HostPeripheral[]): void => {
      count('modelId', before, after)
      count('shapeId', before, after)
      count('id', before, after)
      // Replacing a fingerprint by another one of the same model changes no model counter, but its update must still
      // lock the model.
      const modelsOf = new Map<number, Pick<Fingerprint, 'modelId'>>(
        [...before, ...after].map((p) => [p.fingerprint.id, p.fingerprint]),
      )
      for (const fingerprintId of moved.id.keys()) {
        const id = modelsOf.get(fingerprintId)?.modelId
        if (id !== undefined && !moved.modelId.has(id)) moved.modelId.set(id, { id, hosts: 0, devices: 0 })
      }
    },
    deltas: () => ({
      models: [...moved.modelId.values()],
      shapes: [...moved.shapeId.values()] as CounterDelta[],
      fingerprints: [...moved.id.values()] as CounterDelta[],
    }),
  }
}
