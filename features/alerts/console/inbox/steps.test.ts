import { describe, expect, it } from 'vitest'
import type { RiskNotification } from '#features/contract.ts'
import { lineOfRisk } from '../shared/line.ts'
import { riskOrderOf, riskQueryOf } from './alerts.view.ts'
import { stepsOf } from './steps.ts'

const alert = (change: Partial<RiskNotification>): RiskNotification => ({
  id: 7,
  kind: 'blocked',
  title: 'Stick (blocked by policy) on 2 hosts',
  description: '',
  severity: 3,
  severityString: 'Error',
  creationTime: '2031-05-04T10:11:12.345Z',
  lastTime: '2031-05-04T10:14:02.120Z',
  count: 2,
  isRead: false,
  isPinned: false,
  isDismissed: false,
  state: 'open',
  owner: '',
  snoozedUntil: '',
  verdict: '',
  entityType: 'Model',
  entityId: '0781:5567',
  link: '/peripherals?vid=0781&pid=5567',
  hosts: [
    { uuid: 'a b', hostIdentifier: 'WS-1' },
    { uuid: 'c', hostIdentifier: 'WS-2' },
  ],
  hostsCount: 2,
  ...change,
})
const steps = (change: Partial<RiskNotification>, canDecide = true) =>
  stepsOf(lineOfRisk(alert(change)), canDecide).map((step) => `${step.label} ${step.decide ?? step.href}`)

describe('stepsOf', () => {
  it('offers the steps that fit the cause, and an approval never first', () => {
    expect(steps({})).toEqual([
      'Review devices /peripherals?vid=0781&pid=5567&present=true',
      'Approve… allow',
      'Show hosts /agents?Alert=7',
    ])
    expect(steps({ kind: 'attackTool' }).slice(0, 2)).toEqual(['Deny… deny', 'Accept finding… accept'])
    expect(steps({ kind: 'attackTool' }).join()).not.toContain('Approve')
    expect(steps({ kind: 'whitelistViolation' }).slice(1, 3)).toEqual(['Approve… allow', 'Deny… deny'])
    expect(steps({ kind: 'vulnerable' })[0]).toMatch(/^Review devices/)
  })

  it('offers no decision to a reader, and none about many models', () => {
    expect(steps({ kind: 'whitelistViolation' }, false).map((step) => step.split(' ')[0])).toEqual(['Review', 'Show'])
    expect(steps({ entityType: 'Many', entityId: '', link: '/events?globalSearch=x' })).toEqual([
      'Show hosts /agents?Alert=7',
      'Show events /events?globalSearch=x',
    ])
  })

  it('opens the only host, and the page of an account', () => {
    const [host] = alert({}).hosts
    const only = {
      hosts: host === undefined ? [] : [host],
      hostsCount: 1,
      entityType: 'Agent',
      entityId: 'a b',
    } as const
    expect(steps({ ...only, hosts: [...only.hosts], kind: 'keyClone', link: '/agents/a b' })).toEqual([
      'Open host /agents/a%20b',
    ])
    const account = { hosts: [], hostsCount: 0, entityType: 'Account', entityId: '' } as const
    expect(steps({ ...account, hosts: [], kind: 'tokenExpiring', link: '/settings/tokens' })).toEqual([
      'Open list /settings/tokens',
    ])
  })
})

describe('the query of the list', () => {
  it('passes filters by name and the search', () => {
    expect(riskQueryOf({ filters: { kind: 'blocked' }, search: 'KIOSK' }, 0)).toEqual({
      kind: 'blocked',
      search: 'KIOSK',
    })
    expect(riskQueryOf({ filters: {}, search: '' }, 0)).toEqual({})
  })

  it('has the most severe alerts first unless the address names another order', () => {
    expect(['', 'x', 'lasttime_desc'].map(riskOrderOf)).toEqual(['severity_asc', 'severity_asc', 'lastTime_desc'])
  })
})
