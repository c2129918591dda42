import { isRootHub } from './device-id.ts'
import { type CompiledTest, compileTest, type Subject } from './device-test.ts'
import { type Contradiction, compileGenuine } from './genuine.ts'
import { claimsHub, isPlainHub } from './hub.ts'
import type { AttackFinding, AttackToolRow, GenuineRow, Imitation } from './knowledge-types.ts'
import { createRowIndex } from './row-index.ts'
import { cleanText } from './text.ts'

interface Tool {
  row: AttackToolRow
  when: CompiledTest
  support: CompiledTest[]
}

const BEHAVIOUR_SOURCE = 'behaviour of the device'
/** A name that says keyboard or mouse on a device that also stores: found on disguised IP-KVMs in the field. */
const INPUT_NAME = /keyboard|mouse|receiver|input device/i

const idText = ({ vid, pid, pidTo }: AttackToolRow): string => `${vid}:${pid ?? 'any'}${pidTo ? `-${pidTo}` : ''}`

/** A finding of one of the lists, before behaviour is looked at. */
const listed = (tool: Tool, subject: Subject): AttackFinding | null => {
  const { row } = tool
  if (row.group === 'policy' || (row.group === 'real' && !row.when)) return null
  const seen = tool.when(subject)
  if (seen === null) return null
  const evidence = [...seen]
  if (row.vid) evidence.unshift(`ids ${idText(row)} are on the list`)
  if (row.group === 'board') {
    if (!subject.kinds.includes('Keyboard')) return null
    evidence.push('a developer board that acts as a keyboard')
  }
  const supported = tool.support.flatMap((test) => test(subject) ?? [])
  return {
    level: supported.length > 0 ? 'confirmed' : 'suspected',
    name: row.name,
    evidence: [...evidence, ...supported],
    source: row.source,
  }
}

/** What a device does, whatever it calls itself. */
const behaviour = ({ parsed, report, kinds }: Subject): AttackFinding | null => {
  const has = (kind: Subject['kinds'][number]): boolean => kinds.includes(kind)
  const finding = (level: AttackFinding['level'], name: string, evidence: string): AttackFinding => ({
    level,
    name,
    evidence: [evidence],
    source: BEHAVIOUR_SOURCE,
  })
  if (has('Keyboard') && (has('Mass Storage') || has('Network'))) {
    const others = kinds.filter((kind) => kind === 'Mass Storage' || kind === 'Network')
    return finding(
      'confirmed',
      `Keyboard with ${others.join(' and ').toLowerCase()}`,
      `one device is keyboard and ${others.join(' and ').toLowerCase()}`,
    )
  }
  // Hubs pass every policy, so one that can type or store is a way around it; genuine hubs keep such functions behind a port.
  const hidden = kinds.filter((kind) => kind === 'Keyboard' || kind === 'Mass Storage' || kind === 'Network')
  if (has('Hub') && hidden.length > 0)
    return finding(
      'confirmed',
      'Hub with hidden functions',
      `one device is hub and ${hidden.join(' and ').toLowerCase()}`,
    )
  if (parsed.isComplete && claimsHub(parsed) && !isPlainHub(parsed))
    return finding('suspected', 'False hub', 'claims to be a hub but does not have the descriptors of one')
  if (has('Mouse') && has('Mass Storage') && INPUT_NAME.test(report.product ?? ''))
    return finding(
      'suspected',
      'Input device with mass storage',
      `named "${cleanText(report.product ?? '', 80)}" and offers mass storage`,
    )
  if (isRootHub(parsed) && report.portPath.includes('-'))
    return finding('suspected', 'False root hub', `claims the ids of a root hub at port ${report.portPath}`)
  return null
}

/** 3 points are proof, 2 a suspicion, single differences of a new revision are nothing. */
const judge = (found: Contradiction[]): AttackFinding['level'] | null => {
  const points = found.reduce((sum, c) => sum + c.weight, 0)
  if (points >= 3) return 'confirmed'
  return found.some((c) => c.weight === 2) ? 'suspected' : null
}

/** Merges findings about one device: the highest level, the name of the surest list match, all evidence. */
const merge = (findings: AttackFinding[]): AttackFinding | null => {
  const [first] = findings
  if (!first) return null
  const level = findings.some((f) => f.level === 'confirmed') ? 'confirmed' : 'suspected'
  const evidence = [...new Set(findings.flatMap((f) => f.evidence))]
  return { level, name: first.name, evidence, source: [...new Set(findings.map((f) => f.source))].join('; ') }
}

/**
 * Judges devices by the list of known attack tools, by the facts of genuine products and by behaviour. `contradicts`
 * is true when the device can not be the product of its ids, so that nothing said about that product holds for it.
 */
export const createAttackTools = (rows: readonly AttackToolRow[], genuine: readonly GenuineRow[]) => {
  const compile = (row: AttackToolRow): Tool => ({
    row,
    when: compileTest(row.when),
    support: (row.support ?? []).map(compileTest),
  })
  const byId = createRowIndex(rows, compile)
  const byStrings = rows.filter((row) => !row.vid && row.when).map(compile)
  const genuineById = createRowIndex(genuine, (row) => ({ row, compare: compileGenuine(row) }))
  const imitations = (subject: Subject): Imitation[] =>
    genuineById.find(subject.parsed.vid, subject.parsed.pid).flatMap(({ row, compare }) => {
      const found = compare(subject)
      const level = judge(found)
      return level === null ? [] : [{ level, row, evidence: found.map((c) => c.evidence) }]
    })
  return {
    imitations,
    assess: (subject: Subject): { finding: AttackFinding | null; contradicts: boolean } => {
      const { vid, pid } = subject.parsed
      const findings: AttackFinding[] = []
      for (const tool of byStrings) {
        const found = listed(tool, subject)
        if (found) findings.push(found)
      }
      for (const tool of byId.find(vid, pid)) {
        const found = listed(tool, subject)
        if (!found) continue
        findings.push(found)
        break
      }
      let contradicts = false
      for (const { row, level, evidence } of imitations(subject)) {
        contradicts ||= level === 'confirmed'
        findings.push({ level, name: `Imitation of ${row.name}`, evidence, source: row.source })
      }
      const acts = behaviour(subject)
      if (acts) findings.push(acts)
      return { finding: merge(findings), contradicts }
    },
  }
}
