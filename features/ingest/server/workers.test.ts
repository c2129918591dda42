/** Runs real worker processes against hosts with SSH, including killed and deactivated ones. */

import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { pageOf } from '@portcullis/server/test/builders.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ConnectionStatus, FleetEvent, WorkerPollerDetails } from '#features/contract.ts'
import { sshFingerprint } from '../../../proof/kit/ssh-hosts/host-key.ts'

const base = '/prime/webui/agents/agentless'
const root = new URL('../../../', import.meta.url)
const children: ChildProcess[] = []
let t: TestApp
let url = ''
let sshHosts: ChildProcess
let port = 0

const start = (file: string, args: readonly string[] = []): ChildProcess => {
  const child = spawn(process.execPath, [fileURLToPath(new URL(file, root)), ...args], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  children.push(child)
  return child
}

beforeAll(async () => {
  t = await startTestApp({ listen: true })
  const address = t.app.fastify.server.address()
  url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  sshHosts = start('proof/kit/ssh-hosts/process.ts')
  port = await new Promise<number>((resolve) => sshHosts.stdout?.once('data', (text: Buffer) => resolve(Number(text))))
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await t.close()
})

const until = async (what: string, isSo: () => Promise<boolean>): Promise<void> => {
  const late = performance.now() + 20_000
  while (!(await isSo())) {
    if (performance.now() > late) throw new Error(`this did not happen in time: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 30))
  }
}
const details = async (): Promise<WorkerPollerDetails> =>
  (await (await t.admin()).get(`${base}/workerpollerdetails`)).json()
const activate = async (isActivated: boolean): Promise<void> => {
  const { id } = await details()
  await (await t.admin()).put(`${base}/workerpollerdetails/activatedstatus`, { id, isActivated })
}
const startWorker = async (concurrency: number): Promise<ChildProcess> => {
  const { token } = (await (await t.admin()).post(`${base}/workerpollerdetails/token`)).json()
  return start('poller/src/main.ts', ['--server', url, '--token', token, '--concurrency', String(concurrency)])
}
const countOf = async (state: ConnectionStatus['statusString']): Promise<number> =>
  // Counts may be a second old, and the clock of this test does not advance.
  (await pageOf<ConnectionStatus>(t, `agents/agentless/connectiondetailsstatus?StatusString=${state}&PageSize=100`))
    .data.length
const addHosts = async (names: readonly string[]): Promise<void> => {
  const connections = names.map((computerName) => ({
    computerName,
    port,
    userName: `host-${computerName.replaceAll('.', '-')}`,
    password: 'p',
    hostKeyFingerprint: sshFingerprint,
  }))
  expect((await (await t.admin()).post(`${base}/connectiondetails`, { connections })).statusCode).toBe(200)
}
const openConnections = (): Promise<number> =>
  new Promise((resolve) => {
    sshHosts.once('message', (count) => resolve(Number(count)))
    sshHosts.send('count')
  })
const fleet = async () => ({
  hosts: (await pageOf(t, 'agents?DeploymentMode=Agentless&PageSize=1000')).data.length,
  devices: (await pageOf(t, 'peripherals?PageSize=1000')).data.length,
  polled: (await pageOf<FleetEvent>(t, 'events/getevents?PageSize=1000')).data.filter(
    ({ description }) => description === 'Computer polled for the first time',
  ).length,
})

describe('worker processes', () => {
  it('share the load, and the polls of a killed process run again and are stored once', async () => {
    sshHosts.send('hold')
    await addHosts(Array.from({ length: 40 }, (_, i) => `127.0.1.${i + 1}`))
    const [first] = [await startWorker(8), await startWorker(8)]
    await until('two workers', async () => (await details()).numOfPollers === 2)
    await activate(true)
    await until('both full', async () => (await details()).pollers.every(({ running }) => running === 8))
    expect(await countOf('Running')).toBe(16)
    first?.kill('SIGKILL')
    sshHosts.send('go')
    await until('the other one has polled all but those of the dead one', async () => (await countOf('Success')) === 32)
    expect(await countOf('Running')).toBe(8)
    t.clock.advance(31_000)
    await until('all are polled', async () => (await countOf('Success')) === 40)
    expect(await fleet()).toEqual({ hosts: 40, devices: 240, polled: 40 })
  }, 60_000)

  it('end running polls on deactivation, and continue after activation', async () => {
    sshHosts.send('hold')
    await addHosts(Array.from({ length: 8 }, (_, i) => `127.0.2.${i + 1}`))
    await until('all run', async () => (await countOf('Running')) === 8)
    await activate(false)
    await until('nobody is connected', async () => (await openConnections()) === 0)
    expect([await countOf('Running'), await countOf('Pending')]).toEqual([0, 8])
    sshHosts.send('go')
    await activate(true)
    await until('all are polled', async () => (await countOf('Success')) === 48)
    expect((await fleet()).hosts).toBe(48)
  }, 60_000)

  it('stop permanently when the worker is deleted during polls', async () => {
    sshHosts.send('hold')
    await addHosts(['127.0.3.1'])
    await until('it runs', async () => (await countOf('Running')) === 1)
    const ended = Promise.all(
      children
        .slice(1)
        .map((child) => child.exitCode ?? child.signalCode ?? new Promise((resolve) => child.once('exit', resolve))),
    )
    await (await t.admin()).delete(`${base}/workerpollerdetails`)
    expect(await ended).toEqual(['SIGKILL', 3])
    await until('nobody is connected', async () => (await openConnections()) === 0)
    expect(await countOf('Pending')).toBe(1)
  }, 60_000)
})
