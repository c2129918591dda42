import { describe, expect, it } from 'vitest'
import type { Connection } from '#features/contract.ts'
import { changeOf, draftOf, faultsOf, inputOf, shownBody, tagChangesOf } from './connection-draft.ts'

const stored: Connection = {
  computerName: 'build-7',
  port: 2222,
  platform: 'linux',
  userName: 'inventory',
  hasPassword: true,
  hasPrivateKey: false,
  hasPassphrase: false,
  hostKeyFingerprint: 'SHA256:p2QAMXNIC1TJYWeIOttrVc98/R1BUFWu3/LiyKgUfQM',
  shownHostKeyFingerprint: '',
  hostKeyTrust: 'Confirmed',
  intervalMinutes: 30,
  isOverrideDefaults: true,
  hashtags: 'lab,kiosk',
  isRegistered: true,
  isConfirmed: true,
  uuid: '',
  createdAt: '2026-01-01T00:00:00Z',
  changedAt: '2026-01-01T00:00:00Z',
}

describe('draft of a connection', () => {
  it('sends nothing for an unchanged connection', () => {
    expect(changeOf(draftOf(stored), stored)).toEqual({ computerName: 'build-7' })
  })

  it('asks about changed tags once the host is known', () => {
    const draft = { ...draftOf(stored), hashtags: ['lab', 'open'] }
    expect(tagChangesOf(draft, stored)).toEqual([])
    expect(tagChangesOf(draft, { ...stored, uuid: 'h1' })).toEqual([
      { effect: 'add', hashtags: ['open'], uuids: ['h1'] },
      { effect: 'remove', hashtags: ['kiosk'], uuids: ['h1'] },
    ])
    expect(tagChangesOf(draftOf(stored), { ...stored, uuid: 'h1' })).toEqual([])
  })

  it('never contains a stored secret, and sends a secret only if it was typed', () => {
    expect(draftOf(stored)).toMatchObject({ password: '', privateKey: '', passphrase: '' })
    expect(changeOf({ ...draftOf(stored), password: 'new' }, stored)).toEqual({
      computerName: 'build-7',
      password: 'new',
    })
  })

  it('removes a stored secret only on request', () => {
    expect(changeOf({ ...draftOf(stored), removed: ['password'] }, stored)).toEqual({
      computerName: 'build-7',
      password: '',
    })
    // A typed secret takes precedence over its removal.
    expect(changeOf({ ...draftOf(stored), removed: ['password'], password: 'x' }, stored).password).toBe('x')
  })

  it('drops entered credentials when the defaults are chosen', () => {
    const draft = { ...draftOf(stored), isOverrideDefaults: false, password: 'typed', intervalMinutes: 5 }
    expect(changeOf(draft, stored)).toEqual({ computerName: 'build-7', isOverrideDefaults: false })
  })

  it('identifies a renamed host by its old name and tests it under the new one', () => {
    const draft = { ...draftOf(stored), computerName: ' build-8 ' }
    expect(changeOf(draft, stored)).toEqual({ computerName: 'build-7', newComputerName: 'build-8' })
    expect(inputOf(draft, stored)).toEqual({ computerName: 'build-8' })
  })

  it('ignores the order of tags', () => {
    expect(changeOf({ ...draftOf(stored), hashtags: ['kiosk', 'lab'] }, stored).hashtags).toBeUndefined()
    expect(changeOf({ ...draftOf(stored), hashtags: ['kiosk'] }, stored).hashtags).toEqual(['kiosk'])
  })

  it('keeps typed secrets out of copied commands', () => {
    const body = inputOf({ ...draftOf(null), computerName: 'a', isOverrideDefaults: true, password: 'hunter2' }, null)
    expect(body.password).toBe('hunter2')
    expect(shownBody(body)).toEqual({ computerName: 'a', isOverrideDefaults: true, password: '…' })
  })

  it('returns to the default port and interval', () => {
    expect(changeOf({ ...draftOf(stored), port: '', intervalMinutes: '' }, stored)).toEqual({
      computerName: 'build-7',
      port: 0,
      intervalMinutes: 0,
    })
    // A new connection that overrides nothing sends no credentials.
    expect(inputOf({ ...draftOf(null), computerName: 'a', isOverrideDefaults: true }, null)).toEqual({
      computerName: 'a',
      isOverrideDefaults: true,
    })
  })

  it('requires a name', () => {
    expect(faultsOf(draftOf(stored))).toEqual({})
    expect(Object.keys(faultsOf({ ...draftOf(stored), computerName: ' ' }))).toEqual(['computerName'])
  })
})
