import { parseReport } from '@portcullis/domain'
import type { SpoofedIdentity } from '#features/contract.ts'
import type { KnowledgeApi } from '#features/knowledge/server/index.ts'
import { besideGenuine, besideUsual, isNoEvidence, reportOf } from './identity.ts'
import { type InsightsRead, iconName, type SuspectRow } from './insights.read.ts'

/** Minimum number of devices with the same ids for a consensus of the fleet, and the share that must agree. */
const consensusRule = { devices: 20, share: 0.95 } as const

const shown = (row: SuspectRow) => ({
  vid: row.vid,
  pid: row.pid,
  guiVid: row.vendor,
  guiPid: row.model_product || row.product,
  devIcon: row.icon,
  devIconDescription: iconName(row.icon),
  fingerprint: row.fingerprint,
  interfaces: row.interfaces,
  agentsCount: row.hosts,
  peripheralsCount: row.devices,
  firstSeen: row.first_seen,
  lastSeen: row.last_seen,
  agents: row.agents,
})

/**
 * Finds devices that are probably not what their ids claim. Facts about genuine products confirm a spoofed identity.
 * The consensus of the fleet only suspects and changes no severity; otherwise one purchase of a new revision would flag
 * half a fleet.
 */
export const createSpoofedIdentities = (read: InsightsRead, knowledge: KnowledgeApi) => {
  function against(row: SuspectRow): Pick<SpoofedIdentity, 'level' | 'basis' | 'evidence' | 'diff' | 'consensus'>[] {
    const report = reportOf(row)
    const imitations = knowledge
      .current()
      .imitations(parseReport(report), report)
      .map(({ level, row: genuine, evidence }) => ({
        level,
        basis: 'genuine' as const,
        evidence,
        diff: besideGenuine(report, genuine),
        consensus: null,
      }))
    if (imitations.length > 0 || row.usual === null) return imitations.slice(0, 1)
    const usual = reportOf(row.usual)
    const share = Math.round((row.usual.shape_devices / row.usual.model_devices) * 1e4) / 1e4
    const ids = `${row.vid}:${row.pid}`
    const diff = besideUsual(report, usual)
    const others = `${row.usual.shape_devices} of ${row.usual.model_devices} devices of ${ids}`
    const isSameShape = row.interfaces === row.usual.interfaces
    const sameSpeed = report.speedMbps === usual.speedMbps
    const differing = diff.filter((d) => d.differs && !isNoEvidence(d.field, sameSpeed))
    if (isSameShape && differing.length === 0) return []
    const evidence = isSameShape
      ? differing.map((d) => `${d.field}: ${d.device}; ${others} have ${d.expected}`)
      : [`interfaces are ${row.interfaces || 'none'}; ${others} have ${row.usual.interfaces || 'none'}`]
    return [
      {
        level: 'suspected',
        basis: 'consensus',
        evidence,
        diff,
        consensus: { devices: row.usual.model_devices, share },
      },
    ]
  }

  return async (): Promise<{ total: number; rows: SpoofedIdentity[] }> => {
    const rows = (await read.suspects(consensusRule)).flatMap((row) =>
      against(row).map((finding): SpoofedIdentity => ({ ...finding, ...shown(row) })),
    )
    const rank = { confirmed: 0, suspected: 1 } as const
    rows.sort((a, b) => rank[a.level] - rank[b.level] || (a.firstSeen < b.firstSeen ? 1 : -1))
    return { total: rows.length, rows }
  }
}
