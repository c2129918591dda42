import { describe, expect, it } from 'vitest'
import { matchesEntry, paletteEntries, viewEntries } from './palette-entries.ts'

describe('the palette', () => {
  it.each([
    ['SMTP', '/settings/mail'],
    ['ldap', '/settings/directory'],
    ['SIEM', '/settings/notifications'],
    ['syslog', '/settings/notifications'],
    ['arm', '/agents?Status=Free'],
    ['approve', '/approvals'],
    ['retention', '/settings/product'],
    ['rubber ducky', '/peripherals?isKnownAttackTool=true'],
    ['add rule', '/policy?open=new'],
    ['allowlist', '/policy'],
    ['sso', '/settings/identity'],
    ['log', '/settings/audit'],
  ])('finds a place for %s', (query, to) =>
    expect(paletteEntries.filter((entry) => matchesEntry(query, entry)).map((entry) => entry.to)).toContain(to),
  )

  it('finds saved views by their name and page, with the permission of the page', () => {
    const view = {
      id: '1',
      owner: 'admin',
      isOwn: true,
      isPinned: false,
      isShared: true,
      changedAt: '2031-05-04T10:11:12.345Z',
    }
    const entries = viewEntries([
      { ...view, page: '/agents', name: 'Armed kiosks', search: 'Status=Armed' },
      { ...view, id: '2', page: '/removed', name: 'Armed kiosks', search: '' },
    ])
    expect(entries).toMatchObject([{ id: 'view-1', to: '/agents?Status=Armed', permission: 'fleet:read' }])
    expect(entries.filter((entry) => matchesEntry('agents KIOSK', entry))).toHaveLength(1)
  })

  it('has unique ids and finds nothing for other text', () => {
    expect(new Set(paletteEntries.map(({ id }) => id)).size).toBe(paletteEntries.length)
    expect(paletteEntries.filter((entry) => matchesEntry('OFF-PC-0020', entry))).toEqual([])
  })
})
