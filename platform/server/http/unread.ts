import { totalmem } from 'node:os'
import { endsOf, nameOf, unacknowledged } from '../tcp-table.ts'
import type { Reader } from './readers.ts'

const mebibyte = 1024 * 1024

/** Bytes that clients may leave unread in the kernel. */
export interface UnreadLimits {
  /** All connections. */
  total: number
  /** One address, account, agent or worker. */
  owner: number
}

/**
 * Returns the limits for a machine. The kernel drops segments of all connections once theirs take about 9 % of its memory,
 * and needs up to twice the bytes of their data.
 */
export const affordableUnread = (): UnreadLimits => {
  const memory = process.constrainedMemory() || totalmem()
  const total = Math.max(64 * mebibyte, Math.min(memory, totalmem()) / 32)
  return { total, owner: total / 4 }
}

/** A connection with bytes that its client may not have read. */
export interface Unread extends Reader {
  /** Its name in the table of the kernel. */
  name: string | undefined
  /** Bytes that its client had acknowledged when the table was read last. */
  acknowledged: number
}

const everybody = ''
/** Time for which a client may leave bytes in the kernel that it reads at a steady rate, in multiples of the interval. */
const patience = 4

/**
 * Limits the bytes that the kernel keeps for clients that do not read. Above a limit, it ends the connections with the most
 * of them, first those without a credential. Call `check` every two seconds.
 */
export const createUnread = <T extends Unread>(
  all: ReadonlySet<T>,
  {
    limits,
    ownersOf,
    end,
    read = unacknowledged,
  }: {
    limits: UnreadLimits
    /** Returns the owners of a connection: its address, account or machine. */
    ownersOf(one: T): readonly string[]
    end(one: T): void
    read?: typeof unacknowledged
  },
) => {
  const sentBy = ({ socket, encrypted }: T): number => {
    const sent = encrypted ?? socket
    return sent.bytesWritten - sent.writableLength
  }

  /** Returns the bytes of a connection that its client does not read soon. */
  function left(one: T, waiting: number): number {
    const acknowledged = sentBy(one) - waiting
    const progress = acknowledged - one.acknowledged
    one.acknowledged = acknowledged
    return waiting - patience * progress
  }

  return {
    check: async (): Promise<void> => {
      let possible = 0
      for (const one of all) possible += sentBy(one) - one.acknowledged
      if (possible <= limits.owner) return
      const table = await read()
      const shares = new Map<string, [T, number][]>()
      for (const one of all) {
        const ends = endsOf(one.socket)
        if (ends === null) continue
        one.name ??= nameOf(ends)
        const bytes = left(one, table.get(one.name) ?? 0)
        if (bytes <= 0) continue
        for (const owner of [...ownersOf(one), everybody]) {
          const share = shares.get(owner) ?? []
          share.push([one, bytes])
          shares.set(owner, share)
        }
      }
      for (const [owner, share] of shares) {
        const open = share.filter(([one]) => !one.socket.destroyed)
        let over = open.reduce((sum, [, bytes]) => sum + bytes, 0) - (owner === everybody ? limits.total : limits.owner)
        open.sort(([a, x], [b, y]) => Number(a.isKnown) - Number(b.isKnown) || y - x)
        for (const [one, bytes] of open) {
          if (over <= 0) break
          end(one)
          over -= bytes
        }
      }
    },
  }
}
