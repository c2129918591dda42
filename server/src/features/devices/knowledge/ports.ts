import type { KnowledgeEffect, KnowledgeStatus } from '@portcullis/contract'
import type { Knowledge } from '@portcullis/domain'

/** What knowledge needs of peripherals, which are a higher feature: what it would change, and whether it already did. */
export interface JudgingPort {
  /** What other knowledge would change of the verdicts on devices that are present; reads for seconds, in no transaction. */
  effectOf(knowledge: Knowledge): Promise<Omit<KnowledgeEffect, 'version' | 'computedAt'>>
  /** What the job that judges anew still has before it. */
  progress(version: string): Promise<KnowledgeStatus['judging']>
}
