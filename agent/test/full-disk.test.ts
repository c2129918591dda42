import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { DeviceChange } from '@portcullis/contract/agent-protocol.ts'
import { plainKeyboard, storageStick } from '@portcullis/domain/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createSpool } from '../src/spool.ts'
import { rule } from './enforcing.ts'
import { createTree, temporaryDir, until } from './harness.ts'
import { startPeer } from './peer.ts'
import { env, killAgent, main, spawnAgent, withFileLimit } from './processes.ts'

/** Runs a script with a file size limit of 4 KiB and returns its output. */
const limited = (script: string): string => {
  const node = [process.execPath, '--input-type=module', '-e', script]
  const done = spawnSync(...withFileLimit(8, node), { env, encoding: 'utf8', timeout: 60_000 })
  return done.stdout + done.stderr
}
const source = (name: string) => JSON.stringify(pathToFileURL(resolve(main, '..', name)).href)

// A file size limit makes a write partial, like a disk that becomes full.
describe('a full disk', { timeout: 120_000 }, () => {
  it('keeps the old file and leaves no temporary file', () => {
    const path = join(temporaryDir(), 'policy.json')
    const write = (bytes: number) =>
      limited(`
        import { writeDurable } from ${source('files.ts')}
        try { writeDurable(${JSON.stringify(path)}, 'x'.repeat(${bytes})); console.log('done') }
        catch (error) { console.log(error.code) }`)
    expect(write(4096)).toBe('done\n')
    expect(write(4097)).toBe('EFBIG\n')
    expect(readFileSync(path, 'utf8')).toBe('x'.repeat(4096))
    expect(readdirSync(join(path, '..'))).toEqual(['policy.json'])
  })

  it('loses no changes in the spool', () => {
    const stateDir = temporaryDir()
    const line = (n: number): string => {
      const change: DeviceChange = {
        op: 'attached',
        at: n,
        device: { ...storageStick({ portPath: '1-2' }), product: 'p' },
      }
      return `${JSON.stringify({ kind: 'change', n, change })}\n`
    }
    // Enough acknowledged lines that the file must be rewritten, and then unacknowledged changes.
    const old = `${JSON.stringify({ kind: 'overflow', dropped: 1 })}\n`.repeat(4_000_000 / 32)
    writeFileSync(join(stateDir, 'spool.jsonl'), old + Array.from({ length: 50 }, (_, i) => line(i + 1)).join(''))
    const said = limited(`
      import { createSpool } from ${source('spool.ts')}
      const spool = createSpool({ boot: { id: '', elapsed: () => 0 }, stateDir: ${JSON.stringify(stateDir)}, onWriteError: () => console.log('refused'), onDropped() {} })
      spool.acknowledge(1)
      console.log(spool.size)`)
    expect(said).toMatch(/^(refused\n)+49\n$/)
    const after = createSpool({ boot: { id: '', elapsed: () => 0 }, stateDir, onWriteError() {}, onDropped() {} })
    onTestFinished(after.close)
    // The acknowledgement could not be written either.
    expect(after.pending(0).changes.map(({ at }) => at)).toEqual(Array.from({ length: 50 }, (_, i) => i + 1))
  })

  it('keeps the policy in force and refuses the next one completely', async () => {
    const peer = await startPeer({ nextCheckInSeconds: 0.2 })
    onTestFinished(() => peer.stop())
    const allow = rule({ id: 'sticks', effect: 'allow', kinds: ['Mass Storage'] })
    peer.policy.rules = [allow]
    const tree = createTree([plainKeyboard({ portPath: '1-1' })])
    const args = ['--server', peer.url, '--token', peer.token, '--state-dir', temporaryDir(), '--sysfs-root', tree.root]
    const order = async (kind: string, body: Record<string, unknown>) => {
      const id = peer.order(kind, body)
      await until(kind, () => peer.seen.acks.some((ack) => ack.commandId === id), 30_000)
      return peer.seen.acks.find((ack) => ack.commandId === id)
    }
    const agent = spawnAgent(args, {}, { fileBlocks: 256 })
    await until('first check-in', () => peer.seen.checkIns.length > 0, 30_000)
    expect(await order('configure', { mode: 'Armed', applyToPresent: false })).toMatchObject({ outcome: 'confirmed' })
    peer.policy.version = 2
    peer.policy.rules = Array.from({ length: 2000 }, (_, i) => rule({ effect: 'deny', vid: '1234', serial: `${i}` }))
    const ack = await order('policy', { version: 2 })
    expect(ack).toMatchObject({ outcome: 'failed', message: expect.stringContaining('EFBIG') })
    await killAgent(agent)
    // The disk has space again and the server is unreachable, so the start uses the policy on disk.
    await peer.stop()
    spawnAgent(args)
    await until('armed again', () => tree.read('usb1', 'authorized_default') === '0', 30_000)
    tree.plug(storageStick({ portPath: '1-2' }))
    await until('allowed', () => tree.isAuthorized('1-2'), 30_000)
  })
})
