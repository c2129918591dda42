/** Finds figures that a check has a bar for and that its run did not produce. */
import type { Result } from '../../rig/verdict.ts'
import type { Page } from './parts.ts'
import type { Bar } from './read-bars.ts'

/** A figure may have a name before it ("data: lost"), and another one in the short form. */
const patternOf = (figure: string): RegExp => {
  const name = figure
    .split(/\{[^}]*\}/)
    .map((text) => text.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&'))
    .join('.*')
  return new RegExp(`^(?:.*: )?${name}(?: \\(short form\\))?$`)
}

/** Lists the absent figures of a finished run. Of figures that exclude each other, one is enough. */
export const absentFigures = (bars: readonly Bar[], page: Page, { name, findings }: Result): string[] => {
  const own = bars.filter(({ check, isPassedOn }) => check === `${page} ${name}` && !isPassedOn)
  const isThere = ({ figure }: Bar): boolean => {
    const pattern = patternOf(figure)
    return findings.some(({ what }) => pattern.test(what))
  }
  return [
    ...new Set(
      own
        .filter((bar) => !isThere(bar))
        .filter(({ choice }) => choice === undefined || !own.some((one) => one.choice === choice && isThere(one)))
        .map(({ figure }) => figure),
    ),
  ]
}
