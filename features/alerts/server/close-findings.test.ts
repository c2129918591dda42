import { plainMouse, rubberDucky, unifyingReceiver1207 } from '@portcullis/domain/testing'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, pageOf } from '@portcullis/server/test/builders.ts'
import { type Person, person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { HostFinding, RiskNotification } from '#features/contract.ts'

const notices = '/prime/webui/systemNotification'
let t: TestApp
let manager: Person
beforeAll(async () => {
  t = await startTestApp({ listen: true })
  manager = await person(t, { profile: 20 })
})
afterAll(() => t.close())

const alertOf = async (kind: string, entityId: string): Promise<RiskNotification> => {
  await t.alerts.run()
  const [alert] = (await manager.api.get(`${notices}/riskNotifications?kind=${kind}&entityId=${entityId}`)).json()
  return alert
}
const findings = async (query: string) => (await pageOf<HostFinding>(t, `findings?${query}&SortBy=id_asc`)).data
const close = async (body: object, api = manager.api) => {
  const answer = await api.post(`${notices}/notices/close`, body)
  return { status: answer.statusCode, ...answer.json() }
}

describe('closing an alert with its findings', () => {
  it('closes the findings of the alert with the same verdict and comment, and no others', async () => {
    const agent = await enrolAgent(t, {
      devices: [
        rubberDucky({ portPath: '1-5' }),
        unifyingReceiver1207({ portPath: '1-6' }),
        plainMouse({ portPath: '1-1' }),
      ],
    })
    const alert = await alertOf('attackTool', '03EB:2401')
    const [own, ...others] = await findings(`alert=${alert.id}&state=Open`)
    expect([own?.vid, own?.uuid, others]).toEqual(['03EB', agent.agentId, []])
    const [receiver] = await findings(`hostUuid=${agent.agentId}&vid=046d`)
    const vulnerable = await alertOf('vulnerable', `${receiver?.vid}:${receiver?.pid}`)
    expect((await findings(`alert=${vulnerable.id}`)).map(({ id }) => id)).toEqual([receiver?.id])
    expect((await findings(`alert=${alert.id},${vulnerable.id}`)).length).toBe(2)

    const id = own?.id as number
    const ofOther = await close({ ids: [alert.id], verdict: 'benign', findings: [id, receiver?.id] })
    expect(ofOther).toMatchObject({ status: 409, detail: expect.stringContaining(`not about finding ${receiver?.id}`) })
    const plugged = await close({ ids: [alert.id], verdict: 'true', findings: [id] })
    expect(plugged).toMatchObject({ status: 409, detail: expect.stringContaining('is still attached') })
    const plain = await close({ ids: [vulnerable.id], findings: [receiver?.id] })
    expect([plain.status, plain.errors[0].field]).toEqual([400, 'body.verdict'])
    expect((await findings('state=Closed')).length).toBe(0)
    expect((await alertOf('attackTool', '03EB:2401')).state).toBe('open')

    await agent.unplug('1-5')
    const comment = 'Handed over to forensics.'
    expect(await close({ ids: [alert.id], verdict: 'true', comment, findings: [id] })).toMatchObject({
      ...{ status: 200, changed: [alert.id] },
    })
    expect((await findings(`alert=${alert.id}`))[0]).toMatchObject({
      ...{ id, state: 'Closed', verdict: 'true', comment, closedBy: manager.userName },
    })
    expect(await agent.detail()).toMatchObject({ severity: 30, hasKnownAttackTools: false })
    expect((await findings('state=Open')).map((one) => one.id)).toEqual([receiver?.id])
    const trail = (await (await t.admin()).get('/prime/webui/events/GetAuditsIntegration?PageSize=2')).json()
    expect(trail.data.map(({ action }: { action: string }) => action).sort()).toEqual([
      'finding.closed',
      'notice.closed',
    ])
  })

  it('needs the permission to change hosts', async () => {
    const agent = await enrolAgent(t, { devices: [rubberDucky({ portPath: '1-5' })] })
    await agent.unplug('1-5')
    const alert = await alertOf('attackTool', '03EB:2401')
    const [finding] = await findings(`alert=${alert.id}&state=Open`)
    const made = await manager.api.post('/prime/webui/admin/apiTokens', {
      ...{ name: 'closer', scopes: ['notices:dismiss', 'notices:read'] },
    })
    expect(made.statusCode, made.body).toBe(200)
    const body = { ids: [alert.id], verdict: 'test', findings: [finding?.id] }
    const refused = await close(body, t.as(made.json().token))
    expect([refused.status, refused.code]).toEqual([403, 'scope_missing'])
    expect((await alertOf('attackTool', '03EB:2401')).state).toBe('open')
    expect((await close(body)).changed).toEqual([alert.id])
  })

  it('refuses a filter value that is not an alert ID', async () => {
    for (const alert of ['x', '1,', '1 2', '12345678901', Array.from({ length: 101 }, () => '1').join(',')]) {
      const answer = await manager.api.get(`/prime/webui/findings?alert=${encodeURIComponent(alert)}`)
      expect([answer.statusCode, answer.json().errors[0].field]).toEqual([400, 'query.alert'])
    }
  })
})
