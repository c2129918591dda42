import { linkSync, renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readJson, removeIfThere, syncDirectory, writeDurable } from '../files.ts'

/** An update in progress. It is durable before the agent replaces the executable. */
export interface UpdateRecord {
  commandId: string
  from: string
  to: string
  /** Path of the executable. The previous version is next to it as `.previous`. */
  executable: string
  /** `swapped`: the new version has not checked in yet. `rolled-back`: the previous version was restored. */
  state: 'swapped' | 'rolled-back'
  /** False if the version of a package ran before. Then there is no `.previous`, and the package has that version. */
  hasPrevious?: boolean
  /** Starts of the new version without an acknowledged check-in. */
  starts: number
  /**
   * Number of ends of the new version that the service manager noticed, or on Windows of its launches. Another version
   * counts them.
   */
  ends: number
  failure: string
}

/** Starts or ends without a check-in after which the new version is rolled back. */
export const MAX_STARTS = 3

const isRecord = (value: unknown): value is UpdateRecord => {
  const r = value as Partial<UpdateRecord> | null
  return (
    typeof r === 'object' &&
    r !== null &&
    [r.commandId, r.from, r.to, r.executable, r.failure].every((member) => typeof member === 'string') &&
    (r.state === 'swapped' || r.state === 'rolled-back') &&
    typeof r.starts === 'number' &&
    typeof r.ends === 'number'
  )
}

export const previousOf = (executable: string): string => `${executable}.previous`

/** Reads and writes `update.json` in a state directory. */
export const createUpdateRecord = (stateDir: string) => {
  const path = join(stateDir, 'update.json')
  return {
    /** Returns undefined if no update is in progress or the file cannot be parsed. Nothing is rolled back then. */
    load(): UpdateRecord | undefined {
      const value = readJson(path)
      return isRecord(value) ? value : undefined
    },
    save: (record: UpdateRecord): void => writeDurable(path, JSON.stringify(record)),
    clear: (): void => removeIfThere(path),
  }
}
export type UpdateRecordFile = ReturnType<typeof createUpdateRecord>

/** Replaces the executable atomically and keeps the previous one, if any, as `.previous`. */
export const swapIn = (executable: string, fresh: string, hasPrevious: boolean): void => {
  removeIfThere(previousOf(executable))
  if (hasPrevious) linkSync(executable, previousOf(executable))
  renameSync(fresh, executable)
  syncDirectory(dirname(executable))
}

/** Restores the previous version. The record is durable first, so that either version can continue after a kill. */
export const rollBack = (file: UpdateRecordFile, record: UpdateRecord, failure: string): void => {
  file.save({ ...record, state: 'rolled-back', failure })
  if (record.hasPrevious === false) removeIfThere(record.executable)
  else renameSync(previousOf(record.executable), record.executable)
  syncDirectory(dirname(record.executable))
}

/**
 * Counts an end of the new version. The previous version runs this, so it can also roll back an executable that ends
 * before it counts its own starts. Returns true if it rolled back.
 */
export const noteEnd = (stateDir: string): boolean => {
  const file = createUpdateRecord(stateDir)
  const record = file.load()
  if (record?.state !== 'swapped') return false
  const ends = record.ends + 1
  if (ends < MAX_STARTS) file.save({ ...record, ends })
  else rollBack(file, record, `Version ${record.to} ended ${ends} times and never reached the server.`)
  return ends >= MAX_STARTS
}

/**
 * Counts a launch of the new version, for systems whose service manager runs no program after a service ended. Rolls it
 * back at the fourth launch.
 */
export const noteLaunch = (stateDir: string): void => {
  const file = createUpdateRecord(stateDir)
  const record = file.load()
  if (record?.state !== 'swapped') return
  if (record.ends < MAX_STARTS) file.save({ ...record, ends: record.ends + 1 })
  else rollBack(file, record, `Version ${record.to} started ${MAX_STARTS} times and never reached the server.`)
}
