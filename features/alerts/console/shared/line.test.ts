import { describe, expect, it } from 'vitest'
import type { RiskNotification } from '#features/contract.ts'
import { foremostOf } from './foremost.ts'
import { lineOfHealth, lineOfRisk, timesText, titleParts } from './line.ts'

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
  state: 'open',
  owner: '',
  snoozedUntil: '',
  verdict: '',
  entityType: 'Agent',
  entityId: 'a b',
  link: '/agents/a b',
  hosts: [],
  hostsCount: 0,
}

describe('the line of an alert', () => {
  it('names the model only of an alert about one model', () => {
    expect(lineOfRisk({ ...risk, entityType: 'Model', entityId: '046D:C52B' }).model).toEqual({
      vid: '046D',
      pid: 'C52B',
    })
    expect(lineOfRisk({ ...risk, entityType: 'Agent', entityId: '046D:C52B' }).model).toBeNull()
    expect(lineOfRisk({ ...risk, entityType: 'Model', entityId: '"><img>' }).model).toBeNull()
  })

  it.each(['javascript:alert(1)', '//evil.example', '/\\evil.example', 'https://evil.example', ''])(
    'does not link outside the console: %s',
    (link) => expect(lineOfRisk({ ...risk, link }).page).toBeNull(),
  )

  it('shows the severity as text and as a shape', () => {
    expect(lineOfRisk(risk)).toMatchObject({ severity: 'red', severityLabel: 'Critical' })
    expect(lineOfRisk({ ...risk, severity: 4, severityString: 'Warning' })).toMatchObject({ severity: 'amber' })
    const part = { ...risk, name: 'disk', status: 'OK' as const, description: '' }
    expect(lineOfHealth(part)).toMatchObject({ severity: 'neutral', severityLabel: 'OK', title: 'disk' })
    expect(lineOfHealth({ ...part, status: 'Error' })).toMatchObject({ severity: 'red', severityLabel: 'Error' })
  })

  it('separates the name of the device from the cause and the hosts', () => {
    const model = { vid: '03EB', pid: '2401' }
    expect(titleParts({ model, title: 'Hak5 (Bash Bunny) (attack tool) on WS (lab)' })).toEqual([
      'Hak5 (Bash Bunny)',
      '(attack tool) on WS (lab)',
    ])
    expect(titleParts({ model, title: 'Stick (blocked by policy)' })).toEqual(['Stick', '(blocked by policy)'])
    expect(titleParts({ model: null, title: 'API token (x) expires' })).toEqual(['API token (x) expires', ''])
    expect(titleParts({ model, title: 'anything' })).toEqual(['anything', ''])
  })

  it('shows the count above one', () => {
    expect([1, 2, 10_000].map(timesText)).toEqual(['', '2×', '10,000×'])
  })
})

describe('foremostOf', () => {
  it('returns the most severe alerts of both lists, then the latest, pinned or not', () => {
    const at = (id: number, second: number, severity: number, list: 'risk' | 'health' = 'risk') => ({
      list,
      line: { ...lineOfRisk({ ...risk, severity }), id, lastAt: `2031-05-04T10:14:0${second}Z` },
    })
    const foremost = foremostOf([at(1, 9, 4), at(2, 1, 2), at(3, 5, 3, 'health'), at(4, 5, 3), at(5, 0, 4)], 4)
    expect(foremost.map(({ list, line }) => `${list} ${line.id}`)).toEqual(['risk 2', 'risk 4', 'health 3', 'risk 1'])
  })
})
