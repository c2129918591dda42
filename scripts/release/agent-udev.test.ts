import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createUdev } from '../../agent/src/platform/linux/udev.ts'
import { udevRule, udevWaiter } from '../../features/agents/server/install/udev.ts'

/** Creates a device at port 1-4 as number 7, and the agent's side of udev in a folder. */
const setUp = () => {
  const dir = mkdtempSync(join(tmpdir(), 'portcullis-udev-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const device = join(dir, 'sys/bus/usb/devices/1-4')
  const publicDir = join(dir, 'run')
  const dataDir = join(dir, 'data')
  mkdirSync(device, { recursive: true })
  mkdirSync(dataDir)
  for (const [name, content] of [
    ['devnum', '7\n'],
    ['dev', '189:6\n'],
  ] as const)
    writeFileSync(join(device, name), content)
  const sent: string[] = []
  const uptime = join(dir, 'uptime')
  writeFileSync(uptime, '100.25 0.00\n')
  // The clock advances by a second with each sleep if the file `passes` exists.
  const bin = join(dir, 'bin')
  mkdirSync(bin)
  writeFileSync(
    join(bin, 'sleep'),
    `#!/bin/sh\necho "$1" >>${dir}/slept
[ ! -e ${dir}/passes ] || { read -r now rest <${uptime}; echo "$((\${now%.*} + 1)).25 0.00" >${uptime}; }\n`,
  )
  chmodSync(join(bin, 'sleep'), 0o755)
  const script = join(dir, 'wait')
  writeFileSync(script, udevWaiter.replace('/run/portcullis-agent', publicDir).replace('/proc/uptime', uptime))
  const slept = () =>
    existsSync(join(dir, 'slept')) ? readFileSync(join(dir, 'slept'), 'utf8').split('\n').length - 1 : 0
  return {
    dir,
    device,
    dataDir,
    decided: join(publicDir, 'decided'),
    /** Events that the agent sent about the device. */
    sent,
    udev: createUdev({
      sysfsRoot: join(dir, 'sys'),
      dataDir,
      publicDir,
      write(path, action) {
        expect(path).toBe(join(device, 'uevent'))
        sent.push(action)
      },
    }),
    slept,
    /** Starts the script as udev does. */
    wait() {
      const child = spawn('/bin/sh', [script, device], { env: { PATH: `${bin}:${process.env.PATH}` } })
      return new Promise<number | null>((resolve) => child.on('close', resolve))
    },
    async waits() {
      const before = slept()
      while (slept() < before + 2) await new Promise((resolve) => setTimeout(resolve, 5))
    },
  }
}

describe('the wait for a decision', () => {
  it('ends at once if no agent enforces a policy, and leaves no trace of the agent', async () => {
    const { udev, wait, slept, decided } = setUp()
    expect(await wait()).toBe(0)
    udev.publish(new Map())
    expect(existsSync(decided)).toBe(true)
    udev.publish(undefined)
    expect([await wait(), slept(), existsSync(decided)]).toEqual([0, 0, false])
  })

  it('ends when the agent decides about this attachment, not about an earlier one or another port', async () => {
    const { udev, wait, waits, slept } = setUp()
    udev.publish(
      new Map([
        ['1-4', '6'],
        ['1-4.1', '7'],
      ]),
    )
    const ended = wait()
    await waits()
    udev.publish(new Map([['1-4', '7']]))
    expect(await ended).toBe(0)
    const before = slept()
    expect([await wait(), slept()]).toEqual([0, before])
  })

  it('ends when the agent frees the host or the device is removed', async () => {
    for (const end of ['free', 'unplug'] as const) {
      const { udev, wait, waits, device } = setUp()
      udev.publish(new Map())
      const ended = wait()
      await waits()
      if (end === 'free') udev.publish(undefined)
      else rmSync(device, { recursive: true })
      expect(await ended).toBe(0)
    }
  })

  it('ends at once if the agent was killed, even if another process has its number', async () => {
    const { udev, wait, slept, decided } = setUp()
    udev.publish(new Map())
    const line = readFileSync(decided, 'utf8')
    for (const stale of ['agent 4194303 1\n', `agent ${process.pid} 1\n`, 'agent\n', '', 'nonsense $(touch x)\n'])
      for (const more of ['', '1-9 3\n']) {
        writeFileSync(decided, stale + more)
        expect([stale, await wait(), slept()]).toEqual([stale, 0, 0])
      }
    expect(line).toMatch(/^agent \d+ \d+\n$/)
  })

  it('ends at once if the agent ended and nobody has read its result', async () => {
    const { udev, wait, slept, decided } = setUp()
    udev.publish(new Map())
    // A shell that becomes another program never reads the result of its child.
    const parent = spawn('/bin/sh', ['-c', 'sleep 0.1 & echo $!; exec cat'], { stdio: ['pipe', 'pipe', 'ignore'] })
    const [line] = await once(parent.stdout, 'data')
    const stat = () =>
      readFileSync(`/proc/${Number(String(line))}/stat`, 'latin1')
        .split(') ')[1]
        ?.split(' ') ?? []
    while (stat()[0] !== 'Z') await new Promise((resolve) => setTimeout(resolve, 5))
    writeFileSync(decided, `agent ${Number(String(line))} ${stat()[19]}\n`)
    expect([await wait(), slept()]).toEqual([0, 0])
    parent.stdin.end()
  })

  it('ends after 3 s if the agent does not decide', async () => {
    const { udev, wait, slept, dir } = setUp()
    writeFileSync(join(dir, 'passes'), '')
    udev.publish(new Map())
    expect([await wait(), slept()]).toEqual([0, 3])
  })

  it('is asked for by a rule that matches new devices only, and only if an agent enforces a policy', () => {
    const [, line = ''] = udevRule('/opt/wait').split('\n')
    expect(line.split(', ')).toEqual([
      'ACTION=="add"',
      'SUBSYSTEM=="usb"',
      'ENV{DEVTYPE}=="usb_device"',
      'KERNEL!="usb*"',
      'TEST=="/run/portcullis-agent/decided"',
      'PROGRAM=="/opt/wait %S%p"',
    ])
  })
})

describe('the events for programs', () => {
  it('are a bind after authorising, if udev has not shown the device yet', () => {
    const { udev, sent } = setUp()
    udev.withdraw('1-4')
    udev.announce('1-4')
    expect(sent).toEqual(['bind'])
  })

  it('let the device appear again if programs saw it blocked, also after a failed attempt', () => {
    const { udev, sent, dataDir } = setUp()
    writeFileSync(join(dataDir, 'c189:6'), 'I:1\n')
    udev.withdraw('1-4')
    // udev forgets a removed device.
    rmSync(join(dataDir, 'c189:6'))
    udev.withdraw('1-4')
    udev.announce('1-4')
    udev.announce('1-4')
    expect(sent).toEqual(['remove', 'add', 'bind', 'bind'])
  })

  it('do not mistake the next device at the port for the withdrawn one', () => {
    const { udev, sent, dataDir, device } = setUp()
    writeFileSync(join(dataDir, 'c189:6'), 'I:1\n')
    udev.withdraw('1-4')
    writeFileSync(join(device, 'devnum'), '8\n')
    udev.announce('1-4')
    expect(sent).toEqual(['remove', 'bind'])
    rmSync(device, { recursive: true })
    udev.withdraw('1-4')
    expect(() => udev.announce('1-4')).not.toThrow()
  })
})
