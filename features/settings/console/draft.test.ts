import { expect, it } from 'vitest'
import { configGroups } from '#features/contract.ts'
import {
  bodyOf,
  differencesOf,
  edited,
  faultOf,
  isMoved,
  itemsOf,
  noEdits,
  rereadBy,
  shownBody,
  shownText,
  withLabels,
} from './draft.ts'

const stored = {
  SMTP_HOST: 'mail.example.org',
  SMTP_PORT: '587',
  SMTP_SECURITY: 'starttls',
  SMTP_USER: '',
  SMTP_PASSWORD: '********',
  SMTP_FROM: 'a@example.org',
  SMTP_CA: '',
}
const edits = (texts: Record<string, string>, removed: string[] = []) => ({ texts, removed, read: {} })

it('sends only changed values, and never the mask of a secret', () => {
  expect(bodyOf('smtp', stored, noEdits)).toEqual({})
  expect(bodyOf('smtp', stored, edits({ SMTP_HOST: 'mail.example.org', SMTP_PASSWORD: '' }))).toEqual({})
  expect(bodyOf('smtp', stored, edits({ SMTP_HOST: '', SMTP_PASSWORD: 'new' }))).toEqual({
    SMTP_HOST: '',
    SMTP_PASSWORD: 'new',
  })
  expect(shownText('SMTP_PASSWORD', stored, noEdits)).toBe('')
})

it('removes a secret only if there is one and no new one is entered', () => {
  expect(bodyOf('smtp', stored, edits({}, ['SMTP_PASSWORD']))).toEqual({ SMTP_PASSWORD: null })
  expect(bodyOf('smtp', { ...stored, SMTP_PASSWORD: '' }, edits({}, ['SMTP_PASSWORD']))).toEqual({})
  expect(bodyOf('smtp', stored, edits({ SMTP_PASSWORD: 'new' }, ['SMTP_PASSWORD']))).toEqual({ SMTP_PASSWORD: 'new' })
})

it('shows what happens to secrets but not their values', () => {
  expect(differencesOf({ SMTP_PASSWORD: 'new', SMTP_PORT: '25' }, stored)).toEqual([
    { name: 'SMTP_PASSWORD', from: 'set', to: 'replaced' },
    { name: 'SMTP_PORT', from: '587', to: '25' },
  ])
  expect(differencesOf({ SMTP_PASSWORD: null }, stored)).toEqual([{ name: 'SMTP_PASSWORD', from: 'set', to: '' }])
  expect(shownBody({ SMTP_PASSWORD: 'new', SMTP_PORT: '25' })).toEqual({
    SMTP_PASSWORD: '$SMTP_PASSWORD',
    SMTP_PORT: '25',
  })
})

it('asks for confirmation when a configured target moves, but not at the first entry', () => {
  const names = ['SMTP_HOST', 'SMTP_PORT']
  expect(isMoved({ SMTP_PORT: '25' }, stored, names)).toBe(true)
  expect(isMoved({ SMTP_FROM: 'b@example.org' }, stored, names)).toBe(false)
  expect(isMoved({ SMTP_HOST: 'mail.example.org' }, { ...stored, SMTP_HOST: '' }, names)).toBe(false)
})

it('replaces names of items with their labels', () => {
  expect(withLabels('is needed again, because SMTP_HOST changes where it is sent')).toBe(
    'is needed again, because “Server” changes where it is sent',
  )
  expect(withLabels('is no DN_OF_NOTHING')).toBe('is no DN_OF_NOTHING')
})

it('refuses numbers out of range before asking the server', () => {
  const { SMTP_PORT } = configGroups.smtp.items
  expect(['1', '65535', ''].map((text) => faultOf(SMTP_PORT, text))).toEqual([null, null, null])
  for (const text of ['0', '65536', '2.5', '-1', 'x', '1e3']) expect(faultOf(SMTP_PORT, text), text).not.toBeNull()
  const share = configGroups.vendorA.items.VENDORA_UNCOMMON_MAX_SHARE
  expect(['0', '0.01', '1'].map((text) => faultOf(share, text))).toEqual([null, null, null])
  for (const text of ['1.01', '-0.1', 'x']) expect(faultOf(share, text), text).not.toBeNull()
})

it('has a field for every item of every group', () => {
  expect(itemsOf('ldap').map(([name]) => name)).toEqual(Object.keys(configGroups.ldap.items))
})

it('keeps the value that the person first saw, until a conflict shows a later one', () => {
  const later = { ...stored, SMTP_HOST: 'other.example.org' }
  const began = edited(edited(noEdits, 'SMTP_HOST', stored), 'SMTP_HOST', later)
  expect(began.read).toEqual({ SMTP_HOST: 'mail.example.org' })
  expect(rereadBy(began, later).read).toEqual({ SMTP_HOST: 'other.example.org' })
})
