import { generateKeyPairSync, sign } from 'node:crypto'
import { releaseKeyFingerprint } from '@portcullis/domain'
import { adminPassword, startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { approveRequest } from '@portcullis/server/test/approvals.ts'
import { type Person, person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { knowledgeProofText } from '#features/contract.ts'

const path = '/prime/webui/admin/knowledge'
const key = generateKeyPairSync('ed25519')
const fingerprint = releaseKeyFingerprint(key.publicKey.export({ type: 'spki', format: 'der' }).toString('base64'))
const signed = (version: string) => {
  const payload = JSON.stringify({
    format: 'portcullis-knowledge-1',
    version,
    createdAt: '2031-05-01T00:00:00Z',
    files: { attackTools: [] },
  })
  return {
    format: 'portcullis-signed-knowledge-1',
    payload,
    publicKey: key.publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
    signature: sign(null, Buffer.from(knowledgeProofText(payload)), key.privateKey).toString('base64'),
  }
}

let t: TestApp
let second: Person

beforeAll(async () => {
  t = await startTestApp()
  second = await person(t, { profile: 10 })
})
afterAll(() => t.close())

const inForce = async () => {
  const { version, source, files } = (await (await t.admin()).get(path)).json()
  const tools = files.find(({ name }: { name: string }) => name === 'attackTools').entries
  return { version, source, tools }
}
const approve = async () => {
  const { data } = (await second.api.get('/prime/webui/policy/changerequests')).json()
  const request = data.find(({ state }: { state: string }) => state === 'Waiting')
  const answer = await approveRequest(second.api, request.id)
  expect(answer.statusCode, answer.body).toBe(200)
  return request
}

it('trusting the first key needs fresh authentication and a second approver', async () => {
  const admin = await t.admin()
  const file = signed('2099.1.1')
  t.clock.advance(6 * 60_000)
  const stale = await admin.post(path, { ...file, trust: fingerprint })
  expect([stale.statusCode, stale.json().code]).toEqual([401, 'reauthentication_required'])
  await admin.post('/prime/webui/auth/reauthenticate', { password: adminPassword })
  await second.api.post('/prime/webui/auth/reauthenticate', { password: second.password })

  const pinned = await admin.post(path, { ...file, trust: fingerprint })
  expect([pinned.statusCode, pinned.json().code]).toEqual([403, 'second_person_required'])
  expect((await admin.get(path)).json()).toMatchObject({ trustedKeys: [], candidate: null })
  expect((await admin.post(path, file)).json().code).toBe('knowledge_key_unknown')
  expect((await approve()).title).toContain(fingerprint)
  expect((await admin.get(path)).json().trustedKeys).toMatchObject([{ fingerprint }])
})

it('activating or withdrawing knowledge needs a second approver', async () => {
  const admin = await t.admin()
  const before = await inForce()
  const file = signed('2099.1.1')
  const { candidate } = (await admin.post(path, file)).json()
  const asked = await admin.post(`${path}/apply`, { id: candidate.id })
  expect([asked.statusCode, asked.json().code]).toEqual([403, 'second_person_required'])
  expect(await inForce()).toEqual(before)
  const request = await approve()
  expect(request.title).toContain(fingerprint)
  expect(await inForce()).toMatchObject({ source: 'upload', tools: 0 })

  const back = await admin.post(`${path}/rollback`)
  expect([back.statusCode, back.json().code]).toEqual([403, 'second_person_required'])
  expect((await inForce()).tools).toBe(0)
  await approve()
  expect(await inForce()).toEqual(before)
})
