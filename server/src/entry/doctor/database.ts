import { readMigrations } from '#platform/db/migrate.ts'
import { poolLimits } from '#platform/db/pool-limits.ts'
import type { AppliedMigration, DatabaseFacts } from './doctor.read.ts'
import { error, type Finding, gigabytes, ok, warning } from './finding.ts'

const minVersion = 150_000

const version = ({ versionNumber, version: text }: DatabaseFacts): Finding =>
  versionNumber >= minVersion
    ? ok('database version', `PostgreSQL ${text}`)
    : error('database version', `PostgreSQL ${text}`, 'PostgreSQL 15 or newer is needed.')

const makeAnew =
  'Restore a backup into one made with ENCODING UTF8 and a UTF-8 locale, for example LOCALE_PROVIDER builtin BUILTIN_LOCALE C.UTF-8.'

const text = ({ encoding, locale, foldsLetters, collation }: DatabaseFacts): Finding[] => [
  encoding === 'UTF8'
    ? ok('database encoding', encoding)
    : error('database encoding', encoding, `It has to be UTF8. ${makeAnew}`),
  !foldsLetters
    ? error('database collation', `${locale}: letters beyond ASCII are not folded, so searches miss names`, makeAnew)
    : collation.made !== collation.now
      ? error(
          'database collation',
          `${locale} was version ${collation.made} when the database was made and is ${collation.now} now: indexes may miss rows`,
          'Stop the server, REINDEX DATABASE, then ALTER DATABASE … REFRESH COLLATION VERSION.',
        )
      : ok('database collation', `${locale}${collation.now === null ? '' : `, version ${collation.now}`}`),
]

const durability = ({ settings }: DatabaseFacts): Finding => {
  const off = ['fsync', 'synchronous_commit', 'full_page_writes'].filter((name) => settings[name] === 'off')
  if (off.length > 0)
    return error(
      'database durability',
      `off: ${off.join(', ')}`,
      'Set them to on: what was acknowledged may be lost, and the server does not start so.',
    )
  return settings.data_checksums === 'off'
    ? warning(
        'database durability',
        'synchronous, without checksums: a failing disk is not noticed',
        'With the database stopped: pg_checksums --enable.',
      )
    : ok('database durability', 'fsync, synchronous_commit, full_page_writes and data_checksums are on')
}

const trigrams = ({ trigrams: state, makesTrigrams, user }: DatabaseFacts): Finding => {
  const name = 'extension pg_trgm'
  if (makesTrigrams === false) return error(name, 'it makes no trigrams of letters beyond ASCII', makeAnew)
  if (state === 'installed') return ok(name, state)
  if (state === 'available' && user.mayCreate) return ok(name, 'available; the first start makes it')
  return state === 'available'
    ? error(
        name,
        `available, and ${user.name} may not make it`,
        'CREATE EXTENSION pg_trgm in this database, as its owner.',
      )
    : error(name, 'not there', "Install PostgreSQL's contrib modules (postgresql-contrib).")
}

/** Applied and own migrations side by side, as a start would judge them. */
export const schema = (applied: readonly AppliedMigration[] | null, floor: number, folder: string): Finding => {
  const name = 'schema'
  const own = readMigrations(folder)
  const newest = own.at(-1)?.version ?? 0
  if (applied === null) return ok(name, `none yet; the first start makes version ${newest}`)
  const present = applied.at(-1)?.version ?? 0
  if (present > newest && floor > newest)
    return error(
      name,
      `version ${present}, on which releases run that know ${floor}; this one knows ${newest}`,
      'Start the release that wrote it, or a newer one; or restore the backup from before the upgrade.',
    )
  const other = applied.find((row) => own.some((one) => one.version === row.version && one.checksum !== row.checksum))
  if (other !== undefined)
    return error(
      name,
      `migration ${other.version} (${other.name}) is another one than this release has`,
      'This is not the release that made the database: use that one, or a newer one.',
    )
  if (present > newest)
    return warning(
      name,
      `version ${present} of a newer release; this one knows ${newest}, and runs on it`,
      'For as long as it takes to go back or forth: docs/guide/upgrade.md.',
    )
  const open = own.filter(({ version }) => !applied.some((row) => row.version === version)).length
  return open === 0
    ? ok(name, `version ${present}, of this release`)
    : warning(
        name,
        `version ${present}; ${open} migrations of this release are to come`,
        'Make a backup, then start the server: it applies them.',
      )
}

const clock = ({ skewMs, answerMs }: DatabaseFacts): Finding[] => {
  const seen = `${(Math.abs(skewMs) / 1_000).toFixed(1)} s apart from this machine`
  const whatToDo = 'Synchronise both clocks: timedatectl shows whether one is.'
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
          'Each check-in waits for it: bring the server near its database.',
        )
      : ok('database answers', `in ${answerMs.toFixed(1)} ms`),
  ]
}

const perServer = Object.values(poolLimits).reduce((a, b) => a + b, 0)

/** `isRunning`: whether this server has its connections already. */
const connections = ({ connections: { used, max, reserved } }: DatabaseFacts, isRunning: boolean): Finding => {
  const free = max - reserved - used
  const seen = `${used} of ${max} in use, ${reserved} reserved; one server takes up to ${perServer}`
  const whatToDo = `Raise max_connections: ${perServer} for each server, and room for one more while they are replaced.`
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
      'Make a role that owns this database and nothing else, and name it in DATABASE_URL.',
    )
  return mayCreate
    ? ok('database user', `${name}, no superuser`)
    : error('database user', `${name} may not create in this database`, `ALTER DATABASE … OWNER TO ${name}.`)
}

const wal = ({ walBytes, archiver, heldBySlots, settings, sizeBytes, wraparound }: DatabaseFacts): Finding[] => {
  const name = 'database log (WAL)'
  const size = walBytes === null ? 'its size is for pg_monitor to see' : gigabytes(walBytes)
  const findings: Finding[] = []
  if (settings.archive_mode !== 'off' && archiver?.failedLast === true)
    findings.push(
      error(
        name,
        `${size}; archiving ${archiver.lastFailed} failed, and was not done since`,
        'See archive_command and where it writes: the log grows until it is archived.',
      ),
    )
  if (heldBySlots > 1e9)
    findings.push(
      warning(
        name,
        `an unused replication slot holds back ${gigabytes(heldBySlots)}`,
        'pg_drop_replication_slot, when nobody comes back for it.',
      ),
    )
  if (findings.length === 0) findings.push(ok(name, `${size}; archiving is ${settings.archive_mode ?? 'off'}`))
  // PostgreSQL refuses to write at 100 %, and vacuums by itself from 10 % on.
  findings.push(
    wraparound > 0.5
      ? error(
          'database size',
          `${gigabytes(sizeBytes)}; ${Math.round(wraparound * 100)} % of the transaction ids are used up`,
          'VACUUM FREEZE, and see which transaction or slot keeps autovacuum from it.',
        )
      : ok('database size', gigabytes(sizeBytes)),
  )
  return findings
}

export const judgeDatabase = (facts: DatabaseFacts, isRunning: boolean): Finding[] => [
  version(facts),
  ...text(facts),
  durability(facts),
  trigrams(facts),
  role(facts),
  connections(facts, isRunning),
  ...clock(facts),
  ...wal(facts),
]
