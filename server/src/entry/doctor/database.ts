import { readMigrations } from '@portcullis/platform/server/db/migrate.ts'
import { poolLimits } from '@portcullis/platform/server/db/pool-limits.ts'
import type { AppliedMigration, DatabaseFacts } from './doctor.read.ts'
import { error, type Finding, gigabytes, ok, warning } from './finding.ts'

const minVersion = 150_000

const version = ({ versionNumber, version: text }: DatabaseFacts): Finding =>
  versionNumber >= minVersion
    ? ok('database version', `PostgreSQL ${text}`)
    : error('database version', `PostgreSQL ${text}`, 'PostgreSQL 15 or newer is required.')

const recreate =
  'Restore a backup into a database with ENCODING UTF8 and a UTF-8 locale, for example LOCALE_PROVIDER builtin BUILTIN_LOCALE C.UTF-8.'

const text = ({ encoding, locale, foldsLetters, collation }: DatabaseFacts): Finding[] => [
  encoding === 'UTF8'
    ? ok('database encoding', encoding)
    : error('database encoding', encoding, `It must be UTF8. ${recreate}`),
  !foldsLetters
    ? error(
        'database collation',
        `${locale}: letter case beyond ASCII is not ignored, so searches miss names`,
        recreate,
      )
    : collation.made !== collation.now
      ? error(
          'database collation',
          `${locale} was version ${collation.made} when the database was created and is ${collation.now} now: indexes may miss rows`,
          'Stop the server. Run REINDEX DATABASE, then ALTER DATABASE … REFRESH COLLATION VERSION.',
        )
      : ok('database collation', `${locale}${collation.now === null ? '' : `, version ${collation.now}`}`),
]

const durability = ({ settings }: DatabaseFacts): Finding => {
  const off = ['fsync', 'synchronous_commit', 'full_page_writes'].filter((name) => settings[name] === 'off')
  if (off.length > 0)
    return error(
      'database durability',
      `off: ${off.join(', ')}`,
      'Set them to on. Otherwise acknowledged data may be lost, and the server does not start.',
    )
  return settings.data_checksums === 'off'
    ? warning(
        'database durability',
        'synchronous, without checksums: a failing disk is not detected',
        'Stop the database and run pg_checksums --enable.',
      )
    : ok('database durability', 'fsync, synchronous_commit, full_page_writes and data_checksums are on')
}

const trigrams = ({ trigrams: state, makesTrigrams, user }: DatabaseFacts): Finding => {
  const name = 'extension pg_trgm'
  if (makesTrigrams === false) return error(name, 'it creates no trigrams for letters beyond ASCII', recreate)
  if (state === 'installed') return ok(name, state)
  if (state === 'available' && user.mayCreate) return ok(name, 'available; the first start creates it')
  return state === 'available'
    ? error(
        name,
        `available, but ${user.name} may not create it`,
        'Run CREATE EXTENSION pg_trgm in this database, as its owner.',
      )
    : error(name, 'missing', "Install PostgreSQL's contrib modules (postgresql-contrib).")
}

/** Compares applied migrations with those of this release, as a start would. */
export const schema = (applied: readonly AppliedMigration[] | null, floor: number, folder: string): Finding => {
  const name = 'schema'
  const own = readMigrations(folder)
  const newest = own.at(-1)?.version ?? 0
  if (applied === null) return ok(name, `none yet; the first start creates version ${newest}`)
  const present = applied.at(-1)?.version ?? 0
  if (present > newest && floor > newest)
    return error(
      name,
      `version ${present}, which requires a release with version ${floor}; this release has ${newest}`,
      'Start the release that created it, or a newer one. Or restore the backup from before the upgrade.',
    )
  const other = applied.find((row) => own.some((one) => one.version === row.version && one.checksum !== row.checksum))
  if (other !== undefined)
    return error(
      name,
      `migration ${other.version} (${other.name}) differs from the one in this release`,
      'Use the release that created the database, or a newer one.',
    )
  if (present > newest)
    return warning(
      name,
      `version ${present} of a newer release; this release has ${newest}, and is compatible`,
      'Use this only during an upgrade or downgrade. See docs/guide/upgrade.md.',
    )
  const open = own.filter(({ version }) => !applied.some((row) => row.version === version)).length
  return open === 0
    ? ok(name, `version ${present}, of this release`)
    : warning(
        name,
        `version ${present}; ${open} migrations of this release are pending`,
        'Make a backup, then start the server, which applies them.',
      )
}

const clock = ({ skewMs, answerMs }: DatabaseFacts): Finding[] => {
  const seen = `${(Math.abs(skewMs) / 1_000).toFixed(1)} s different from this machine`
  const whatToDo = 'Synchronise both clocks. timedatectl shows whether a clock is synchronised.'
  return [
    Math.abs(skewMs) > 30_000
      ? error('database clock', seen, whatToDo)
      : Math.abs(skewMs) > 2_000
        ? warning('database clock', seen, whatToDo)
        : ok('database clock', seen),
    answerMs > 20
      ? warning(
          'database answers',
          `in ${answerMs.toFixed(1)} ms`,
          'Every check-in waits for the database. Move the server closer to it.',
        )
      : ok('database answers', `in ${answerMs.toFixed(1)} ms`),
  ]
}

const perServer = Object.values(poolLimits).reduce((a, b) => a + b, 0)

/** `isRunning`: the connections of this server are already in use. */
const connections = ({ connections: { used, max, reserved } }: DatabaseFacts, isRunning: boolean): Finding => {
  const free = max - reserved - used
  const seen = `${used} of ${max} in use, ${reserved} reserved; one server takes up to ${perServer}`
  const whatToDo = `Raise max_connections: ${perServer} for each server, and for one more server during upgrades.`
  if (max - reserved < perServer || (!isRunning && free < perServer))
    return error('database connections', seen, whatToDo)
  return max - reserved < perServer * 2
    ? warning('database connections', seen, whatToDo)
    : ok('database connections', seen)
}

const role = ({ user: { name, isSuperuser, mayCreate } }: DatabaseFacts): Finding => {
  if (isSuperuser)
    return warning(
      'database user',
      `${name} is a superuser`,
      'Create a role that owns only this database, and use it in DATABASE_URL.',
    )
  return mayCreate
    ? ok('database user', `${name}, not a superuser`)
    : error(
        'database user',
        `${name} may not create objects in this database`,
        `Run ALTER DATABASE … OWNER TO ${name}.`,
      )
}

const wal = ({ walBytes, archiver, heldBySlots, settings, sizeBytes, wraparound }: DatabaseFacts): Finding[] => {
  const name = 'database log (WAL)'
  const size = walBytes === null ? 'its size is visible to pg_monitor only' : gigabytes(walBytes)
  const findings: Finding[] = []
  if (settings.archive_mode !== 'off' && archiver?.failedLast === true)
    findings.push(
      error(
        name,
        `${size}; archiving ${archiver.lastFailed} failed and has not succeeded since`,
        'Check archive_command and its target. The log grows until it is archived.',
      ),
    )
  if (heldBySlots > 1e9)
    findings.push(
      warning(
        name,
        `an unused replication slot holds back ${gigabytes(heldBySlots)}`,
        'If no consumer needs the slot, run pg_drop_replication_slot.',
      ),
    )
  if (findings.length === 0) findings.push(ok(name, `${size}; archiving is ${settings.archive_mode ?? 'off'}`))
  // PostgreSQL refuses writes at 100 %, and runs autovacuum from 10 % on.
  findings.push(
    wraparound > 0.5
      ? error(
          'database size',
          `${gigabytes(sizeBytes)}; ${Math.round(wraparound * 100)} % of the transaction ids are used`,
          'Run VACUUM FREEZE, and check which transaction or slot blocks autovacuum.',
        )
      : ok('database size', gigabytes(sizeBytes)),
  )
  return findings
}

export const checkDatabase = (facts: DatabaseFacts, isRunning: boolean): Finding[] => [
  version(facts),
  ...text(facts),
  durability(facts),
  trigrams(facts),
  role(facts),
  connections(facts, isRunning),
  ...clock(facts),
  ...wal(facts),
]
