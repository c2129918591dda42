import { readFileSync } from 'node:fs'

/** File descriptors reserved for the database, files that are read or written, receivers and polled hosts. */
const reserve = 256
/** Fallback if the open files limit of the process is unknown. */
const usualFiles = 10_240

export interface ConnectionLimits {
  /** All connections of this process. */
  total: number
  /** One address, in all: the rest is left to others. Hosts behind one NAT share it. */
  address: number
  /** One address, without a credential: also while the server works on their requests. */
  strangers: number
  /** One address, without a credential: idle, sending a request, or reading a response. */
  silent: number
  /** One session or API token of a person. */
  credential: number
  /** One account, with all its sessions and API tokens. */
  account: number
  /** One agent or worker: a wake socket, check-ins, a download. */
  machine: number
}

/** Names of the limits, for metrics and the log. */
export type LimitName = keyof ConnectionLimits | 'unanswered' | 'rate' | 'unread' | 'download' | 'downloads'

/** Reads the open files limit of this process. Node raises the soft limit to the hard limit when it starts. */
const openFiles = (): number => {
  try {
    const most = /^Max open files\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1]
    return most === 'unlimited' ? Number.POSITIVE_INFINITY : Number(most ?? usualFiles)
  } catch {
    return usualFiles
  }
}

/** Returns the connection limits: in total the open files limit minus a reserve, or half of it if it is low. */
export const affordableConnections = (files = openFiles()): ConnectionLimits => {
  const total = Math.max(files - reserve, Math.floor(files / 2))
  const address = Math.floor((total / 8) * 7)
  return {
    total,
    address,
    strangers: Math.min(4_096, Math.floor(total / 4)),
    silent: Math.min(512, Math.floor(total / 4)),
    credential: 128,
    account: 256,
    machine: 32,
  }
}
