/** Breaks copies of the product on purpose. A check that does not detect the breakage proves nothing. */
import { withSabotage } from './sabotage.ts'
import { type Check, type CheckSettings, type Finding, isMet, type Outcome, type Result, verdictOf } from './verdict.ts'

/** Runs one check and evaluates it. */
export type RunOne = (check: Check, settings: CheckSettings) => Promise<Result>

const missedOf = ({ findings }: Result): string[] => findings.filter((f) => !isMet(f)).map(({ what }) => what)

/**
 * Returns true if a broken copy made the check miss a bar that it met before, including the bar that the sabotage names.
 * A copy that does not run at all fails for the wrong reason.
 */
export const isSeen = (
  missedBefore: readonly string[],
  missed: readonly string[],
  red: string | undefined,
): { isSeen: boolean; newly: string[] } => {
  const newly = missed.filter((what) => !missedBefore.includes(what))
  return {
    newly,
    isSeen:
      newly.length > 0 &&
      !newly.includes('ended with an error') &&
      (red === undefined || newly.some((what) => what.includes(red))),
  }
}

/** Runs the short form of one check against each of its sabotages. */
export const selfTest = async (check: Check, settings: CheckSettings, runOne: RunOne): Promise<Result> => {
  const startedAt = performance.now()
  const { sabotages = [] } = check
  const findings: Finding[] = []
  const notRun: string[] = []
  const notes: string[] = []
  if (sabotages.length === 0) notRun.push('This check has no sabotage.')
  const quick = { ...settings, isQuick: true }
  const before = sabotages.length === 0 ? undefined : await runOne(check, quick)
  if (before !== undefined && before.findings.length === 0) notRun.push(...before.notRun)
  else
    for (const sabotage of sabotages) {
      const broken = await withSabotage(sabotage, (root) => runOne(check, { ...quick, root }))
      const seen = isSeen(missedOf(before as Result), missedOf(broken), sabotage.red)
      findings.push({ what: `notices: ${sabotage.what}`, value: seen.isSeen ? 1 : 0, atLeast: 1 })
      notes.push(
        seen.isSeen
          ? `${sabotage.what}: missed ${seen.newly.join('; ')}`
          : `${sabotage.what}: NOT NOTICED. ${broken.notes.slice(0, 3).join(' | ')}`,
      )
    }
  const outcome: Outcome = { findings, notRun, notes }
  return {
    name: check.name,
    what: `Self-test of ${check.name}: each sabotage of the product makes it miss a bar.`,
    verdict: verdictOf(outcome),
    seconds: Math.round((performance.now() - startedAt) / 100) / 10,
    seed: settings.seed,
    findings,
    notRun,
    notes,
  }
}
