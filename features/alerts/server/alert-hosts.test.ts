import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { migrate } from '@portcullis/platform/server/db/migrate.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { cloneDatabase } from '@portcullis/server/test/database.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const folder = fileURLToPath(new URL('../../../server/migrations', import.meta.url))
const earlier = mkdtempSync(join(tmpdir(), 'portcullis-migrations-'))
let t: Awaited<ReturnType<typeof cloneDatabase>>

beforeAll(async () => {
  t = await cloneDatabase('template0')
  for (const name of readdirSync(folder))
    if (Number(name.slice(0, 4)) < 152) cpSync(join(folder, name), join(earlier, name))
  await migrate(t.db, earlier)
}, 120_000)
afterAll(async () => {
  rmSync(earlier, { recursive: true })
  await t.close()
})

const hostId = (n: number): string => `0197a1b2-7c3d-7000-8000-${String(n).padStart(12, '0')}`

/** Stores an alert and its event, as an earlier release did. */
const store = async (n: number, kind: string, subject: string, title: string, hashtags: string): Promise<void> => {
  const at = new Date(Date.UTC(2031, 4, 4, 10, n))
  await t.db.execute(sql`
    insert into events (event_id, created_at, agent_id, code, category, severity, entity, description)
    values (${n}::bigint, ${at}, ${hostId(n)}::uuid, 1, 0, 2, ${`WS-${n} (10.0.0.${n})`}, 'x')`)
  await t.db.execute(sql`
    insert into notices (kind, subject, title, description, severity, entity_type, hashtags, created_at, last_at, turned_at,
      count, turn, events)
    values (${kind}, ${subject}, ${title}, 'x', 2, 'Agent', ${hashtags}, ${at}, ${at}, ${at}, ${n}::int, ${n}::bigint,
      ${[n]}::bigint[])`)
}

describe('alerts of an earlier release', () => {
  it('about one attack tool on several hosts become one alert, which names its hosts', async () => {
    await t.db.execute(sql`select ensure_event_partitions(1)`)
    const model = '16D0:0DB6'
    for (const n of [1, 2, 3])
      await store(
        n,
        'attackTool',
        `${hostId(n)} ${model}`,
        `Attack tool MCS Digistump (${model}) on WS-${n} (10.0.0.${n})`,
        `t${n}`,
      )
    await store(4, 'attackTool', `${hostId(4)} 1209:6667`, 'Attack tool O.MG Cable (1209:6667) on WS-4 (10.0.0.4)', '')
    await store(5, 'whitelistViolation', '0781:5567', 'Not on the allowlist: SanDisk (0781:5567)', '')
    await migrate(t.db, folder)
    const alerts = await t.db.query(sql`
      select n.subject, n.title, n.count, n.host_count, n.hashtags, n.entity_type, n.entity_id, n.turn, n.events::int[] as events,
        n.dismissed_at is not null as is_dismissed,
        (select array_agg(h.host order by h.host) from notice_hosts h where h.notice_id = n.notice_id) as hosts
      from notices n order by n.subject`)
    const open = { entity_type: 'Model', is_dismissed: false }
    expect(alerts).toMatchObject([
      { subject: '0781:5567', is_dismissed: true },
      { ...open, subject: '1209:6667', title: 'O.MG Cable (attack tool) on WS-4', host_count: 1, hosts: ['WS-4'] },
      {
        ...open,
        subject: model,
        entity_id: model,
        title: 'MCS Digistump (attack tool) on 3 hosts',
        count: 6,
        host_count: 3,
        hosts: ['WS-1', 'WS-2', 'WS-3'],
        hashtags: 't1,t2,t3',
        turn: 3,
        events: [3, 2, 1],
      },
    ])
  })
})
