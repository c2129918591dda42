import type { Connection } from '@portcullis/contract'
import { describe, expect, it } from 'vitest'
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
  it('sends nothing of a stored one that was not changed', () => {
    expect(changeOf(draftOf(stored), stored)).toEqual({ computerName: 'build-7' })
  })

  it('asks about changed tags once the computer is a host', () => {
    const draft = { ...draftOf(stored), hashtags: ['lab', 'open'] }
    expect(tagChangesOf(draft, stored)).toEqual([])
    expect(tagChangesOf(draft, { ...stored, uuid: 'h1' })).toEqual([
      { effect: 'add', hashtags: ['open'], uuids: ['h1'] },
      { effect: 'remove', hashtags: ['kiosk'], uuids: ['h1'] },
    ])
    expect(tagChangesOf(draftOf(stored), { ...stored, uuid: 'h1' })).toEqual([])
  })

  it('never holds a stored secret, and sends one only when it was typed', () => {
    expect(draftOf(stored)).toMatchObject({ password: '', privateKey: '', passphrase: '' })
    expect(changeOf({ ...draftOf(stored), password: 'new' }, stored)).toEqual({
      computerName: 'build-7',
      password: 'new',
    })
  })

  it('takes a stored secret away only when told to', () => {
    expect(changeOf({ ...draftOf(stored), removed: ['password'] }, stored)).toEqual({
      computerName: 'build-7',
      password: '',
    })
    // What is typed wins over what was to go.
    expect(changeOf({ ...draftOf(stored), removed: ['password'], password: 'x' }, stored).password).toBe('x')
  })

  it('drops what was typed of own credentials when the defaults are chosen', () => {
    const draft = { ...draftOf(stored), isOverrideDefaults: false, password: 'typed', intervalMinutes: 5 }
    expect(changeOf(draft, stored)).toEqual({ computerName: 'build-7', isOverrideDefaults: false })
  })

  it('renames by the old name, and is tried under the new one', () => {
    const draft = { ...draftOf(stored), computerName: ' build-8 ' }
    expect(changeOf(draft, stored)).toEqual({ computerName: 'build-7', newComputerName: 'build-8' })
    expect(inputOf(draft, stored)).toEqual({ computerName: 'build-8' })
  })

  it('keeps the order of tags out of what changed', () => {
    expect(changeOf({ ...draftOf(stored), hashtags: ['kiosk', 'lab'] }, stored).hashtags).toBeUndefined()
    expect(changeOf({ ...draftOf(stored), hashtags: ['kiosk'] }, stored).hashtags).toEqual(['kiosk'])
  })

  it('keeps typed secrets out of what is copied', () => {
    const body = inputOf({ ...draftOf(null), computerName: 'a', isOverrideDefaults: true, password: 'hunter2' }, null)
    expect(body.password).toBe('hunter2')
    expect(shownBody(body)).toEqual({ computerName: 'a', isOverrideDefaults: true, password: '…' })
  })

  it('gives an own port or interval up for the default', () => {
    expect(changeOf({ ...draftOf(stored), port: '', intervalMinutes: '' }, stored)).toEqual({
      computerName: 'build-7',
      port: 0,
      intervalMinutes: 0,
    })
    // One that never had any asks for nothing.
    expect(inputOf({ ...draftOf(null), computerName: 'a', isOverrideDefaults: true }, null)).toEqual({
      computerName: 'a',
      isOverrideDefaults: true,
    })
  })

  it('asks for a name before anything is sent', () => {
    expect(faultsOf(draftOf(stored))).toEqual({})
    expect(Object.keys(faultsOf({ ...draftOf(stored), computerName: ' ' }))).toEqual(['computerName'])
  })
})
