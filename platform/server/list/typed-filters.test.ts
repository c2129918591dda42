/** Types what people type into every filter that the console offers: none of it is an error. */

import {
  agentList,
  alertList,
  approvalList,
  auditList,
  commandList,
  connectionDetailsStatus,
  connectionStatusList,
  deliveryList,
  eventList,
  getAgents,
  getAuditRecords,
  getEvents,
  getPeripheralModels,
  getPeripherals,
  healthChangeList,
  healthHistory,
  listCommands,
  listDeliveries,
  listPolicyRules,
  listQuarantines,
  listReportRuns,
  listRiskNotices,
  modelList,
  peripheralList,
  policyApprovals,
  quarantineList,
  reportRunList,
  ruleList,
} from '@portcullis/features/contract.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { seedHosts } from '@portcullis/server/test/list-hosts.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { filtersOf, type ListDefinition } from '../../contract/list.ts'
import type { AnyOperation } from '../../contract/operation.ts'

let t: TestApp

beforeAll(async () => {
  t = await startTestApp({ listen: true })
  await seedHosts(t)
})
afterAll(() => t.close())

const lists: [ListDefinition, AnyOperation][] = [
  [agentList, getAgents],
  [peripheralList, getPeripherals],
  [modelList, getPeripheralModels],
  [eventList, getEvents],
  [alertList, listRiskNotices],
  [auditList, getAuditRecords],
  [approvalList, policyApprovals],
  [ruleList, listPolicyRules],
  [commandList, listCommands],
  [connectionStatusList, connectionDetailsStatus],
  [deliveryList, listDeliveries],
  [healthChangeList, healthHistory],
  [quarantineList, listQuarantines],
  [reportRunList, listReportRuns],
]

const words = [
  ...['Kingston', 'kingston', 'KINGSTON', 'SanDisk', 'Hak5', 'rubber ducky', 'Logitech', 'YubiKey', 'Genuine Intel'],
  ...['0951', '0951:1666', '0951:', ':1666', '0951/1666', '951', '46D', 'ffff:ffff', '046d c52b', '0x0951', 'VID_0951'],
  ...['web-1', 'OFF-PC-0020', 'kiosk', 'srv.example.org', '10.', '10.0.0.1', '10.0.0.0/8', '::1', 'fe80::1%eth0'],
  ...[
    '00:1b:44:11:3a:b7',
    '00-1B-44-11-3A-B7',
    '4C530001230711109141',
    'S/N 12 34',
    'none',
    'null',
    'undefined',
    'NaN',
  ],
  ...[
    'debian',
    'Debian 12',
    'Windows 11 Enterprise',
    'ubuntu 24.04',
    '1.2.3',
    'v1',
    '1',
    '-1',
    '0',
    '1e9',
    '9999999999999',
  ],
  ...[
    'true',
    'yes',
    'today',
    'yesterday',
    'last week',
    '2031-05-04',
    '2031-05-04..',
    'Armed',
    'critical',
    'alice',
    'root',
  ],
  ...[
    'storage',
    'mass storage',
    'keyboard',
    'hub',
    'attack tool',
    'not on the allowlist',
    'CVE-2019-13055',
    'a@b.example',
  ],
  ...[
    '%',
    '_',
    '%%',
    '\\',
    '\\\\',
    "'",
    "''",
    '"',
    '`',
    ';',
    '--',
    "x' or '1'='1",
    '$1',
    '{}',
    '[]',
    '()',
    '(a',
    'a)',
    '[a',
  ],
  ...[
    '*',
    '?',
    '^a',
    'a$',
    '.*',
    'a|b',
    'a+',
    '<b>',
    '<script>',
    '&amp;',
    '&',
    '=',
    '#',
    '#tag',
    '@',
    '!',
    '!a',
    '~',
    '/',
    '//',
  ],
  ...[
    ',',
    ',,',
    'a,b',
    ' a , b ',
    ' ',
    '  ',
    'a b',
    ' a',
    'a ',
    '-',
    '--x',
    '..',
    '...',
    ':',
    '::',
    '|',
    '||',
    '**',
    '+',
    '\t',
  ],
  ...[
    'ä',
    'Ä',
    'ß',
    'ẞ',
    'ı',
    'İ',
    'i̇',
    'Σ',
    'ς',
    '本',
    '日本語',
    'привет',
    'عربى',
    'עברית',
    '🔌',
    'é',
    'e\u0301',
    '\u00a0',
    '\u200b',
  ],
  ...[
    '\u202eabc',
    '\ufeff',
    'ﬁ',
    '¼',
    '½',
    '€',
    '£',
    '™',
    'x'.repeat(256),
    '%'.repeat(256),
    '本'.repeat(256),
    'a '.repeat(128),
  ],
]
const typed = [
  ...words,
  ...Array.from({ length: 40 }, (_, n) => `host-${n.toString(36)}${'a%_'.slice(0, n % 4)}`),
  ...Array.from({ length: 20 }, (_, n) => (n * 0x0d3b + 0x10).toString(16).padStart(4, '0')),
]

describe('a filter of the console', () => {
  it('has enough values to test', () => expect(new Set(typed).size).toBeGreaterThan(200))

  it.each(lists.map(([list, operation]) => [list.title, list, operation] as const))(
    'of %s accepts everything that its editor accepts',
    async (_title, list, operation) => {
      const filters = filtersOf(list).filter(
        ({ name, kind }) => list.table?.filters.includes(name) && ['text', 'id', 'tags'].includes(kind),
      )
      const admin = await t.admin()
      const refused: string[] = []
      const send = async (values: Record<string, string>) => {
        const query = new URLSearchParams({ PageSize: '1', ...values })
        const { statusCode, body } = await admin.get(`${operation.path}?${query}`)
        if (statusCode !== 200) refused.push(`${JSON.stringify(values)}: ${body}`)
      }
      for (const text of typed) {
        const values = filters
          .filter(
            ({ accepts, maxLength }) =>
              text.length <= maxLength && (accepts === undefined || new RegExp(accepts.form).test(text)),
          )
          .map(({ name }) => [name, text] as const)
        // Together, long values would exceed the maximum length of an address.
        if (text.length < 100) await send(Object.fromEntries(values))
        else for (const [name, value] of values) await send({ [name]: value })
      }
      expect(refused).toEqual([])
    },
  )
})
