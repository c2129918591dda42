import { hex4 } from './descriptors.ts'
import { type CompiledTest, compileTest, type Subject } from './device-test.ts'
import type { Confidence, FirmwareCondition, Vulnerability, VulnerableRow } from './knowledge-types.ts'
import { createRowIndex } from './row-index.ts'

interface Weakness {
  row: VulnerableRow
  when: CompiledTest
}

/** Returns the confidence that this firmware is affected, or null if it is not. Four hex digits compare as text. */
const firmwareConfidence = (condition: FirmwareCondition, bcdDevice: string): Confidence | null => {
  if (condition.exact?.includes(bcdDevice)) return 'firmware'
  const branch = condition.branches?.find(({ from, below }) => from <= bcdDevice && bcdDevice < below)
  return branch === undefined ? null : (branch.confidence ?? 'firmware')
}

const confidenceOf = ({ row }: Weakness, { parsed }: Subject): Confidence | null => {
  const found = row.firmware ? firmwareConfidence(row.firmware, hex4(parsed.bcdDevice)) : (row.confidence ?? 'model')
  return found !== null && row.sharedWith !== undefined && row.when === undefined ? 'family' : found
}

const order: Record<Confidence, number> = { firmware: 0, model: 1, family: 2 }

/** Finds the published vulnerabilities of devices, highest confidence first. */
export const createVulnerabilities = (rows: readonly VulnerableRow[]) => {
  const compile = (row: VulnerableRow): Weakness => ({ row, when: compileTest(row.when) })
  const usable = rows.filter((row) => row.match !== 'none' && (row.match === 'id' || row.when))
  const byId = createRowIndex(usable, compile)
  const byStrings = usable.filter((row) => !row.vid).map(compile)
  return {
    assess: (subject: Subject): Vulnerability[] => {
      const found: Vulnerability[] = []
      const seen = new Set<string>()
      for (const weakness of [...byId.find(subject.parsed.vid, subject.parsed.pid), ...byStrings]) {
        if (weakness.when(subject) === null) continue
        const confidence = confidenceOf(weakness, subject)
        const { row } = weakness
        const key = `${row.id} ${row.weakness}`
        if (confidence === null || seen.has(key)) continue
        seen.add(key)
        found.push({
          id: row.id,
          weakness: row.weakness,
          cvss: row.cvss,
          confidence,
          firmwareCondition: row.condition === '-' ? '' : row.condition,
          source: row.source,
        })
      }
      return found.sort((a, b) => order[a.confidence] - order[b.confidence])
    },
  }
}
