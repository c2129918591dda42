import { expect, it } from 'vitest'
import type { AssetMessage } from '#features/contract.ts'
import { aboutOf, lagText, newestFirst } from './messages.ts'

const of = (data: unknown) => ({ subject: 'agent/a', data }) as AssetMessage

it('returns the newest message first and skips empty lines', () => {
  expect(newestFirst('{"id":"1"}\n\n{"id":"2"}\n').map(({ id }) => id)).toEqual(['2', '1'])
  expect(newestFirst('')).toEqual([])
})

it('names the object of a message', () => {
  expect(aboutOf(of({ hostIdentifier: 'front-desk' }))).toBe('front-desk')
  expect(aboutOf(of({ deviceID: 'USB\\1', product: 'Stick' }))).toBe('Stick')
  expect(aboutOf(of({ deviceID: 'USB\\1', product: '' }))).toBe('USB\\1')
  expect(aboutOf(of({ uuid: 'a' }))).toBe('agent/a')
})

it('describes the lag of a consumer', () => {
  expect([0, 1, 1234].map(lagText)).toEqual(['up to date', '1 message behind', '1,234 messages behind'])
})
