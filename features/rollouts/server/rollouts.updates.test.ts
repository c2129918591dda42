import { releaseKeyPair } from '@portcullis/domain/testing'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { pageOf, type TestAgent } from '@portcullis/server/test/builders.ts'
import { configured, packageFile, publish } from '@portcullis/server/test/packages.ts'
import { ring, rolloutsOf, take } from '@portcullis/server/test/rollouts.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const key = releaseKeyPair()
let t: TestApp
let rollouts: ReturnType<typeof rolloutsOf>

beforeEach(async () => {
  t = await startTestApp({ listen: true, releaseKey: configured(key) })
  rollouts = rolloutsOf(t)
})
afterEach(() => t.close())

describe('updates in rings', () => {
  const rings = [{ name: 'all', sharePercent: 100 }]

  it('sends the newest build to older hosts, and counts an installed version as done', async () => {
    const x64 = await rollouts.hosts(1, 'x', { agentVersion: '1.0.0' })
    await rollouts.hosts(1, 'x', { agentVersion: '1.2.0' })
    await rollouts.hosts(1, 'x', { agentVersion: '1.3.0-dev' })
    await rollouts.hosts(1, 'x', { agentVersion: '1.0.0', architecture: 'arm64' })
    await rollouts.hosts(1, 'x', { agentVersion: '1.0.0', releaseKey: '' })
    expect((await rollouts.post('plan', { kind: 'update', name: 'u', rings })).json()).toMatchObject({
      status: 409,
      detail: 'No agent package is published.',
    })
    const build = (await publish(t, packageFile(key, { version: '1.2.0' }))).json()
    const plan = (await rollouts.post('plan', { kind: 'update', name: 'u', rings })).json()
    expect(plan.builds).toEqual([{ architecture: 'x64', version: '1.2.0' }])
    expect(plan.rings[0]).toMatchObject({
      ready: 1,
      unchanged: 2,
      notReady: 2,
      reasons: expect.arrayContaining([
        { reason: 'No build is published for arm64.', hosts: 1 },
        { reason: 'The agent was built without a release key and accepts no updates.', hosts: 1 },
      ]),
    })
    const { id } = await rollouts.start({ kind: 'update', rings })
    const [command] = await take(x64[0] as TestAgent)
    expect(command).toMatchObject({
      kind: 'update',
      version: '1.2.0',
      sha256: build.sha256,
      size: build.size,
      architecture: 'x64',
      releaseKey: key.text,
    })
    expect(ring(await rollouts.advance(id), 0)).toEqual({ done: 1, unchanged: 2, notReady: 2 })
    expect((await rollouts.advance(id, 60)).state).toBe('completed')
  })

  it('sends each host the build for its system, and skips hosts without one', async () => {
    const [linux] = await rollouts.hosts(1, 'x', { agentVersion: '1.0.0' })
    const [windows] = await rollouts.hosts(1, 'x', { agentVersion: '1.0.0', architecture: 'windows-x64' })
    await rollouts.hosts(1, 'x', { agentVersion: '1.0.0', architecture: 'macos-arm64' })
    const script = packageFile(key, {
      version: '1.2.0',
      architecture: 'windows-x64',
      executable: Buffer.from('script'),
    })
    const forWindows = (await publish(t, script)).json()
    const plan = (await rollouts.post('plan', { kind: 'update', name: 'u', rings })).json()
    expect(plan.builds).toEqual([{ architecture: 'windows-x64', version: '1.2.0' }])
    expect(plan.rings[0]).toMatchObject({ ready: 1, notReady: 2 })
    const forLinux = (await publish(t, packageFile(key, { version: '1.2.1' }))).json()
    const { id, builds } = await rollouts.start({ kind: 'update', rings })
    expect(builds).toEqual([
      { architecture: 'x64', version: '1.2.1' },
      { architecture: 'windows-x64', version: '1.2.0' },
    ])
    expect(await take(windows as TestAgent)).toMatchObject([
      { kind: 'update', version: '1.2.0', architecture: 'windows-x64', sha256: forWindows.sha256, size: 6 },
    ])
    expect(await take(linux as TestAgent)).toMatchObject([
      { kind: 'update', version: '1.2.1', architecture: 'x64', sha256: forLinux.sha256 },
    ])
    expect(ring(await rollouts.advance(id), 0)).toEqual({ done: 2, notReady: 1 })
  })

  it('is planned and sent even if a host reports an invented architecture', async () => {
    const [good] = await rollouts.hosts(1, 'x', { agentVersion: '1.0.0' })
    const invented = ['constructor', '__proto__', 'toString', 'mips', 'x64 1.2.0']
    for (const architecture of invented) await rollouts.hosts(1, 'x', { agentVersion: '1.0.0', architecture })
    await publish(t, packageFile(key, { version: '1.2.0' }))
    const plan = (await rollouts.post('plan', { kind: 'update', name: 'u', rings })).json()
    expect(plan.rings).toMatchObject([
      { ready: 1, reasons: [{ reason: 'No build is published for its architecture.', hosts: invented.length }] },
    ])
    await rollouts.start({ kind: 'update', rings })
    expect(await take(good as TestAgent)).toMatchObject([{ kind: 'update', architecture: 'x64' }])
  })

  it('does not update Linux hosts while only a build for Windows is published', async () => {
    const [linux] = await rollouts.hosts(1, 'x', { agentVersion: '1.0.0' })
    await publish(t, packageFile(key, { version: '1.2.0', architecture: 'windows-x64' }))
    const { id } = await rollouts.start({ kind: 'update', rings })
    expect(await take(linux as TestAgent)).toEqual([])
    const { data } = await pageOf<{ reason: string }>(t, `rollouts/${id}/hosts?state=notReady`)
    expect(data.map(({ reason }) => reason)).toEqual(['No build is published for x64.'])
  })

  it('halts when agents roll back, and cannot be reverted', async () => {
    await publish(t, packageFile(key, { version: '1.2.0' }))
    const agents = await rollouts.hosts(3, 'x', { agentVersion: '1.0.0' })
    const { id } = await rollouts.start({ kind: 'update', rings })
    await take(agents[0] as TestAgent, 'failed')
    const halted = await rollouts.advance(id)
    expect(halted).toMatchObject({ state: 'halted' })
    expect(ring(halted, 0)).toEqual({ failed: 1, waiting: 2 })
    const { data } = await pageOf<{ reason: string }>(t, `rollouts/${id}/hosts?state=failed`)
    expect(data[0]?.reason).toBe('the disk is full')
    expect((await rollouts.post(`${id}/revert`)).json()).toMatchObject({ status: 409, code: 'conflict' })
  })

  it('halts when its build is withdrawn, even if another system has a build with the same bytes', async () => {
    await publish(t, packageFile(key, { version: '1.2.0', architecture: 'arm64' }))
    const build = (await publish(t, packageFile(key, { version: '1.2.0' }))).json()
    await rollouts.hosts(1, 'x', { agentVersion: '1.0.0' })
    const { id } = await rollouts.start({ kind: 'update', rings })
    await (await t.admin()).delete(`/prime/webui/agents/packages/${build.id}`)
    expect(await rollouts.advance(id)).toMatchObject({ state: 'halted', reason: 'Build 1.2.0 for x64 was withdrawn.' })
  })
})
