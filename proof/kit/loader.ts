/** Loads a whole fleet into the database of a server by COPY, without using the server: up to a million agents. */
import pg from 'pg'
import { agentVersions, departments } from '../../cli/simulator/hosts.ts'
import { createRandom } from '../../cli/simulator/random.ts'
import { copyRows, withoutIndexes } from './loader/bulk.ts'
import {
  addHost,
  columns,
  type DesignPool,
  type LoadedDesign,
  type PlayedHost,
  type Rows,
  type Table,
} from './loader/hosts.ts'

export interface LoadOptions {
  agents: number
  peripheralsPerAgent: number
  /** Number of hosts with real keys that a benchmark simulates. They are drawn uniformly from the whole fleet. */
  played?: number
  seed?: number
  nowMs: number
  progress?(loaded: number): void
}

export interface LoadedFleet {
  agents: number
  peripherals: number
  played: PlayedHost[]
}

const tables = Object.keys(columns) as Table[]
/** About half of the work. Each half is copied over a separate connection while the next hosts are created. */
const wideTables: readonly Table[] = ['agents', 'peripherals']
const narrowTables = tables.filter((table) => !wideTables.includes(table))
const hostsPerCopy = 5_000
const rareTagCount = 200
const eventsPerAgent = 3
const mostEvents = 300_000
const eventsPerPartition = 5_000_000
/** Share of all fingerprints that are rare: a thousand of three thousand, a long tail as in office fleets. */
const rareShare = 1 / 3

const readDesigns = async (client: pg.Client): Promise<DesignPool> => {
  const { rows } = await client.query<LoadedDesign>(`
    SELECT d.design_id, d.shape_id, d.model_id, m.vid, m.pid, m.vendor || ' ' || m.product AS model, d.manufacturer, d.product, d.configuration,
      d.severity, d.vulnerable, d.attack_tool, translate(encode(d.descriptors, 'base64'), E'\\n', '') AS descriptors
    FROM designs d JOIN models m ON m.model_id = d.model_id ORDER BY d.design_id`)
  if (rows.length === 0) throw new Error('The database holds no designs: let a server judge some first (seedDesigns).')
  const plain = rows.filter((d) => !d.vulnerable && d.attack_tool === 0)
  const rare = plain.slice(Math.ceil(plain.length * (1 - rareShare)))
  return {
    plain: plain.slice(0, plain.length - rare.length),
    rare,
    vulnerable: rows.filter((d) => d.vulnerable && d.attack_tool === 0),
    attack: rows.filter((d) => d.attack_tool > 0),
  }
}

const ensureDictionary = async (client: pg.Client): Promise<Map<string, number>> => {
  const values = [
    ...new Set([
      ...departments.flatMap((d) => d.os.map((os) => os.name)),
      ...agentVersions.map(({ version }) => version),
    ]),
  ]
  await client.query(
    'INSERT INTO dictionary (value, folded) SELECT v, lower(v) FROM unnest($1::text[]) v ON CONFLICT (value) DO NOTHING',
    [values],
  )
  const { rows } = await client.query<{ id: number; value: string }>('SELECT id, value FROM dictionary')
  return new Map(rows.map(({ id, value }) => [value, id]))
}

const ensureTags = async (client: pg.Client, names: readonly string[]): Promise<Map<string, number>> => {
  await client.query(
    `INSERT INTO tags (name, folded, color) SELECT v, lower(v), '#4472c4' FROM unnest($1::text[]) v ON CONFLICT (folded) DO NOTHING`,
    [names],
  )
  const { rows } = await client.query<{ tag_id: number; name: string }>('SELECT tag_id, name FROM tags')
  return new Map(rows.map(({ tag_id, name }) => [name, tag_id]))
}

/** Adds the events of the last days, in the order of their ids. */
const addEvents = async (client: pg.Client, count: number, now: Date): Promise<void> => {
  const head = await client.query<{ n: string }>(`SELECT n FROM ordered_head WHERE stream = 'events'`)
  const first = Number(head.rows[0]?.n ?? 0) + 1
  for (let id = first; id < first + count + eventsPerPartition; id += eventsPerPartition)
    await client.query('SELECT ensure_event_partitions($1)', [id])
  const hosts = await client.query<{ n: string }>('SELECT count(*) AS n FROM agents')
  await client.query(
    `INSERT INTO events (event_id, created_at, agent_id, code, category, severity, icon, entity, description, hashtags, details, device_id)
     SELECT $1::bigint + e.i - 1, $3::timestamptz - ($2::int - e.i) * interval '1 second', a.agent_id, 1001, 0, 6, 1,
       a.host || ' (' || a.address || ')', 'New USB peripheral detected', '',
       '[Agent] Device VID/PID are 0781/5581  (SanDisk Corp. Ultra)', NULL
     FROM generate_series(1, $2::int) e(i)
     JOIN (SELECT x.agent_id, x.host, x.address, row_number() OVER () AS ord FROM agents x) a
       ON a.ord = e.i % $4::bigint + 1
     ORDER BY e.i`,
    [first, count, now, Number(hosts.rows[0]?.n)],
  )
  await client.query(`UPDATE ordered_head SET n = n + $1 WHERE stream = 'events'`, [count])
}

/**
 * Runs `work` without the triggers that maintain counters, tag texts and the asset stream. This module writes the
 * counters and texts of lists itself. It leaves out the stream, which would send twelve million devices one by one
 * during the measurements.
 */
const withoutTriggers = async (client: pg.Client, work: () => Promise<void>): Promise<void> => {
  for (const table of tables) await client.query(`ALTER TABLE ${table} DISABLE TRIGGER USER`)
  await work()
  for (const table of tables) await client.query(`ALTER TABLE ${table} ENABLE TRIGGER USER`)
  await client.query('UPDATE fleet_totals SET agents = (SELECT count(*) FROM agent_rows)')
  await client.query(`INSERT INTO agent_locations (agent_id, since, address) SELECT a.agent_id, a.enrolled_at, a.address
    FROM agents a ON CONFLICT DO NOTHING`)
}

/** Writes the counters of fingerprints, shapes and models that the server's transactions would have stored. */
const writeCounters = async (client: pg.Client, now: Date): Promise<void> => {
  await client.query(`CREATE TEMP TABLE loaded AS SELECT design_id, agent_id, count(*)::int AS devices
    FROM peripherals WHERE present GROUP BY 1, 2`)
  await client.query(
    `INSERT INTO design_counts (design_id, hosts, devices, last_seen)
     SELECT design_id, count(*), sum(devices), $1::timestamptz FROM loaded GROUP BY 1
     ON CONFLICT (design_id) DO UPDATE SET hosts = excluded.hosts, devices = excluded.devices, last_seen = excluded.last_seen`,
    [now],
  )
  for (const [table, key] of [
    ['shapes', 'shape_id'],
    ['models', 'model_id'],
  ])
    await client.query(
      `UPDATE ${table} t SET hosts = c.hosts, devices = c.devices, last_seen = $1::timestamptz FROM (
         SELECT key, count(*) AS hosts, sum(devices) AS devices
         FROM (SELECT d.${key} AS key, l.agent_id, sum(l.devices) AS devices FROM loaded l JOIN designs d USING (design_id) GROUP BY 1, 2) x
         GROUP BY 1) c WHERE t.${key} = c.key`,
      [now],
    )
  await client.query('DROP TABLE loaded')
}

/** Draws `count` distinct numbers below n, uniformly. */
export const drawUniformly = (n: number, count: number, seed: number): ReadonlySet<number> => {
  const random = createRandom(seed ^ 0x5eed)
  const drawn = new Set<number>()
  for (let top = Math.max(0, n - count); top < n; top++) {
    const one = Math.floor(random.next() * (top + 1))
    drawn.add(drawn.has(one) ? top : one)
  }
  return drawn
}

/** Loads a fleet into a migrated database with fingerprints. 100,000 agents with 12 peripherals take about a minute. */
export const loadFleet = async (connection: pg.ClientConfig, options: LoadOptions): Promise<LoadedFleet> => {
  const client = new pg.Client(connection)
  const second = new pg.Client(connection)
  try {
    for (const one of [client, second]) {
      await one.connect()
      await one.query('SET synchronous_commit = off')
    }
    let copying: Promise<unknown> = Promise.resolve()
    const random = createRandom(options.seed ?? 1)
    const pool = await readDesigns(client)
    const dictionary = await ensureDictionary(client)
    const rareNames = Array.from({ length: rareTagCount }, (_, i) => `project-${String(i + 1).padStart(3, '0')}`)
    const tagOf = await ensureTags(client, [...departments.map((d) => d.name), ...rareNames])
    const played: PlayedHost[] = []
    const isPlayed = drawUniformly(options.agents, options.played ?? 0, options.seed ?? 1)
    let peripherals = 0
    const copyAll = async (): Promise<void> => {
      for (let start = 0; start < options.agents; start += hostsPerCopy) {
        const rows = Object.fromEntries(tables.map((table) => [table, []])) as unknown as Rows
        const end = Math.min(options.agents, start + hostsPerCopy)
        for (let index = start; index < end; index++) {
          const count = Math.max(1, options.peripheralsPerAgent + random.between(-2, 2))
          const host = addHost(rows, {
            index,
            agents: options.agents,
            random,
            pool,
            peripherals: count,
            dictionary,
            tagOf,
            rareTags: rareNames,
            nowMs: options.nowMs,
            isPlayed: isPlayed.has(index),
          })
          if (host !== undefined) played.push(host)
        }
        peripherals += rows.peripherals.length
        const copy = async (to: pg.Client, half: readonly Table[]): Promise<void> => {
          for (const table of half) await copyRows(to, table, columns[table].split(','), rows[table])
        }
        await copying
        copying = Promise.all([copy(client, wideTables), copy(second, narrowTables)])
        options.progress?.(end)
      }
      await copying
    }
    await withoutTriggers(client, () => withoutIndexes(client, tables, copyAll))
    await writeCounters(client, new Date(options.nowMs))
    await addEvents(client, Math.min(mostEvents, options.agents * eventsPerAgent), new Date(options.nowMs))
    await client.query('VACUUM (ANALYZE)')
    return { agents: options.agents, peripherals, played }
  } finally {
    await client.end()
    await second.end()
  }
}
