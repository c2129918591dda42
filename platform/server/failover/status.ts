import type { DatabaseHost } from '../db/hosts.ts'
import { isDetached, isMember, labelOf, type Member, type MemberState, readMember } from './members.ts'

/** What `portcullis database status` prints of a server. */
export interface MemberStatus {
  host: string
  role: 'primary' | 'read-only primary' | 'standby' | 'detached standby' | 'unreachable'
  /** Reason if it is unreachable. */
  reason?: string
  timeline?: number
  follows?: string | null
  /** Bytes of log that it stores less than the server with the most log. */
  behind?: number
  synchronous?: string
}

const roleOf = (member: MemberState): MemberStatus['role'] =>
  member.isStandby
    ? isDetached(member)
      ? 'detached standby'
      : 'standby'
    : member.isFenced
      ? 'read-only primary'
      : 'primary'

/** Returns the role and the position of each server. */
export const clusterStatus = async (hosts: readonly DatabaseHost[]): Promise<MemberStatus[]> => {
  const members: Member[] = await Promise.all(hosts.map(readMember))
  const most = Math.max(0, ...members.filter(isMember).map(({ position }) => position))
  return members.map((member) =>
    isMember(member)
      ? {
          host: labelOf(member),
          role: roleOf(member),
          timeline: member.timeline,
          follows: member.follows,
          behind: most - member.position,
          synchronous: member.synchronous,
        }
      : { host: labelOf(member), role: 'unreachable', reason: member.reason },
  )
}

const sizeOf = (bytes: number): string => (bytes < 2 ** 20 ? `${bytes} bytes` : `${Math.round(bytes / 2 ** 20)} MiB`)

/** Returns one line per server for a terminal. */
export const statusText = (status: readonly MemberStatus[]): string =>
  status
    .map(({ host, role, reason, timeline, follows, behind = 0, synchronous = '' }) => {
      if (reason !== undefined) return `${host} ${reason}`
      const state = role.endsWith('primary')
        ? `synchronous_standby_names: ${synchronous === '' ? 'empty, so replication is asynchronous' : synchronous}`
        : `${follows === null ? 'follows no server' : `follows ${follows}`}, ${behind === 0 ? 'up to date' : `${sizeOf(behind)} behind`}`
      return `${host} is a ${role} on timeline ${timeline}; ${state}`
    })
    .join('\n')
