import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DeviceChange } from '@portcullis/contract/agent-protocol.ts'
import { plainKeyboard, storageStick } from '@portcullis/domain/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../src/clock.ts'
import { createWatcher } from '../src/collectors/watcher.ts'
import { createLog } from '../src/log.ts'
import { createUdevMonitor, isUsbEvent } from '../src/platform/linux/monitor.ts'
import { createSysfsCollector } from '../src/platform/linux/sysfs.ts'
import type { Platform, WatcherTiming } from '../src/platform/platform.ts'
import { createTree, temporaryDir, until } from './harness.ts'

const timing: WatcherTiming = { pollMs: 20, resyncMs: 60_000, settleMs: 30, settleMaxMs: 200 }

const setUp = (options: { monitor?: string; timing?: WatcherTiming } = {}) => {
  const tree = createTree([plainKeyboard({ portPath: '1-1' })])
  const changes: DeviceChange[][] = []
  const errors: string[] = []
  const lines: string[] = []
  let scans = 0
  let createMonitor: Platform['monitor']
  if (options.monitor !== undefined) {
    const script = join(temporaryDir(), 'monitor')
    writeFileSync(script, `#!/bin/sh\n${options.monitor}\n`)
    chmodSync(script, 0o755)
    createMonitor = (deps) => createUdevMonitor({ ...deps, command: [script] })
  }
  const inventory = createSysfsCollector({ sysfsRoot: tree.root })
  const watcher = createWatcher({
    inventory: {
      ...inventory,
      scan: () => {
        scans++
        return inventory.scan()
      },
    },
    createMonitor,
    clock: systemClock,
    log: createLog({ clock: systemClock, level: 'debug', write: (line) => lines.push(line) }),
    reports: { add: (code) => void errors.push(code) },
    onChanges: (list) => void changes.push(list),
    timing: options.timing ?? timing,
  })
  onTestFinished(watcher.stop)
  watcher.start()
  return { tree, changes, errors, lines, watcher, scans: () => scans }
}

const BANNER = 'echo "monitor will print the received events for:"'
const EVENT = 'KERNEL[1234.567890] add      /devices/pci0000:00/0000:00:14.0/usb1/1-2 (usb)'

describe('monitor lines', () => {
  it('are recognised as USB events only in their exact form', () => {
    expect(isUsbEvent(EVENT)).toBe(true)
    expect(isUsbEvent('KERNEL[99.1] remove   /devices/pci0000:00/usb1/1-2/1-2:1.0 (usb)')).toBe(true)
    expect(isUsbEvent('UDEV  [99.1] bind     /devices/usb1/1-2 (usb)')).toBe(true)
    expect(isUsbEvent('KERNEL[99.1] bind     /devices/usb1/1-2/1-2:1.0/0003:046D:C31C.0001 (hid)')).toBe(true)
    for (const other of [
      '',
      'KERNEL - the kernel uevent',
      'monitor will print the received events for:',
      'KERNEL[1.0] add /devices/net/eth0 (net)',
      'ACTION=add',
    ]) {
      expect(isUsbEvent(other)).toBe(false)
    }
  })
})

describe('watching by poll', () => {
  it('does not scan without changes, and scans once per burst', async () => {
    const { tree, changes, scans } = setUp()
    await new Promise((resolve) => setTimeout(resolve, 150))
    expect(scans()).toBe(1)
    for (let i = 2; i < 10; i++) tree.plug(storageStick({ portPath: `1-${i}` }))
    await until('burst', () => changes.length > 0)
    expect(changes.flat()).toHaveLength(8)
    expect(scans()).toBeLessThanOrEqual(3)
  })

  it('reports other devices despite a flapping one', async () => {
    const { tree, changes } = setUp()
    let n = 0
    const restless = setInterval(() => tree.write('1-1', 'product', `name ${n++}\n`), 5)
    onTestFinished(() => clearInterval(restless))
    tree.plug(storageStick({ portPath: '1-2' }))
    await until('attached', () => changes.flat().some((change) => change.op === 'attached'), 1500)
  })

  it('reports an unreadable device once, on its second scan, and the device when it is readable', async () => {
    const { tree, changes, errors } = setUp()
    tree.write('1-3', 'descriptors', Buffer.alloc(4))
    await until('error', () => errors.length > 0)
    tree.write('1-3', 'busnum', '1\n')
    tree.plug(storageStick({ portPath: '1-4' }))
    await until('other device', () => changes.flat().length === 1)
    expect(errors).toEqual(['descriptors_unreadable'])
    tree.plug(storageStick({ portPath: '1-3' }))
    await until('read', () => changes.flat().length === 2)
  })
})

describe('watching by monitor', () => {
  const EVENT_AFTER = (file: string) =>
    `${BANNER}; while [ ! -e ${file} ]; do sleep 0.02; done; echo '${EVENT}'; exec sleep 60`

  it('scans on an event without polling', async () => {
    const flag = join(temporaryDir(), 'go')
    const { tree, changes, lines } = setUp({ monitor: EVENT_AFTER(flag), timing: { ...timing, pollMs: 60_000 } })
    await until('monitor runs', () => lines.some((line) => line.includes('monitor_started')))
    await new Promise((resolve) => setTimeout(resolve, 100))
    tree.plug(storageStick({ portPath: '1-2' }))
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(changes).toEqual([])
    writeFileSync(flag, '')
    await until('reported', () => changes.flat().length === 1)
  })

  it('polls while the monitor is missing or has ended', async () => {
    const { tree, changes, lines } = setUp({ monitor: `${BANNER}; exit 1` })
    await until('monitor ended', () => lines.some((line) => line.includes('monitor_ended')))
    tree.plug(storageStick({ portPath: '1-2' }))
    await until('reported', () => changes.flat().length === 1)
  })

  it('warns once if the monitor is missing, and says that polling is enough', async () => {
    const lines: string[] = []
    let ends = 0
    const monitor = createUdevMonitor({
      command: [join(temporaryDir(), 'missing')],
      log: createLog({ clock: systemClock, level: 'info', write: (line) => lines.push(line) }),
      onEvent: () => {},
      onState: () => void ends++,
      backoff: { minMs: 1, maxMs: 2 },
    })
    onTestFinished(monitor.stop)
    monitor.start()
    await until('fifth start failed', () => ends >= 5)
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain('polls for devices instead, which is enough')
  })

  it('detects by a full scan that the monitor misses events, and polls from then on', async () => {
    const { tree, changes, lines } = setUp({
      monitor: `${BANNER}; exec sleep 60`,
      timing: { ...timing, resyncMs: 300 },
    })
    await until('monitor runs', () => lines.some((line) => line.includes('monitor_started')))
    await new Promise((resolve) => setTimeout(resolve, 100))
    tree.plug(storageStick({ portPath: '1-2' }))
    await until('resync', () => changes.flat().length === 1)
    expect(lines.some((line) => line.includes('monitor_missed_events'))).toBe(true)
    tree.unplug('1-2')
    await until('polled', () => changes.flat().length === 2)
  })
})
