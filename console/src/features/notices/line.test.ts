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
}

describe('a notice as it is drawn', () => {
  it('leads to its host, its model, or the events', () => {
    expect(lineOfRisk(risk).about).toEqual({ href: '/agents/a%20b', words: 'Open the host' })
    const model = {
      ...risk,
      entityType: 'Model',
      entityId: '046D:C52B',
      link: '/peripherals?vid=046D&pid=C52B',
    } as const
    expect(lineOfRisk(model).about).toEqual({ href: model.link, words: 'Devices of this model' })
    const many = { ...risk, entityType: 'Many', entityId: '', link: '/events?q=blocked' } as const
    expect(lineOfRisk(many).about).toEqual({ href: many.link, words: 'The events, one by one' })
  })

  it.each(['javascript:alert(1)', '//evil.example', '/\\evil.example', 'https://evil.example', ''])(
    'never leads out of the console: %s',
    (link) => expect(lineOfRisk({ ...risk, entityType: 'Many', entityId: '', link }).about).toBeNull(),
  )

  it('has the severity as a word, and a shape by its number', () => {
    expect(lineOfRisk(risk)).toMatchObject({ severity: 'red', word: 'Critical' })
    expect(lineOfRisk({ ...risk, severity: 4, severityString: 'Warning' })).toMatchObject({ severity: 'amber' })
    const part = { ...risk, name: 'disk', status: 'OK' as const, description: '' }
    expect(lineOfHealth(part)).toMatchObject({ severity: 'neutral', word: 'OK', title: 'disk' })
    expect(lineOfHealth({ ...part, status: 'Error' })).toMatchObject({ severity: 'red', word: 'Error' })
  })

  it('says how often it happened, when that was more than once', () => {
    expect([1, 2, 10_000].map(timesText)).toEqual(['', '2×', '10,000×'])
  })
})

describe('the newest', () => {
  it('are those that happened last, pinned or not, of both lists', () => {
    const at = (id: number, second: number, list: 'risk' | 'health' = 'risk') => ({
      list,
      line: { ...lineOfRisk(risk), id, lastAt: `2031-05-04T10:14:0${second}Z` },
    })
    const newest = newestOf([at(1, 9), at(2, 1), at(3, 5, 'health'), at(4, 5), at(5, 0)], 3)
    expect(newest.map(({ list, line }) => `${list} ${line.id}`)).toEqual(['risk 1', 'risk 4', 'health 3'])
  })
})

describe('the query', () => {
  it('is the filters by their names, and the search as part of a title', () => {
    expect(riskQueryOf({ filters: { kind: 'blocked' }, search: 'KIOSK' })).toEqual({ kind: 'blocked', title: 'KIOSK' })
    expect(riskQueryOf({ filters: {}, search: '' })).toEqual({})
  })
})
