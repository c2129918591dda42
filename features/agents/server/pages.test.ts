import { storageStick } from '@portcullis/domain/testing'
import { createDb, type Db } from '@portcullis/platform/server/db/db.ts'
import { compileList, pageStatement } from '@portcullis/platform/server/list/compile.ts'
import { createLog } from '@portcullis/platform/server/log.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, pageOf } from '@portcullis/server/test/builders.ts'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { Agent } from '#features/contract.ts'
import { agentsList } from './agents.read.ts'

let t: TestApp
let db: Db

beforeAll(async () => {
  t = await startTestApp({ listen: true })
  db = createDb({
    connection: { ...inject('postgres'), database: t.database },
    max: 1,
    name: 'plans',
    log: createLog('silent'),
    statementTimeoutMs: 10_000,
  })
  const made = await Promise.all(
    Array.from({ length: 12 }, (_, i) =>
      enrolAgent(t, {
        facts: {
          hostname: `host-${i}`,
          address: `10.0.${i % 3}.${i}`,
          osName: i % 2 === 0 ? 'Debian 12' : 'Ubuntu 24',
        },
        devices: i % 3 === 0 ? [storageStick({ portPath: '1-1' })] : [],
      }),
    ),
  )
  await (await t.admin()).post('/prime/webui/generalconfig/addhashtags', {
    hashtags: ['lab'],
    elementIds: made.filter((_, i) => i % 4 === 0).map(({ agentId }) => agentId),
    entityType: 'Agent',
  })
  const free = { isSystemArmed: 'free' }
  await (await t.admin()).post(
    '/prime/webui/agents/configuration',
    made.filter((_, i) => i % 5 === 0).map(({ agentId: uuid }) => ({ uuid, agentConfigViewResource: free })),
  )
})
afterAll(async () => {
  await db.close()
  await t.close()
})

const filters = [
  { GlobalSearch: 'host-1' },
  { GlobalSearch: '1' },
  { GlobalSearch: 'debian', Hashtags: 'lab' },
  { Hashtags: 'lab,none' },
  { LastUpdated: '2031-01-01..' },
  { OsVersion: 'debian', Severity: '>=10' },
  { IpAddress: '10.0.2' },
]
const sorts = [
  'hostIdentifier_desc',
  'osVersion_asc',
  'lastUpdated_desc',
  'pcModel_asc',
  'severity_desc,hostIdentifier_asc',
  'inAction_asc',
  'inAction_desc',
]

describe('the two query plans of a page', () => {
  it.each(filters)('find the same rows for %o', async (filter) => {
    for (const SortBy of sorts) {
      const list = compileList(agentsList, { ...filter, SortBy })
      for (const [offset, limit] of [
        [0, 50],
        [1, 2],
      ] as const) {
        const [filtered, walked] = await Promise.all(
          [true, false].map((isFirst) =>
            db.query<{ row: string }>(pageStatement(agentsList, list, offset, limit, isFirst)),
          ),
        )
        expect(filtered?.length, SortBy).toBeGreaterThan(0)
        expect(walked, SortBy).toEqual(filtered)
      }
    }
  })
})

describe('a page that was requested before', () => {
  const later = (): void => t.clock.advance(1_001)
  const pageFor = (query: string) => pageOf<Agent>(t, `agents?${query}`)

  it.each(['', 'HostIdentifier=host', 'GlobalSearch=host-1', 'Hashtags=lab&OsVersion=debian'])(
    'is the same with recomputed counts: %s',
    async (filter) => {
      const whole = await pageFor(`PageSize=1000&${filter}`)
      for (const [size, number] of [
        [5, 1],
        [2, 2],
        [1, 1],
        [1000, 1],
        [4, 50],
      ] as const) {
        later()
        expect(await pageFor(`PageSize=${size}&PageNumber=${number}&${filter}`)).toEqual({
          ...whole,
          data: whole.data.slice((number - 1) * size, number * size),
        })
      }
    },
  )

  it('contains and counts new hosts but not removed ones', async () => {
    const path = 'PageSize=2&HostIdentifier=added'
    const seen = async () => {
      const { recordsTotal, recordsFiltered, data } = await pageFor(path)
      return [recordsTotal, recordsFiltered, data.map((a) => a.hostIdentifier)]
    }
    expect(await seen()).toEqual([12, 0, []])
    const added = []
    for (const i of [1, 2, 3]) added.push(await enrolAgent(t, { facts: { hostname: `added-${i}` } }))
    later()
    expect(await seen()).toEqual([15, 3, ['added-1', 'added-2']])
    await (await t.admin()).post(
      '/prime/webui/agents/deleteAgents',
      added.slice(1).map(({ agentId }) => agentId),
    )
    later()
    expect(await seen()).toEqual([13, 1, ['added-1']])
  })
})
