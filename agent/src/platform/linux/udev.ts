import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { removeIfThere } from '../../files.ts'
import type { Programs } from '../platform.ts'
import { writeAttribute } from './kernel.ts'
import { linuxProcesses } from './processes.ts'

export interface UdevDeps {
  sysfsRoot: string
  /** Directory in which udev stores the devices that it has processed. Undefined for a tree that udev does not know. */
  dataDir: string | undefined
  /** Directory for the decisions. Undefined if nobody waits for them. */
  publicDir: string | undefined
  write?: typeof writeAttribute
}

/**
 * Informs udev, and so the programs that listen to it. The rule of the installation (`00-portcullis.rules`) holds back a
 * new device until it is among the published decisions.
 */
export const createUdev = ({ sysfsRoot, dataDir, publicDir, write = writeAttribute }: UdevDeps): Programs => {
  const root = join(sysfsRoot, 'bus/usb/devices')
  const agent = `agent ${process.pid} ${linuxProcesses.startTime(process.pid)}\n`
  const withdrawn = new Set<string>()
  let published: string | undefined

  function read(portPath: string, name: string): string | undefined {
    try {
      return readFileSync(join(root, portPath, name), 'latin1').trim()
    } catch {
      return undefined
    }
  }

  function send(portPath: string, action: string): void {
    try {
      write(join(root, portPath, 'uevent'), action)
    } catch {
      // The device was removed.
    }
  }

  const attachmentOf = (portPath: string): string => `${portPath} ${read(portPath, 'devnum')}`

  return {
    publish(decided): void {
      const text = decided && agent + [...decided].map(([portPath, instance]) => `${portPath} ${instance}\n`).join('')
      if (publicDir === undefined || text === published) return
      published = text
      const path = join(publicDir, 'decided')
      try {
        if (text === undefined) removeIfThere(path)
        else {
          mkdirSync(publicDir, { recursive: true, mode: 0o755 })
          writeFileSync(`${path}.new`, text)
          renameSync(`${path}.new`, path)
        }
      } catch {
        // Programs then see new devices before the decision.
      }
    },
    withdraw(portPath): void {
      const number = read(portPath, 'dev')
      if (dataDir === undefined || number === undefined || !existsSync(join(dataDir, `c${number}`))) return
      withdrawn.add(attachmentOf(portPath))
      send(portPath, 'remove')
    },
    announce(portPath): void {
      if (withdrawn.delete(attachmentOf(portPath))) send(portPath, 'add')
      // On a free host, this event comes after the interfaces. Here, the kernel sent it before them.
      send(portPath, 'bind')
    },
  }
}
