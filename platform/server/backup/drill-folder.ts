import { createHash } from 'node:crypto'
import { chmodSync, lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { holderOf, type LauncherLog, startTimeOf, stopOrphan } from '../postgres/index.ts'

const form = /^portcullis-drill-(?:(\d{1,10})-([0-9a-f]{8})-)?[A-Za-z0-9]{6}$/

const markOf = (startedAt: string): string => createHash('sha256').update(startedAt).digest('hex').slice(0, 8)

/** Creates the folder of a temporary database. Its name identifies this process. */
export const makeDrillFolder = (dir: string): string => {
  const folder = mkdtempSync(join(dir, `portcullis-drill-${process.pid}-${markOf(startTimeOf(process.pid))}-`))
  // The user of the database must traverse it.
  chmodSync(folder, 0o711)
  return folder
}

const isAbandoned = (dir: string, name: string): boolean => {
  const [, pid, mark] = form.exec(name) ?? []
  if (!form.test(name)) return false
  const info = lstatSync(join(dir, name), { throwIfNoEntry: false })
  // Other users can create such names in a shared folder for temporary files.
  if (info === undefined || !info.isDirectory() || info.uid !== process.getuid?.()) return false
  // Earlier releases did not name the process.
  if (pid === undefined) return holderOf(join(dir, name, 'data')) === null
  const startedAt = startTimeOf(Number(pid))
  return startedAt === '' || markOf(startedAt) !== mark
}

/**
 * Stops the temporary databases whose process was killed, and deletes their files: an unencrypted copy of the data.
 * Keeps those of running processes.
 */
export const removeAbandonedDrills = async (dir: string, log: LauncherLog): Promise<void> => {
  for (const name of readdirSync(dir))
    try {
      if (!isAbandoned(dir, name)) continue
      const cluster = join(dir, name, 'data', 'postgres')
      if (lstatSync(cluster, { throwIfNoEntry: false })?.isDirectory() === true) await stopOrphan(cluster, log)
      rmSync(join(dir, name), { recursive: true, force: true })
      log.info({ folder: join(dir, name) }, 'removed the temporary database of an interrupted verification')
    } catch (error) {
      log.warn({ err: error, folder: join(dir, name) }, 'cannot remove a temporary database')
    }
}
