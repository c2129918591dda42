import { linkSync, renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readIfThere, removeIfThere, syncDirectory, writeDurable } from '../files.ts'

/** An update that is under way, durable before the executable is touched. */
export interface UpdateRecord {
  commandId: string
  from: string
  to: string
  /** Path of the executable; the version before lies beside it as `.previous`. */
  executable: string
  /** `swapped`: the new version has to prove itself. `rolled-back`: it did not, the one before is in place again. */
  state: 'swapped' | 'rolled-back'
  /** Starts of the new version without an acknowledged check-in. */
  starts: number
  /** Ends of it that the service manager saw, counted by its previous version. */
  ends: number
  failure: string
}

/** A version that does not get through this often goes. */
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

/** `update.json` of a state directory. */
export const createUpdateRecord = (stateDir: string) => {
  const path = join(stateDir, 'update.json')
  return {
    /** Undefined when no update is under way, or the file cannot be understood: then nothing is rolled back by it. */
    load(): UpdateRecord | undefined {
      try {
        const value: unknown = JSON.parse(readIfThere(path) ?? 'null')
        return isRecord(value) ? value : undefined
      } catch {
        return undefined
      }
    },
    save: (record: UpdateRecord): void => writeDurable(path, JSON.stringify(record)),
    clear: (): void => removeIfThere(path),
  }
}
export type UpdateRecordFile = ReturnType<typeof createUpdateRecord>

/** Puts a file in the executable's place; at no moment there is none, and the one before stays as `.previous`. */
export const swapIn = (executable: string, fresh: string): void => {
  removeIfThere(previousOf(executable))
  linkSync(executable, previousOf(executable))
  renameSync(fresh, executable)
  syncDirectory(dirname(executable))
}

/** Puts the version before in place again. The record is durable first: a kill in between is found by either version. */
export const rollBack = (file: UpdateRecordFile, record: UpdateRecord, failure: string): void => {
  file.save({ ...record, state: 'rolled-back', failure })
  renameSync(previousOf(record.executable), record.executable)
  syncDirectory(dirname(record.executable))
}

/**
 * Notes that the service manager saw the agent end. Run by the version before a fresh one, this takes back even an
 * executable that ends before it can count its own starts. True when it was taken back.
 */
export const noteEnd = (stateDir: string): boolean => {
  const file = createUpdateRecord(stateDir)
  const record = file.load()
  if (record?.state !== 'swapped') return false
  const ends = record.ends + 1
  if (ends < MAX_STARTS) file.save({ ...record, ends })
  else rollBack(file, record, `${record.to} ended ${ends} times and never reached the server.`)
  return ends >= MAX_STARTS
}
