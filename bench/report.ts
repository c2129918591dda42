/** The results of a run as a page of the documentation: one column for each size of the fleet, so that growth shows. */
import { machine } from '../rig/machine.ts'
import type { BenchResult, Figure } from './result.ts'
import { ratioOf } from './result.ts'

const cellOf = (figure: Figure | undefined): string => {
  if (figure === undefined) return ''
  const ratio = ratioOf(figure)
  const bar =
    figure.limit === undefined ? '' : ` (${figure.better === 'more' ? '≥' : '≤'} ${figure.limit.toLocaleString('en')})`
  const missed = ratio !== null && ratio < 1 ? ' **missed**' : ''
  const beside = figure.beside === undefined ? '' : `, ${figure.beside}`
  return `${figure.value.toLocaleString('en')} ${figure.unit}${beside}${bar}${missed}`.replace(/ +/g, ' ').trim()
}

const tableOf = (results: readonly BenchResult[]): string[] => {
  const rows = [...new Set(results.flatMap(({ figures }) => figures.map(({ what }) => what)))]
  return [
    `| figure | ${results.map(({ agents }) => (agents === undefined ? 'reached' : `${agents.toLocaleString('en')} hosts`)).join(' | ')} |`,
    `|---|${results.map(() => '---|').join('')}`,
    ...rows.map(
      (row) =>
        `| ${row} | ${results.map(({ figures }) => cellOf(figures.find(({ what }) => what === row))).join(' | ')} |`,
    ),
  ]
}

/** What missed its limit, so that nobody has to look for it among hundreds of figures. */
const missedOf = (results: readonly BenchResult[]): string[] => {
  const missed = results.flatMap(({ name, agents, figures }) =>
    figures
      .filter((figure) => (ratioOf(figure) ?? 1) < 1)
      .map(
        (figure) => `${name}, ${figure.what}${agents === undefined ? '' : ` at ${agents.toLocaleString('en')} hosts`}`,
      ),
  )
  const judged = results.flatMap(({ figures }) => figures).filter((figure) => ratioOf(figure) !== null).length
  return [
    `${judged - missed.length} of ${judged} figures that have a limit reach it${missed.length === 0 ? '.' : '; missed:'}`,
    ...(missed.length === 0 ? [] : ['', ...missed.map((line) => `- ${line}`)]),
  ]
}

/** Markdown of all results; limits stand in parentheses behind the figures. */
export const reportOf = (results: readonly BenchResult[], isQuick: boolean): string => {
  const names = [...new Set(results.map(({ name }) => name))]
  return [
    '# Benchmarks',
    '',
    `\`npm run bench${isQuick ? ' -- --quick' : ''}\`: ${machine()}.`,
    'Load generator, server and database share the machine. Limits stand in parentheses.',
    '',
    ...missedOf(results),
    '',
    ...names.flatMap((name) => {
      const some = results.filter((result) => result.name === name)
      return [`## ${name}`, '', ...some.map(({ conditions }) => `- ${conditions}`), '', ...tableOf(some), '']
    }),
  ].join('\n')
}
