import type { RiskNotification } from '@portcullis/contract'
import { describe, expect, it } from 'vitest'
import { lineOfHealth, lineOfRisk, timesText } from './line.ts'
import { newestOf } from './newest.ts'
import { riskQueryOf } from './notices.view.ts'

const risk: RiskNotification = {
  id: 7,
  kind: 'attackTool',
  title: 'Attack tool <img src=x> on KIOSK',
  description: 'what happened',
  severity: 2,
  severityString: 'Critical',
  creationTime: '2031-05-04T10:11:12.345Z',
  lastTime: '2031-05-04T10:14:02.120Z',
  count: 2,
  isRead: false,
  isPinned: true,
  isDismissed: false,
  entityType: 'Agent',
  entityId: 'a b',
  link: '/agents/a b',
  hosts: [],
  hostsCount: 0,
}

describe('the line of an alert', () => {
  it('links to the host, the model or the events', () => {
    expect(lineOfRisk(risk).about).toEqual({ href: '/agents/a%20b', label: 'Open host' })
    const model = {
      ...risk,
      entityType: 'Model',
      entityId: '046D:C52B',
      link: '/peripherals?vid=046D&pid=C52B',
    } as const
    expect(lineOfRisk(model).about).toEqual({ href: model.link, label: 'Devices of this model' })
    const many = { ...risk, entityType: 'Many', entityId: '', link: '/events?q=blocked' } as const
    expect(lineOfRisk(many).about).toEqual({ href: many.link, label: 'Show events' })
  })

  it.each(['javascript:alert(1)', '//evil.example', '/\\evil.example', 'https://evil.example', ''])(
    'does not link outside the console: %s',
    (link) => expect(lineOfRisk({ ...risk, entityType: 'Many', entityId: '', link }).about).toBeNull(),
  )

  it('shows the severity as text and as a shape', () => {
    expect(lineOfRisk(risk)).toMatchObject({ severity: 'red', severityLabel: 'Critical' })
    expect(lineOfRisk({ ...risk, severity: 4, severityString: 'Warning' })).toMatchObject({ severity: 'amber' })
    const part = { ...risk, name: 'disk', status: 'OK' as const, description: '' }
    expect(lineOfHealth(part)).toMatchObject({ severity: 'neutral', severityLabel: 'OK', title: 'disk' })
    expect(lineOfHealth({ ...part, status: 'Error' })).toMatchObject({ severity: 'red', severityLabel: 'Error' })
  })

  it('shows the count above one', () => {
    expect([1, 2, 10_000].map(timesText)).toEqual(['', '2×', '10,000×'])
  })
})

describe('newestOf', () => {
  it('returns the latest of both lists, pinned or not', () => {
    const at = (id: number, second: number, list: 'risk' | 'health' = 'risk') => ({
      list,
      line: { ...lineOfRisk(risk), id, lastAt: `2031-05-04T10:14:0${second}Z` },
    })
    const newest = newestOf([at(1, 9), at(2, 1), at(3, 5, 'health'), at(4, 5), at(5, 0)], 3)
    expect(newest.map(({ list, line }) => `${list} ${line.id}`)).toEqual(['risk 1', 'risk 4', 'health 3'])
  })
})

describe('riskQueryOf', () => {
  it('passes filters by name and the search as part of a title', () => {
    expect(riskQueryOf({ filters: { kind: 'blocked' }, search: 'KIOSK' })).toEqual({ kind: 'blocked', title: 'KIOSK' })
    expect(riskQueryOf({ filters: {}, search: '' })).toEqual({})
  })
})
