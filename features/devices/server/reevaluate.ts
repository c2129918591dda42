import { isDeepStrictEqual } from 'node:util'
import { classify, type Kind, type Knowledge, parseReport } from '@portcullis/domain'
import type { DeviceReport } from '#features/contract.ts'
import { classified, type Verdict, verdictBy } from './fingerprint.ts'
import type { EvaluatedRow, NewVerdict, Sample } from './reevaluation.store.ts'

export const levels = [null, 'suspected', 'confirmed'] as const
const levelNumber = (level: Verdict['attackTool']): number => levels.indexOf(level)

/** Placeholder for a serial number that no pattern of the knowledge matches. */
const someSerial = '?'

/** Rebuilds the report of a stored fingerprint; without stored inputs, uses one of its devices. */
export const reportOf = (row: EvaluatedRow, sample: Sample | undefined): DeviceReport => {
  const { judged_by: inputs } = row
  const { serial = '', speed = 0 } =
    inputs === null
      ? (sample ?? {})
      : { serial: inputs.serial === true ? someSerial : inputs.serial || '', speed: inputs.speed }
  return {
    portPath: sample?.port_path ?? '1-1',
    descriptors: row.descriptors.toString('base64'),
    ...(row.manufacturer === '' ? {} : { manufacturer: row.manufacturer }),
    ...(row.product === '' ? {} : { product: row.product }),
    ...(row.configuration === '' ? {} : { configuration: row.configuration }),
    ...(serial === '' ? {} : { serial }),
    ...(speed === 0 ? {} : { speedMbps: speed }),
    ...(inputs === null ? {} : { removable: inputs.removable, reportDescriptors: [...inputs.reportDescriptors] }),
    ...(inputs?.configurationValue === undefined ? {} : { configurationValue: inputs.configurationValue }),
  }
}

export type Evaluated = Verdict & ReturnType<typeof classified>

/**
 * Re-evaluates a fingerprint from its stored inputs. Without stored inputs, returns the worst verdict over some of its
 * devices, and keeps the stored kinds if they depend on report descriptors.
 */
export const reevaluate = (knowledge: Knowledge, row: EvaluatedRow): Evaluated => {
  const samples = row.judged_by !== null || row.samples.length === 0 ? [undefined] : row.samples
  return samples
    .map((sample): Evaluated => {
      const report = reportOf(row, sample)
      const parsed = parseReport(report)
      const found = classified(classify(parsed, report, knowledge.productName(parsed.vid, parsed.pid) ?? ''))
      const { icon, kinds, class_code, subclass_code, protocol_code } = row
      const kind =
        row.judged_by === null && row.saw_reports
          ? {
              icon,
              kinds: kinds as Kind[],
              classCode: class_code,
              subclassCode: subclass_code,
              protocolCode: protocol_code,
            }
          : found
      return { ...verdictBy(knowledge, report, parsed, kind.kinds), ...kind }
    })
    .reduce((worst, next) => (next.severity > worst.severity ? next : worst))
}

export const hasChanged = (row: EvaluatedRow, verdict: Verdict): boolean =>
  row.severity !== verdict.severity ||
  row.vulnerable !== verdict.vulnerable ||
  row.attack_tool !== levelNumber(verdict.attackTool) ||
  row.findings !== verdict.findings ||
  !isDeepStrictEqual(row.evidence, verdict.evidence)

/** 1: worse attack tool verdict; 2: newly vulnerable. */
export const newsOf = (row: EvaluatedRow, verdict: Pick<Verdict, 'attackTool' | 'vulnerable'>): number =>
  (levelNumber(verdict.attackTool) > row.attack_tool ? 1 : 0) + (verdict.vulnerable && !row.vulnerable ? 2 : 0)

export const newVerdict = (row: EvaluatedRow, verdict: Evaluated, folded: string): NewVerdict => ({
  fingerprintId: row.design_id,
  attackTool: levelNumber(verdict.attackTool),
  accepted: verdict.accepted,
  vulnerable: verdict.vulnerable,
  severity: verdict.severity,
  evidence: verdict.evidence,
  missingEvidence: verdict.missingEvidence,
  vulnerabilities: verdict.vulnerabilities,
  findings: verdict.findings,
  folded,
  icon: verdict.icon,
  kinds: verdict.kinds,
  classCode: verdict.classCode,
  subclassCode: verdict.subclassCode,
  protocolCode: verdict.protocolCode,
  hasChanged: hasChanged(row, verdict),
  news: newsOf(row, verdict),
})
