import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { noSealing, type Platform, type System, type SystemSettings } from '../platform.ts'
import { posixSystem, preparePrivateDir } from '../posix.ts'
import { currentBoot } from './boot.ts'
import { createFactsCollector } from './facts.ts'
import { createHostNeeds } from './host-needs.ts'
import { createInterfaces } from './interfaces.ts'
import { createKernel } from './kernel.ts'
import { createMessage } from './message.ts'
import { createUdevMonitor } from './monitor.ts'
import { linuxProcesses } from './processes.ts'
import { createSysfsCollector } from './sysfs.ts'
import { createUdev } from './udev.ts'
import { findOtherController } from './usbguard.ts'
import { createWatchdog } from './watchdog.ts'

const parseWords = (value: string): readonly string[] | undefined => {
  const words = value.split(/\s+/).filter((word) => word !== '')
  return words.length === 0 || value.trim() === 'none' ? undefined : words
}

/** Kernel events describe only the `/sys` of the running kernel. The agent polls another tree unless a command is set. */
const monitorCommand = (value: string | undefined, isOwn: boolean): readonly string[] | undefined => {
  if (value !== undefined) return parseWords(value)
  return isOwn ? ['udevadm', 'monitor', '--kernel', '--subsystem-match=usb', '--subsystem-match=hid'] : undefined
}

/** A tree other than /sys is used only in tests, so the agent notifies no users unless a command is set. */
const notifyCommand = (value: string | undefined, isOwn: boolean): readonly string[] | undefined => {
  if (value !== undefined) return parseWords(value)
  const wall = ['/usr/bin/wall', '/bin/wall'].find((path) => existsSync(path))
  return isOwn && wall !== undefined ? [wall] : undefined
}

/** Reads and controls the USB devices of a Linux host. */
const createLinux = (settings: SystemSettings): Platform => {
  const sysfsRoot = settings['sysfs-root'] ?? '/sys'
  const procRoot = settings['proc-root'] ?? '/proc'
  const etcRoot = settings['etc-root'] ?? '/etc'
  const isOwn = sysfsRoot === '/sys'
  const publicDir = settings['public-dir'] ?? (isOwn ? '/run/portcullis-agent' : undefined)
  const monitor = monitorCommand(settings['monitor-command'], isOwn)
  return {
    inventory: createSysfsCollector({ sysfsRoot }),
    monitor: monitor && ((deps) => createUdevMonitor({ ...deps, command: monitor })),
    facts: (deps) => createFactsCollector({ ...deps, sysfsRoot, etcRoot }),
    boot: currentBoot(procRoot),
    gate: createKernel({ sysfsRoot, otherController: () => findOtherController({ procRoot, etcRoot }) }),
    interfaces: createInterfaces({ sysfsRoot }),
    needs: createHostNeeds({ procRoot, sysfsRoot }),
    programs: createUdev({ sysfsRoot, dataDir: isOwn ? '/run/udev/data' : undefined, publicDir }),
    watchdog: ({ self, stateDir, log }) => {
      const where = ['--state-dir', stateDir, '--sysfs-root', sysfsRoot, '--proc-root', procRoot]
      return createWatchdog({ restore: self && [...self, 'restore', ...where], log })
    },
    showMessage: createMessage(notifyCommand(settings['notify-command'], isOwn)),
    publicDir,
    secrets: noSealing,
    prepareStateDir: preparePrivateDir,
    architecture: process.arch,
  }
}

export const linux: System = {
  ...posixSystem,
  stateDir: '/var/lib/portcullis-agent',
  settings: ['sysfs-root', 'proc-root', 'etc-root', 'monitor-command', 'notify-command', 'public-dir'],
  processes: linuxProcesses,
  restart(program, env) {
    // systemd sets this variable for its services and restarts the agent when it ends. If an undetected service manager
    // starts it too, the lock ends the second process.
    if (env.INVOCATION_ID !== undefined) return
    spawn(program, process.argv.slice(2), { stdio: 'ignore', detached: true }).unref()
  },
  // systemd sets this variable only for commands that it runs after the service ended.
  isAfterEnd: (env) => env.SERVICE_RESULT !== undefined,
  create: createLinux,
}
