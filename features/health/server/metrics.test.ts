import { readFileSync } from 'node:fs'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent } from '@portcullis/server/test/builders.ts'
import { readExposition } from '@portcullis/server/test/exposition.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { subsystemNames } from '#features/contract.ts'

const dashboard = new URL('../../../ops/grafana/portcullis.json', import.meta.url)

let t: TestApp
const read = async () => readExposition((await t.as(undefined).get('/metrics')).body)
const figure = async (name: string, labels: Record<string, string> = {}): Promise<number | undefined> =>
  (await read()).get(name)?.samples.find((one) => JSON.stringify(one.labels) === JSON.stringify(labels))?.value

beforeAll(async () => {
  t = await startTestApp({ listen: true })
  await enrolAgent(t, { facts: { hostname: 'one' }, devices: [] })
})
afterAll(() => t.close())

describe('/metrics', () => {
  it('passes a strict parser and follows the conventions for names and units', async () => {
    await t.health.sample()
    await t.admin()
    const families = await read()
    for (const name of [
      'process_cpu_seconds_total',
      'process_resident_memory_bytes',
      'nodejs_eventloop_delay_seconds',
      'portcullis_build_info',
      'portcullis_http_request_duration_seconds',
      'portcullis_check_in_duration_seconds',
      'portcullis_db_pool_waiting',
      'portcullis_mails_waiting',
    ])
      expect([name, (families.get(name)?.samples.length ?? 0) > 0]).toEqual([name, true])
    // No metric family grows with hosts, people or paths.
    for (const { name, samples } of families.values())
      for (const label of samples.flatMap((one) => Object.keys(one.labels)))
        expect([name, label]).toEqual([
          name,
          expect.stringMatching(
            /^(?:operation|status|le|pool|state|subsystem|kind|outcome|channel|credential|group|sink|version|commit|node)$/,
          ),
        ])
  })

  it('shows the status of each subsystem', async () => {
    const samples = (await read()).get('portcullis_subsystem_status')?.samples ?? []
    expect(samples.map(({ labels }) => labels.subsystem)).toEqual([...subsystemNames])
    const of = (name: string) => samples.find(({ labels }) => labels.subsystem === name)?.value
    // The fake clock of the test is years ahead of the database clock.
    expect([of('asset stream'), of('database'), of('clock')]).toEqual([0, 1, 3])
  })

  it('counts hosts, events and requests', async () => {
    expect(await figure('portcullis_agents')).toBe(1)
    expect(await figure('portcullis_db_pool_connections_limit', { pool: 'serve' })).toBe(12)
    const events = (await figure('portcullis_events_appended_total')) ?? 0
    await enrolAgent(t, { facts: { hostname: 'two' }, devices: [] })
    t.clock.advance(2_000)
    await expect.poll(() => figure('portcullis_agents')).toBe(2)
    // The host enrolled and sent its inventory.
    expect(await figure('portcullis_events_appended_total')).toBe(events + 2)
    t.jobs.handle('counted', { run: async () => 'done' })
    await t.db.transaction((tx) => t.jobs.enqueue(tx, { userName: 'somebody' }, { kind: 'counted', title: 'Count' }))
    await t.jobs.drain()
    expect(await figure('portcullis_jobs_ended_total', { kind: 'counted', outcome: 'completed' })).toBe(1)
  })

  it('omits figures of the database while it is unavailable, and answers in time', async () => {
    const away = await startTestApp({ listen: true })
    await away.db.close()
    // Prometheus abandons a scrape after ten seconds.
    const answer = await fetch(`${away.address}/metrics`, { signal: AbortSignal.timeout(9_000) })
    const families = readExposition(await answer.text())
    expect(families.get('portcullis_agents')?.samples).toEqual([])
    expect(families.get('process_cpu_seconds_total')?.samples).toHaveLength(1)
    const status = families.get('portcullis_subsystem_status')?.samples
    expect(status?.find(({ labels }) => labels.subsystem === 'database')?.value).toBe(3)
    await away.close().catch(() => {})
  })

  it('has every metric of the dashboard', async () => {
    const families = await read()
    const known = new Set(
      [...families.values()].flatMap(({ name, type }) =>
        type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
      ),
    )
    const { panels } = JSON.parse(readFileSync(dashboard, 'utf8')) as {
      panels: { title: string; targets?: { expr: string }[] }[]
    }
    const asked = panels.flatMap(({ targets = [] }) =>
      targets.flatMap(({ expr }) => expr.match(/\b(?:portcullis|process|nodejs)_\w+/g) ?? []),
    )
    expect(asked.length).toBeGreaterThan(15)
    for (const name of asked) expect([name, known.has(name)]).toEqual([name, true])
  })
})

describe('the parser of the test', () => {
  it.each([
    ['no end', '# HELP a A.\n# TYPE a gauge\na 1'],
    ['no help', '# TYPE a gauge\na 1\n'],
    ['no number', '# HELP a A.\n# TYPE a gauge\na NaN1\n'],
    ['twice', '# HELP a A.\n# TYPE a gauge\na 1\na 1\n'],
    ['a counter without _total', '# HELP a A.\n# TYPE a counter\na 1\n'],
    ['milliseconds', '# HELP a_ms A.\n# TYPE a_ms gauge\na_ms 1\n'],
    ['an open label', '# HELP a A.\n# TYPE a gauge\na{b="c} 1\n'],
    ['a bare quote in a label', '# HELP a A.\n# TYPE a gauge\na{b="c"d"} 1\n'],
    [
      'buckets that fall',
      '# HELP a A.\n# TYPE a histogram\na_bucket{le="1"} 2\na_bucket{le="+Inf"} 1\na_sum 1\na_count 1\n',
    ],
  ])('refuses %s', (_what, text) => expect(() => readExposition(text)).toThrow())
})
