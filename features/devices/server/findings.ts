import { type FindingVerdict, severities } from '#features/contract.ts'
import type { Fingerprint } from './fingerprint.ts'

/** The latest finding about a device of a host. */
export interface DeviceFinding {
  /** Null: not stored yet. */
  id: number | null
  /** The fingerprint that caused it. The device may have reported another one since. */
  fingerprint: Fingerprint
  severity: number
  lastAttached: Date
  /** Null: attached. */
  detachedAt: Date | null
  attachments: number
  /** Null: open. */
  verdict: FindingVerdict | null
}

/** The points of a removed device halve after this time, again and again. */
const halfLifeMs = 7 * 86_400_000
/** After this number of halvings, one of at most 100 points is left. */
const mostHalvings = 7

const halvings = (detachedAt: Date | null, now: number): number =>
  detachedAt === null ? 0 : Math.max(0, Math.floor((now - detachedAt.getTime()) / halfLifeMs))

/**
 * Returns the points of an open finding: all while its device is attached, half after each week without it, and at least
 * one.
 */
export const pointsOf = ({ detachedAt }: DeviceFinding, points: number, now: number): number =>
  Math.max(1, Math.round(points / 2 ** halvings(detachedAt, now)))

/** Returns when the points of a finding halve next; null: never. */
export const halvesAt = (detachedAt: Date | null, now: number): Date | null => {
  const next = halvings(detachedAt, now) + 1
  return detachedAt === null || next > mostHalvings ? null : new Date(detachedAt.getTime() + next * halfLifeMs)
}

export const isOpen = (finding: DeviceFinding | null): finding is DeviceFinding & { verdict: null } =>
  finding !== null && finding.verdict === null

const isFound = ({ severity }: Fingerprint): boolean => severity >= severities.vulnerable

/** Applies a verdict that newer knowledge or an acceptance changed. */
const reevaluated = (finding: DeviceFinding, fingerprint: Fingerprint): DeviceFinding => {
  if (fingerprint.id !== finding.fingerprint.id) return finding
  if (!isFound(fingerprint))
    return isOpen(finding) ? { ...finding, verdict: fingerprint.accepted ? 'accepted' : 'withdrawn' } : finding
  const wasEnded = finding.verdict === 'accepted' || finding.verdict === 'withdrawn'
  if (!wasEnded && (!isOpen(finding) || finding.severity === fingerprint.severity)) return finding
  return { ...finding, severity: fingerprint.severity, verdict: null }
}

/** Returns whether a person closed a finding about the same device as harmless. */
const isHarmless = ({ verdict, severity, fingerprint }: DeviceFinding, found: Fingerprint): boolean =>
  (verdict === 'benign' || verdict === 'false') &&
  severity >= found.severity &&
  fingerprint.device.ruleFingerprint === found.device.ruleFingerprint

/**
 * Returns the finding about a device after a report or new knowledge; the same object if nothing changed. Only the verdict
 * of a person or of the knowledge ends a finding, not the removal of the device. `attached`: the worst fingerprint with
 * which the report attached the device.
 */
export const nextFinding = (
  known: DeviceFinding | null,
  device: { fingerprint: Fingerprint; present: boolean },
  attached: Fingerprint | undefined,
  now: number,
): DeviceFinding | null => {
  const before = known === null ? null : reevaluated(known, device.fingerprint)
  const found = attached ?? (device.present ? device.fingerprint : undefined)
  const isThere = device.present && isFound(device.fingerprint)
  const place = { lastAttached: new Date(now), detachedAt: isThere ? null : new Date(now) }
  if (found !== undefined && isFound(found)) {
    if (!isOpen(before))
      return before !== null && isHarmless(before, found)
        ? attached !== undefined || before.detachedAt !== null
          ? { ...before, ...place, attachments: before.attachments + 1 }
          : before
        : { id: null, fingerprint: found, severity: found.severity, ...place, attachments: 1, verdict: null }
    const isWorse = found.severity > before.severity
    const worse = isWorse ? { fingerprint: found, severity: found.severity } : {}
    if (attached !== undefined || before.detachedAt !== null)
      return { ...before, ...worse, ...place, attachments: before.attachments + 1 }
    if (isWorse) return { ...before, ...worse }
  }
  // A closed finding follows its device, too: the list shows where it is, and a reopened one counts from its removal.
  const isHere = isOpen(before) ? isThere : device.present
  return before !== null && before.detachedAt === null && !isHere ? { ...before, detachedAt: new Date(now) } : before
}
