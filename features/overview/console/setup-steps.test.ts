import { describe, expect, it } from 'vitest'
import { type SetUpFacts, setUpSteps } from './setup-steps.ts'

const channel = (isEnabled: boolean) => ({ isEnabled }) as never
const nothing: SetUpFacts = {
  hosts: 0,
  mfa: { totp: false, passkeys: [] },
  accounts: [{ userProfile: 10 }, { userProfile: 20 }],
  backups: { isEnabled: false },
  mailHost: '',
  groups: [{ isEnabled: true, channels: { email: channel(false), webhook: channel(false), syslog: channel(false) } }],
  packages: { releaseKey: null },
  policy: { rules: { allow: 0, deny: 0, grants: 1, inert: 0 } },
}
const all: SetUpFacts = {
  hosts: 1,
  mfa: { totp: true, passkeys: [] },
  accounts: [{ userProfile: 10 }, { userProfile: 10 }],
  backups: { isEnabled: true },
  mailHost: 'mail.example.org',
  groups: [{ isEnabled: true, channels: { email: channel(false), webhook: channel(false), syslog: channel(true) } }],
  packages: { releaseKey: { isInBuild: true } as never },
  policy: { rules: { allow: 0, deny: 1, grants: 0, inert: 0 } },
}
const done = (facts: SetUpFacts) => setUpSteps(facts).map(({ isDone }) => isDone)

describe('steps of the set-up', () => {
  it('are open on a new server', () => expect(done(nothing)).toEqual(Array(8).fill(false)))
  it('are done one by one', () => {
    for (const [i, name] of Object.keys(nothing).entries()) {
      const open = done({ ...all, [name]: nothing[name as keyof SetUpFacts] })
      expect(open.filter((one) => !one).length, `${i} ${name}`).toBe(1)
    }
    expect(done(all)).toEqual(Array(8).fill(true))
  })
  it('do not count a channel of a paused group', () => {
    const groups = all.groups?.map((group) => ({ ...group, isEnabled: false }))
    expect(done({ ...all, groups }).filter((one) => !one).length).toBe(1)
  })
  it('are left out while the account may not read them', () => {
    expect(setUpSteps({ ...nothing, accounts: undefined, packages: undefined }).length).toBe(6)
  })
})
