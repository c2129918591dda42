import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { agentPaths } from '@portcullis/contract/agent-protocol.ts'
import { plainKeyboard, storageStick } from '@portcullis/domain/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createTree, temporaryDir, until } from './harness.ts'
import { startPeer } from './peer.ts'
import { env, killAgent as kill, main, spawnAgent as start } from './processes.ts'

const setUp = async () => {
  const peer = await startPeer()
  onTestFinished(() => peer.stop())
  const tree = createTree([plainKeyboard({ portPath: '1-1' })])
  const stateDir = temporaryDir()
  const args = ['--server', peer.url, '--token', peer.token, '--state-dir', stateDir, '--sysfs-root', tree.root]
  return { peer, tree, stateDir, args }
}

// Most of these tests start five or more processes. A loaded machine takes seconds for each.
describe('the agent process', { timeout: 90_000 }, () => {
  it('checks in once with --once and a token file, then exits with 0', async () => {
    const { peer, tree, stateDir } = await setUp()
    const tokenFile = join(temporaryDir(), 'token')
    writeFileSync(tokenFile, `${peer.token}\n`, { mode: 0o600 })
    const agent = start(['--once', '--sysfs-root', tree.root], {
      PORTCULLIS_AGENT_SERVER: peer.url,
      PORTCULLIS_AGENT_TOKEN_FILE: tokenFile,
      PORTCULLIS_AGENT_STATE_DIR: stateDir,
    })
    expect(await agent.exit).toBe(0)
    expect(peer.seen.checkIns).toHaveLength(1)
    const status = spawnSync(process.execPath, [main, 'status', '--state-dir', stateDir], { env, encoding: 'utf8' })
    expect(status.stdout).toMatch(/agent +not running\n/)
    expect(status.stdout).toContain(peer.only().id)
    expect(status.stdout).toMatch(/devices +1\n/)
  })

  it('exits with 2 on a refused token, with 3 when revoked and with 1 when it cannot start', async () => {
    const { peer, args, stateDir } = await setUp()
    const bad = start(args.map((arg) => (arg === peer.token ? 'pce_0_wrong' : arg)))
    expect(await bad.exit).toBe(2)
    expect(bad.output()).toContain('refused the enrolment')
    expect(await start([...args, '--once']).exit).toBe(0)
    peer.only().revoked = true
    expect(await start(args).exit).toBe(3)
    const damaged = temporaryDir()
    writeFileSync(join(damaged, 'identity.json'), '{')
    for (const wrong of [
      ['--server', 'nonsense'],
      ['--nonsense'],
      ['--state-dir', '/proc/nowhere', '--server', peer.url, '--token', 'x'],
      ['--state-dir', damaged],
      ['--server', peer.url, '--token', 'two words', '--state-dir', stateDir],
    ]) {
      const agent = start(wrong)
      expect([wrong, await agent.exit]).toEqual([wrong, 1])
      expect(agent.output()).toMatch(/^portcullis-agent: .+\n$|"event"/)
    }
  })

  it('stops within two seconds of SIGTERM, even while it waits for an unreachable server', async () => {
    const { peer, args } = await setUp()
    const steady = start(args)
    await until('steady', () => peer.seen.checkIns.length === 1, 30_000)
    const waiting = start(['--server', 'http://127.0.0.1:1', '--token', 'x', '--state-dir', temporaryDir()])
    await until('waiting', () => waiting.output().includes('enrolment_failed'), 30_000)
    for (const agent of [steady, waiting]) {
      const begin = performance.now()
      agent.child.kill('SIGTERM')
      expect(await agent.exit).toBe(0)
      expect(performance.now() - begin).toBeLessThan(2000)
    }
  })

  it('loses no changes and reports none twice when it is killed before or after the server commits', async () => {
    const { peer, tree, stateDir, args } = await setUp()
    let agent = start(args)
    await until('first check-in', () => peer.seen.checkIns.length === 1, 30_000)
    const expected: string[] = []
    for (let round = 0; round < 4; round++) {
      // In even rounds the check-in never arrives. In odd rounds the server commits it, but the response is lost.
      peer.fail(
        agentPaths.checkIn,
        ...(round % 2 === 0 ? [] : [{ kind: 'lost-answer' as const }]),
        ...Array.from({ length: 50 }, () => ({ kind: 'reset' as const })),
      )
      const stored = peer.seen.changes.length
      if (round % 2 === 0) tree.plug(storageStick({ portPath: '1-2' }))
      else tree.unplug('1-2')
      expected.push(round % 2 === 0 ? 'attached' : 'removed')
      await until('spooled', () => readFileSync(join(stateDir, 'spool.jsonl'), 'utf8').includes('"flight"'), 30_000)
      if (round % 2 === 1) await until('committed', () => peer.seen.changes.length > stored, 30_000)
      await kill(agent)
      peer.clearFaults()
      const before = peer.seen.checkIns.length
      agent = start(args)
      await until('back', () => peer.seen.checkIns.length > before, 30_000)
      expect(peer.seen.changes.map((change) => change.op)).toEqual(expected)
      await until('acknowledged', () => readFileSync(join(stateDir, 'spool.jsonl'), 'utf8') === '', 30_000)
    }
    expect(peer.seen.violations).toEqual([])
    await kill(agent)
    expect(existsSync(join(stateDir, 'lock'))).toBe(true)
    expect(await start([...args, '--once']).exit).toBe(0)
  })

  it('lets only one of several agents use a state directory, even with a stale lock', async () => {
    const { peer, stateDir, args } = await setUp()
    const first = start(args)
    await until('first', () => peer.seen.checkIns.length === 1, 30_000)
    await kill(first)
    const starters = [start(args), start(args), start(args)]
    const ended: (number | null)[] = []
    for (const starter of starters) void starter.exit.then((code) => ended.push(code))
    await until('two refused', () => ended.length === 2, 30_000)
    expect(ended).toEqual([1, 1])
    const status = spawnSync(process.execPath, [main, 'status', '--state-dir', stateDir], { env, encoding: 'utf8' })
    expect(status.stdout).toMatch(/agent +running \(process \d+\)/)
  })
})
