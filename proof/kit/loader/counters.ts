/** Computes the counters of fingerprints, shapes and models that the server's transactions would have stored. */
import type pg from 'pg'
import type { LoadedDesign } from './hosts.ts'

interface Count {
  hosts: number
  devices: number
}

const kinds = ['design_id', 'shape_id', 'model_id'] as const

/** Counts while the rows are created, because counting twelve million rows in the database afterwards takes minutes. */
export const createCounters = () => {
  const counts = {
    design_id: new Map<number, Count>(),
    shape_id: new Map<number, Count>(),
    model_id: new Map<number, Count>(),
  }
  const seen = new Set<number>()
  return {
    /** Counts one host by the fingerprints of its attached devices. */
    add: (designs: readonly LoadedDesign[]): void => {
      for (const kind of kinds) {
        seen.clear()
        for (const design of designs) {
          const id = design[kind]
          let count = counts[kind].get(id)
          if (count === undefined) {
            count = { hosts: 0, devices: 0 }
            counts[kind].set(id, count)
          }
          count.devices++
          if (!seen.has(id)) count.hosts++
          seen.add(id)
        }
      }
    },
    write: async (client: pg.Client, now: Date): Promise<void> => {
      const given = (kind: (typeof kinds)[number]) => {
        const all = [...counts[kind]]
        return [all.map(([id]) => id), all.map(([, { hosts }]) => hosts), all.map(([, { devices }]) => devices), now]
      }
      const rows = 'unnest($1::int[], $2::int[], $3::int[]) AS c(id, hosts, devices)'
      await client.query(
        `INSERT INTO design_counts (design_id, hosts, devices, last_seen) SELECT c.id, c.hosts, c.devices, $4::timestamptz FROM ${rows}
         ON CONFLICT (design_id) DO UPDATE SET hosts = excluded.hosts, devices = excluded.devices, last_seen = excluded.last_seen`,
        given('design_id'),
      )
      for (const [table, key] of [
        ['shapes', 'shape_id'],
        ['models', 'model_id'],
      ] as const)
        await client.query(
          `UPDATE ${table} t SET hosts = c.hosts, devices = c.devices, last_seen = $4::timestamptz FROM ${rows} WHERE t.${key} = c.id`,
          given(key),
        )
    },
  }
}
