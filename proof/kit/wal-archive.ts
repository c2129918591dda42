/** Archives the write-ahead log of a rig database: a base backup, the log, and recovery to any point in time. */

import { execFileSync } from 'node:child_process'
import { chownSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startDatabase, type TestDatabase } from './database.ts'
import { type Connection, withClient } from './stored.ts'

const asSuperuser = (connection: Connection): Connection => ({ ...connection, user: 'postgres', database: 'postgres' })

/** Makes the database archive each completed log segment in `folder`. Takes effect after a restart. */
export const keepLog = async (connection: Connection, clusterDir: string, folder: string): Promise<void> => {
  const { uid, gid } = statSync(clusterDir)
  mkdirSync(folder)
  chownSync(folder, uid, gid)
  await withClient(asSuperuser(connection), async (client) => {
    await client.query('ALTER SYSTEM SET archive_mode = on')
    await client.query(`ALTER SYSTEM SET archive_command = 'test ! -f ${folder}/%f && cp %p ${folder}/%f'`)
  })
}

/** Copies a running cluster like `pg_basebackup`, which the packaged PostgreSQL lacks, with the same functions. */
export const baseBackup = async (connection: Connection, clusterDir: string, target: string): Promise<void> => {
  const { uid, gid } = statSync(clusterDir)
  await withClient(asSuperuser(connection), async (client) => {
    await client.query("SELECT pg_backup_start('drill', true)")
    // Ignore files that disappear during the copy, because the log contains what happened to them.
    try {
      execFileSync('cp', ['-a', clusterDir, target], { stdio: 'ignore' })
    } catch {}
    const { rows } = await client.query<{ label: string }>('SELECT labelfile AS label FROM pg_backup_stop()')
    writeFileSync(join(target, 'backup_label'), rows[0]?.label ?? '')
    chownSync(join(target, 'backup_label'), uid, gid)
  })
  rmSync(join(target, 'postmaster.pid'), { force: true })
  for (const name of readdirSync(join(target, 'pg_wal')))
    rmSync(join(target, 'pg_wal', name), { recursive: true, force: true })
}

/** Closes the current segment and waits until the whole log is in the archive. */
export const archiveNow = (connection: Connection): Promise<void> =>
  withClient(asSuperuser(connection), async (client) => {
    const { rows } = await client.query<{ name: string }>('SELECT pg_walfile_name(pg_switch_wal()) AS name')
    const name = rows[0]?.name ?? ''
    for (let tries = 0; tries < 600; tries++) {
      const { rows: found } = await client.query<{ done: boolean }>(
        'SELECT coalesce(last_archived_wal >= $1, false) AS done FROM pg_stat_archiver',
        [name],
      )
      if (found[0]?.done === true) return
      await pause(50)
    }
    throw new Error('The log was not archived within half a minute.')
  })

/** Starts a copy of the base backup in `folder` and recovers it to a point in time or to the end of the archive. */
export const recover = async (
  base: string,
  archive: string,
  folder: string,
  target: string | null,
): Promise<TestDatabase> => {
  const cluster = join(folder, 'data', 'postgres')
  const { uid, gid } = statSync(base)
  mkdirSync(join(folder, 'data'), { recursive: true, mode: 0o711 })
  execFileSync('cp', ['-a', base, cluster])
  const settings = [
    `restore_command = 'cp ${archive}/%f %p'`,
    "recovery_target_action = 'promote'",
    // Refuse connections until recovery is complete.
    'hot_standby = off',
    "archive_mode = 'off'",
    ...(target === null ? [] : [`recovery_target_time = '${target}'`]),
  ]
  for (const [name, text] of [
    ['postgresql.auto.conf', `${settings.join('\n')}\n`],
    ['recovery.signal', ''],
  ] as const) {
    writeFileSync(join(cluster, name), text)
    chownSync(join(cluster, name), uid, gid)
  }
  return startDatabase({ dataDir: folder })
}
