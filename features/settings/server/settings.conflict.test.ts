import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { pageOf } from '@portcullis/server/test/builders.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ConfigSaved, ConfigVersion } from '#features/contract.ts'

const base = '/prime/webui/generalconfig'
let t: TestApp
beforeAll(async () => {
  t = await startTestApp()
})
afterAll(() => t.close())

const post = async (path: string, body: unknown) => (await t.admin()).post(`${base}/${path}`, body)
const save = async (path: string, body: unknown): Promise<ConfigSaved> => {
  const answer = await post(path, body)
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json()
}
const refused = async (path: string, body: unknown): Promise<[number, string]> => {
  const answer = await post(path, body)
  return [answer.statusCode, answer.json().detail ?? '']
}
const history = async (): Promise<ConfigVersion[]> => (await pageOf<ConfigVersion>(t, 'generalconfig/history')).data

describe('two people who edit the same settings', () => {
  const path = 'AddOrUpdateCACTServer'
  it('see who changed a setting before they overwrite it, and keep the other settings of each other', async () => {
    await save(path, { CACT_USER: 'one', CACT_PROPERTY: 'portcullis' })
    const before = { CACT_USER: 'one', CACT_PROPERTY: 'portcullis' }
    const jane = await person(t, { profile: 10 })
    const theirs = { CACT_USER: 'two', ifValues: before }
    expect((await jane.api.post(`${base}/${path}`, theirs)).statusCode).toBe(200)
    const mine = { CACT_USER: 'three', ifValues: before }
    const versions = (await history()).length
    expect(await refused(path, mine)).toEqual([
      409,
      `${jane.userName} changed CACT_USER to "two" at ${new Date(t.clock.now()).toISOString()}. Nothing was saved. Compare the changes and save again.`,
    ])
    expect((await history()).length).toBe(versions)
    // The same value and other settings do not conflict.
    await save(path, { CACT_USER: 'two', CACT_PROPERTY: 'other', ifValues: before })
    const now = { ...before, CACT_USER: 'two' }
    expect((await save(path, { ...mine, ifValues: now })).items).toMatchObject({
      CACT_USER: 'three',
      CACT_PROPERTY: 'other',
    })
    // Without the values, the last write wins.
    await save(path, { CACT_USER: 'four' })
    expect((await post(path, { ifValues: { CACT_OTHER: '' } })).statusCode).toBe(400)
  })
})
