import { describe, expect, it } from 'vitest'
import { matchesEntry, paletteEntries } from './palette-entries.ts'

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

  it('has unique ids and finds nothing for other text', () => {
    expect(new Set(paletteEntries.map(({ id }) => id)).size).toBe(paletteEntries.length)
    expect(paletteEntries.filter((entry) => matchesEntry('OFF-PC-0020', entry))).toEqual([])
  })
})
