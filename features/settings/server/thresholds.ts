import { mustExist } from '@portcullis/domain'
import type { Db } from '@portcullis/platform/server/db/db.ts'
import { type ConfigName, configGroups } from '#features/contract.ts'
import type { SettingsContext } from './context.ts'
import type { GroupValues } from './settings.service.ts'

type Name = ConfigName<'health'>
/** Returns the value of a threshold, by its name without the common prefix. */
export type Thresholds = (name: Name extends `VENDORA_HEALTH_${infer Rest}` ? Rest : never) => number

/** Caches the configured thresholds, so that they are known while the database is unavailable. */
export const createThresholds = async ({
  db,
  log,
  settings,
}: SettingsContext & {
  settings: {
    values(q: Db, group: 'health'): Promise<GroupValues<'health'>>
    onChange(handler: (names: readonly string[] | null) => void): void
  }
}): Promise<Thresholds> => {
  const names = Object.keys(configGroups.health.items) as Name[]
  async function read(): Promise<Map<string, number>> {
    const values = await settings.values(db, 'health')
    return new Map(names.map((name) => [name, values.number(name)]))
  }
  let current = await read()
  settings.onChange((changed) => {
    if (changed !== null && !changed.some((name) => (names as readonly string[]).includes(name))) return
    read().then(
      (next) => {
        current = next
      },
      (error: unknown) => log.warn({ err: error }, 'could not read the thresholds; the next change retries'),
    )
  })
  return (name) => mustExist(current.get(`VENDORA_HEALTH_${name}`), 'the threshold')
}
