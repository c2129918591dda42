import type { BodyOf, KnowledgeStatus, uploadKnowledge } from '@portcullis/contract'
import type { CallFailure } from '../../lib/problem.ts'
import { strings } from './strings.ts'

/** A signed knowledge file as it is sent. */
export type KnowledgeUpload = Omit<BodyOf<typeof uploadKnowledge>, 'trust'>

/** Reads a file that a person chose. Whether it is right, the server says; here it only has to be what can be sent. */
export const readKnowledgeFile = (text: string): KnowledgeUpload => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Error(strings.notJson)
  }
  if (typeof value !== 'object' || value === null || !('payload' in value) || !('signature' in value)) {
    throw new Error(strings.thisIsNoSignedKnowledgeFile)
  }
  return value as KnowledgeUpload
}

/** The fingerprint that the server asks to confirm, or null when that is not what it refused. */
export const trustAsked = ({ code, message }: Pick<CallFailure, 'code' | 'message'>): string | null =>
  code === 'knowledge_key_unknown' ? (/\b[0-9a-f]{64}\b/.exec(message)?.[0] ?? null) : null

/** How old the knowledge is. */
export const ageText = (days: number): string => {
  if (days <= 0) return 'made today'
  return days === 1 ? 'made yesterday' : strings.madeDaysDaysAgo({ days })
}

/** How far the judging by what is in force has come. */
export const judgingText = ({ designs, waiting, hosts }: KnowledgeStatus['judging']): string => {
  if (waiting > 0) return strings.designsOfDesigns2DesignsOfDevices({ designs: designs - waiting, designs2: designs })
  if (hosts > 0) return strings.hostsHostsStillGetTheirNew({ hosts })
  return strings.allDesignsDesignsOfDevicesAre({ designs })
}
