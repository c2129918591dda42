import { storageStick } from '@portcullis/domain/testing'
import type {
  ConnectionStatus,
  Poll,
  PollResult,
  WorkerLeaseRequest,
  WorkerLeaseResponse,
  WorkerPollerDetails,
} from '@portcullis/features/contract.ts'
import type { TestApp } from './app.ts'
import { hostFacts, pageOf } from './builders.ts'

export const agentlessBase = '/prime/webui/agents/agentless'

// biome-ignore lint/suspicious/noExplicitAny: answers are checked against the contract by the app itself
export const ok = <T = any>(answer: { statusCode: number; body: string; json(): unknown }): T => {
  if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${answer.body}`)
  return answer.json() as T
}

/** Returns the result of a poll that found a Linux host with a stick. */
export const success = (poll: Poll, devices = [storageStick({ portPath: '1-1' })]): PollResult => ({
  id: poll.id,
  fence: poll.fence,
  durationMs: 120,
  failure: null,
  message: '',
  hostKeyFingerprint: `SHA256:${'a'.repeat(43)}`,
  platform: 'linux',
  machineIdHash: null,
  facts: hostFacts({ hostname: poll.host, agentVersion: '', enforcement: 'observe' }),
  devices,
  steps: [],
})
export const failure = (poll: Poll, cause: PollResult['failure'], message = ''): PollResult => ({
  ...success(poll),
  failure: cause,
  message,
  hostKeyFingerprint: null,
  platform: null,
  facts: null,
  devices: [],
})

/** Returns helpers for the administrator and a worker. The app must listen. */
export const agentlessOf = (t: TestApp) => {
  const post = async (path: string, body: unknown) => (await t.admin()).post(`${agentlessBase}/${path}`, body)
  const put = async (path: string, body: unknown) => (await t.admin()).put(`${agentlessBase}/${path}`, body)
  const status = async (name: string): Promise<ConnectionStatus> =>
    (await pageOf<ConnectionStatus>(t, `agents/agentless/connectiondetailsstatus?ComputerName=${name}`))
      .data[0] as ConnectionStatus
  const worker = async (): Promise<WorkerPollerDetails> =>
    ok(await (await t.admin()).get(`${agentlessBase}/workerpollerdetails`))

  const activate = async (isActivated = true) =>
    ok(await put('workerpollerdetails/activatedstatus', { id: (await worker()).id, isActivated }))

  /** Registers a worker. Activates it if the previous worker was active, unless `waits` is set. */
  const registerWorker = async (options: { waits?: boolean } = {}) => {
    const { token } = ok(await post('workerpollerdetails/token', undefined))
    const call = async (path: string, body: unknown, key?: string) => {
      const answer = await fetch(`${t.address}/worker/v1/${path}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        },
        body: JSON.stringify(body),
      })
      return { status: answer.status, body: await answer.json() }
    }
    const registered = await call('register', { token, name: 'worker-1', version: '1.0.0' })
    if (registered.status !== 200) throw new Error(JSON.stringify(registered.body))
    const { key } = registered.body as { key: string }
    if (options.waits !== true && (await worker()).adminStatus === 'Activated') await activate()
    return {
      token,
      register: (again: string) => call('register', { token: again, name: 'again', version: '1' }),
      lease: async (free: number, running: WorkerLeaseRequest['running'] = []) => {
        const { status: code, body } = await call(
          'lease',
          { free, capacity: 8, running, version: '1.0.0', cpu: 1 },
          key,
        )
        return { ...(body as WorkerLeaseResponse), code }
      },
      results: (results: PollResult[]) => call('results', { results }, key),
    }
  }

  return { post, put, status, worker, registerWorker, activate }
}
