/** Writes the proof pages from one file of figures. Templates hold the prose and no figures. */
import { readFileSync } from 'node:fs'
import { barOf, type Finding, isMet, type Result } from '../../rig/verdict.ts'
import { parts as allParts, fleetSizes, type Page } from './parts.ts'
import { sizingRows } from './sizing.ts'
import { editedRuns, type Form, type PartRuns, type Proof, type Run, shownRun } from './store.ts'

const red = '🔴'
const templates = new URL('templates/', import.meta.url)

/** Maps the path of each page to its template. */
const files = {
  'docs/proof/README.md': 'README.md',
  'docs/proof/bench.md': 'bench.md',
  'docs/proof/drill.md': 'drill.md',
  'docs/proof/gate.md': 'gate.md',
  'docs/proof/self-test.md': 'self-test.md',
  'docs/proof/devices.md': 'devices.md',
  'docs/guide/sizing.md': 'sizing.md',
} as const

const figure = ({ value }: Finding): string =>
  typeof value === 'number' && Number.isFinite(value) ? value.toLocaleString('en') : 'none'

const withUnit = (finding: Finding): string =>
  [figure(finding), finding.unit, finding.beside === undefined ? undefined : `(${finding.beside})`]
    .filter((text) => text !== undefined && text !== '')
    .join(' ')

/** Escapes external text for a cell or list item: one line, without Markdown syntax. */
const plain = (text: string): string => text.split('\n')[0]!.replaceAll('|', '\\|').replaceAll('<', '&lt;')

const isJudged = (finding: Finding): boolean => barOf(finding) !== ''

const missedIn = (result: Result): Finding[] => result.findings.filter((one) => isJudged(one) && !isMet(one))

const sizeOf = ({ agents }: Pick<Result, 'agents'>): string =>
  agents === undefined ? '' : ` at ${agents.toLocaleString('en')} hosts`

const nameOf = (part: string, result: Result): string =>
  `${part.startsWith('self-test/') ? 'self-test of ' : ''}${result.name}${sizeOf(result)}`

interface Shown {
  part: string
  run: Run
  runs: readonly Run[]
}

const shownOf = (proof: Proof, form: Form, page?: Page): Shown[] =>
  proof.names.flatMap((part) => {
    const known = proof.parts.find((one) => one.part === part && one.form === form)
    if (known === undefined || (page !== undefined && pageOf(part) !== page)) return []
    return [{ part, run: shownRun(known), runs: known.runs }]
  })

const pageOf = (part: string): Page => part.split('/')[0] as Page

const missesOf = ({ part, run }: Shown): string[] =>
  run.results.flatMap((result) =>
    missedIn(result).map(
      (one) => `${red} **${plain(nameOf(part, result))}, ${plain(one.what)}: ${withUnit(one)}, bar ${barOf(one)}**`,
    ),
  )

const gapsOf = ({ part, run }: Shown): string[] =>
  [...run.notRun, ...run.results.flatMap((result) => result.notRun)].map((why) => `\`${part}\`: ${plain(why)}`)

const list = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : [`**${title}**`, '', ...lines.map((line) => `- ${line}`), '']

const count = (n: number, one: string, many: string): string => `${n} ${n === 1 ? one : many}`

const comment = '<!-- `npm run prove` writes this page from docs/proof/proof.json. Do not edit it. -->'

const treeOf = ({ tree, commit }: Proof): string =>
  `Product tree \`${tree}\`${commit === null ? ', uncommitted' : `, commit \`${commit.slice(0, 12)}\``}.`

const machinesOf = (shown: readonly Shown[]): string[] =>
  [...new Set(shown.map(({ run }) => run.machine))].map((machine) => `Machine: ${machine}.`)

/** Names the tree and the machines that the figures of a guide come from. */
const sourceOf = (proof: Proof): string => {
  const shown = shownOf(proof, 'full').filter(({ part }) => part.startsWith('bench/') || part === 'drill/D10')
  return [comment, '', treeOf(proof), ...machinesOf(shown)].join('\n')
}

/** Lists misses first, then incomplete parts, then parts that did not run. */
const headOf = (proof: Proof, page?: Page): string => {
  const names = proof.names.filter((name) => page === undefined || pageOf(name) === page)
  const shown = shownOf(proof, 'full', page)
  const misses = shown.flatMap(missesOf)
  const gaps = shown.flatMap(gapsOf)
  const absent = names.filter((name) => !shown.some(({ part }) => part === name))
  const passed = shown.filter(({ run }) => run.verdict === 'passed').length
  return [
    comment,
    '',
    `${passed} of ${count(names.length, 'part', 'parts')} passed; ${count(misses.length, 'figure misses its bar', 'figures miss their bars')}; ` +
      `${count(gaps.length, 'gap', 'gaps')}; ${absent.length} did not run.`,
    treeOf(proof),
    ...machinesOf(shown),
    '',
    ...list(`${red} Missed bars`, misses),
    ...list('Incomplete', gaps),
    ...list('Did not run on this tree', absent.length === 0 ? [] : [absent.map((name) => `\`${name}\``).join(', ')]),
  ]
    .join('\n')
    .trimEnd()
}

const titleOf = (verdict: Run['verdict']): string =>
  ({ passed: 'passed', missed: `${red} MISSED`, incomplete: 'INCOMPLETE', measured: 'measured' })[verdict]

const circumstances = ({ run, runs }: Shown): string[] => [
  `- ${run.date.slice(0, 16).replace('T', ' ')} UTC, ${run.seconds.toLocaleString('en')} s, seed ${run.seed}: \`${run.command}\`; ${run.machine}`,
  ...(runs.length === 1
    ? []
    : [`- Ran ${runs.length} times on this tree: ${runs.map(({ verdict }) => verdict).join(', ')}. A miss stays.`]),
]

const cell = (finding: Finding | undefined): string => {
  if (finding === undefined) return ''
  if (!isJudged(finding)) return plain(withUnit(finding))
  return isMet(finding)
    ? `${plain(withUnit(finding))} (${barOf(finding)})`.replaceAll('<=', '≤').replaceAll('>=', '≥')
    : `${red} **${plain(withUnit(finding))} (${barOf(finding)})**`.replaceAll('<=', '≤').replaceAll('>=', '≥')
}

/** Shows results of the same name side by side, one column for each fleet size. */
const tableOf = (results: readonly Result[]): string[] => {
  const rows = [...new Set(results.flatMap(({ findings }) => findings.map(({ what }) => what)))]
  if (rows.length === 0) return []
  const heads = results.map(({ agents }) => (agents === undefined ? 'reached' : `${agents.toLocaleString('en')} hosts`))
  return [
    `| figure | ${heads.join(' | ')} |`,
    `|---|${results.map(() => '---|').join('')}`,
    ...rows.map(
      (row) =>
        `| ${plain(row)} | ${results.map(({ findings }) => cell(findings.find(({ what }) => what === row))).join(' | ')} |`,
    ),
    '',
  ]
}

const notesOf = (results: readonly Result[]): string[] =>
  results.flatMap(({ notes }) => notes.map((note) => `- ${plain(note).slice(0, 600)}`))

/** One section for each check. */
const checkSections = (proof: Proof, page: Page): string =>
  shownOf(proof, 'full', page)
    .flatMap((shown) =>
      shown.run.results.flatMap((result) => [
        `## ${nameOf(shown.part, result)}: ${titleOf(result.verdict)}`,
        '',
        plain(result.what),
        '',
        ...circumstances(shown),
        '',
        ...tableOf([result]),
        ...notesOf([result]),
        '',
      ]),
    )
    .join('\n')
    .trimEnd()

/** One section for each benchmark, with all fleet sizes. */
const benchSections = (proof: Proof): string => {
  const shown = shownOf(proof, 'full', 'bench')
  const names = [...new Set(shown.flatMap(({ run }) => run.results.map(({ name }) => name)))]
  return names
    .flatMap((name) => {
      const some = shown.filter(({ run }) => run.results.some((result) => result.name === name))
      const results = some.flatMap(({ run }) => run.results.filter((result) => result.name === name))
      return [
        `## ${name}`,
        '',
        ...results.map((result) => `- ${plain(result.what)}`),
        ...some.flatMap(circumstances),
        '',
        ...tableOf(results),
        ...notesOf(results),
        '',
      ]
    })
    .join('\n')
    .trimEnd()
}

const shortForms = (proof: Proof): string => {
  const shown = shownOf(proof, 'short')
  if (shown.length === 0) return 'No short form ran on this tree.'
  return [
    '| part | verdict | missed | run |',
    '|---|---|---|---|',
    ...shown.map(
      (one) =>
        `| \`${one.part}\` (short form) | ${titleOf(one.run.verdict)} | ${missesOf(one).join('; ')} | ${one.run.date.slice(0, 10)}, seed ${one.run.seed}, ${one.run.machine} |`,
    ),
  ].join('\n')
}

const overview = (proof: Proof): string => {
  const pages: Page[] = ['bench', 'drill', 'gate', 'self-test', 'devices']
  return [
    '| page | parts | passed | missed | incomplete | information | did not run |',
    '|---|---|---|---|---|---|---|',
    ...pages.map((page) => {
      const names = proof.names.filter((name) => pageOf(name) === page)
      const shown = shownOf(proof, 'full', page)
      const of = (verdict: Run['verdict']): number => shown.filter(({ run }) => run.verdict === verdict).length
      const missed = of('missed')
      return `| [${page}](${page}.md) | ${names.length} | ${of('passed')} | ${missed === 0 ? 0 : `${red} **${missed}**`} | ${of('incomplete')} | ${of('measured')} | ${names.length - shown.length} |`
    }),
  ].join('\n')
}

/** Renders all pages, by path. The output depends only on the figures. */
export const renderPages = (proof: Proof): Record<string, string> =>
  Object.fromEntries(
    Object.entries(files).map(([path, template]) => {
      const page = template.slice(0, -'.md'.length) as Page
      const isPage = (['bench', 'drill', 'gate', 'self-test', 'devices'] as string[]).includes(page)
      const values: Record<string, () => string> = {
        source: () => sourceOf(proof),
        head: () => headOf(proof, isPage ? page : undefined),
        overview: () => overview(proof),
        'short forms': () => shortForms(proof),
        figures: () => (page === 'bench' ? benchSections(proof) : checkSections(proof, page)),
        sizing: () => sizingRows(proof, fleetSizes),
      }
      const text = readFileSync(new URL(template, templates), 'utf8').replaceAll(
        /\{\{([a-z ]+)\}\}/g,
        (_, name: string) => {
          const value = values[name]
          if (value === undefined) throw new Error(`${template} uses {{${name}}}, which does not exist`)
          return value()
        },
      )
      return [path, `${text.trimEnd()}\n`]
    }),
  )

/** Combines runs of one tree. */
export const proofOf = (tree: { hash: string; commit: string | null }, runs: readonly PartRuns[]): Proof => {
  const wrong = runs.flatMap((one) => one.runs).find((run) => run.tree !== tree.hash)
  if (wrong !== undefined) throw new Error(`A run of tree ${wrong.tree} cannot be combined with tree ${tree.hash}`)
  const edited = editedRuns(runs)
  if (edited.length > 0) throw new Error(edited.join('\n'))
  return { format: 1, tree: tree.hash, commit: tree.commit, names: allParts.map(({ name }) => name), parts: [...runs] }
}
