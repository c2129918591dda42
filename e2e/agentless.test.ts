import { unless } from '@portcullis/domain/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Sshd, startSshd, whyNoSshd } from '../poller/test/sshd.ts'
import { type RunningServer, remove, startServer, until } from '../proof/kit/harness.ts'
import { serverDir } from './prepared.ts'

const base = '/prime/webui/agents/agentless'

describe('hosts without an agent', unless(whyNoSshd), () => {
  let server: RunningServer
  let sshd: Sshd
  const dir = serverDir()
  beforeAll(async () => {
    sshd = await startSshd('127.0.0.1')
    server = await startServer(dir)
  })
  afterAll(async () => {
    await server?.stop()
    sshd?.stop()
    remove(dir)
  })

  const call = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const token = await server.signIn()
    const answer = await server.request(path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    expect(answer.status, answer.text).toBe(200)
    return JSON.parse(answer.text) as T
  }
  const worker = () => call<{ id: string | null; adminStatus: string | null }>('GET', `${base}/workerpollerdetails`)

  it('are polled by the activated worker of the server, and then appear among the agents', async () => {
    await call('POST', `${base}/connectiondetails`, {
      computerName: sshd.host,
      port: sshd.port,
      userName: sshd.userName,
      privateKey: sshd.privateKey,
      hashtags: ['polled'],
    })
    const { value } = await until('the worker of the server', async () => {
      const found = await worker()
      return found.id === null ? undefined : found
    })
    expect(value.adminStatus).toBe('Pending')
    await call('PUT', `${base}/workerpollerdetails/activatedstatus`, { id: value.id, isActivated: true })
    const { value: status, ms } = await until('the first poll', async () => {
      const { data } = await call<{ data: { statusString: string; uuid: string; statusErrorDescription: string }[] }>(
        'GET',
        `${base}/connectiondetailsstatus`,
      )
      const [row] = data
      expect(row?.statusErrorDescription).toBe('')
      return row?.statusString === 'Success' ? row : undefined
    })
    console.log(`worker activated to host among the agents: ${Math.round(ms)} ms`)
    const host = await server.agent(status.uuid)
    expect(host).toMatchObject({ deploymentMode: 'Agentless', hashtags: 'polled', connectionStatus: 'Connected' })
    const { data } = await call<{ data: { hostKeyFingerprint: string; platform: string }[] }>(
      'GET',
      `${base}/connectiondetails`,
    )
    expect(data).toMatchObject([{ hostKeyFingerprint: sshd.fingerprint, platform: 'linux' }])
  })

  it('are not polled after the worker is deleted, and the server registers a new pending one', async () => {
    const before = await worker()
    await call('DELETE', `${base}/workerpollerdetails`)
    const { value } = await until(
      'a new worker',
      async () => {
        const found = await worker()
        return found.id !== null && found.id !== before.id ? found : undefined
      },
      60_000,
    )
    expect(value.adminStatus).toBe('Pending')
  })
})
