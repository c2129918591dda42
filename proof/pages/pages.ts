/** Writes the proof pages and the sizing guide from the results. Templates hold the prose and no figures. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Finding, hasLimit, isMet, limitOf, type Result } from '../kit/verdict.ts'
import { type Page, type Part, parts } from './parts.ts'
import { missesOf, type Proof, type Run } from './results.ts'
import { sizingTable } from './sizing.ts'

const red = '🔴'
/** Figures without a limit, beyond this number for each check, stay in proof.json. */
const mostInformation = 12
const templates = new URL('templates/', import.meta.url)
const files = {
  'docs/proof/README.md': 'README.md',
  'docs/proof/bench.md': 'bench.md',
  'docs/proof/drill.md': 'drill.md',
  'docs/proof/gate.md': 'gate.md',
  'docs/guide/sizing.md': 'sizing.md',
} as const

/** Escapes external text for a cell or list item: one line, without Markdown syntax. */
const plain = (text: string): string => text.split('\n')[0]!.replaceAll('|', '\\|').replaceAll('<', '&lt;')

const withUnit = ({ value, unit = '', beside }: Finding): string => {
  const number = Number.isFinite(value) ? value.toLocaleString('en') : 'none'
  return plain(`${number} ${unit}`.trim() + (beside === undefined ? '' : `, ${beside}`))
}

const sizeOf = ({ agents }: Result): string => (agents === undefined ? '' : ` at ${agents.toLocaleString('en')} hosts`)

const hosts = (result: Result): string =>
  result.agents === undefined ? 'reached' : sizeOf(result).slice(' at '.length)

const verdictOf = ({ verdict, form }: Run): string =>
  `${verdict === 'missed' ? `${red} **missed**` : verdict}${form === 'short' ? ' (short form)' : ''}`

const ageOf = ({ stale }: Proof, { name }: Part): string => {
  if (!(name in stale)) return 'current'
  const commits = stale[name]
  return commits === null || commits === undefined
    ? 'stale'
    : `stale, ${commits} ${commits === 1 ? 'change' : 'changes'}`
}

const measuredAt = ({ date, version, commit }: Run): string =>
  `${date.slice(0, 10)}, ${version}, \`${commit.slice(0, 8)}\``

const chosen = (page?: Page): readonly Part[] => parts.filter((part) => page === undefined || part.page === page)

const counted = (proof: Proof, page?: Page): string => {
  const runs = chosen(page).map((part) => [part, proof.runs[part.name]] as const)
  const count = (is: (run: Run, part: Part) => boolean): number =>
    runs.filter(([part, run]) => run !== undefined && is(run, part)).length
  const ended = (verdict: Run['verdict']): number => count((run) => run.form === 'full' && run.verdict === verdict)
  return [
    `${runs.length} parts: ${ended('passed')} passed`,
    ended('missed') === 0 ? '0 missed' : `${red} **${ended('missed')} missed**`,
    `${ended('incomplete')} incomplete`,
    `${count(({ form }) => form === 'short')} measured in their short form only`,
    `${runs.filter(([, run]) => run === undefined).length} not measured. ${count((_, { name }) => name in proof.stale)} results are stale.`,
  ].join(', ')
}

/** Misses come first, then changed limits and what did not run. */
const headOf = (proof: Proof, page?: Page): string => {
  const list = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : ['', `**${title}**`, '', ...lines.map((line) => `- ${line}`)]
  const runs = chosen(page).flatMap((part) => {
    const run = proof.runs[part.name]
    return run === undefined ? [] : [{ part, run }]
  })
  const misses = runs.flatMap(({ part, run }) =>
    missesOf(run).map(
      ({ result, finding }) =>
        `${red} **${part.name}, ${plain(finding.what)}${sizeOf(result)}: ${withUnit(finding)}, limit ${limitOf(finding)}** (${measuredAt(run)}, ${ageOf(proof, part)})`,
    ),
  )
  const eased = runs.flatMap(({ part, run }) =>
    (run.eased ?? []).map(({ what, from, to }) => `${part.name}, ${plain(what)}: ${from} became ${to}`),
  )
  const absent = runs.flatMap(({ part, run }) =>
    [...run.notRun, ...run.results.flatMap(({ notRun }) => notRun)].map((why) => `${part.name}: ${plain(why)}`),
  )
  return [
    '<!-- `npm run prove` writes this page from docs/proof/proof.json. Do not edit it. -->',
    '',
    counted(proof, page),
    `Ages as of ${proof.at}.`,
    ...list(`${red} Missed limits`, misses),
    ...list('Eased limits ([reasons](limits.md))', eased),
    ...list('Did not run', absent),
  ].join('\n')
}

const overview = (proof: Proof): string =>
  [
    '| part | what it shows | result | measured | age |',
    '|---|---|---|---|---|',
    ...parts.map((part) => {
      const { name, page, shows } = part
      const run = proof.runs[name]
      const anchor = name.slice(page.length + 1)
      const shown =
        run === undefined ? 'not measured | |' : `${verdictOf(run)} | ${measuredAt(run)} | ${ageOf(proof, part)}`
      return `| [${anchor}](${page}.md#${anchor}) | ${shows} | ${shown} |`
    }),
  ].join('\n')

const cell = (finding: Finding | undefined): string => {
  if (finding === undefined) return ''
  if (!hasLimit(finding)) return withUnit(finding)
  const text = `${withUnit(finding)} (${limitOf(finding).replaceAll('<=', '≤').replaceAll('>=', '≥')})`
  return isMet(finding) ? text : `${red} **${text}**`
}

/** Shows the results of one check, one column for each fleet size. */
const tableOf = (name: string, results: readonly Result[]): string[] => {
  const named = (is: (one: Finding) => boolean): string[] => [
    ...new Set(results.flatMap(({ findings }) => findings.filter(is).map(({ what }) => what))),
  ]
  const evaluated = named(hasLimit)
  const others = named((one) => !hasLimit(one)).filter((what) => !evaluated.includes(what))
  const rows = [...evaluated, ...others.slice(0, mostInformation)]
  return [
    ...results.filter(({ what }) => what !== '').map(({ what }) => `- ${plain(what)}`),
    '',
    `| ${name} | ${results.map(hosts).join(' | ')} |`,
    `|---|${results.map(() => '---|').join('')}`,
    ...rows.map((row) => {
      const cells = results.map(({ findings }) => cell(findings.find(({ what }) => what === row)))
      return `| ${plain(row)} | ${cells.join(' | ')} |`
    }),
    ...(others.length <= mostInformation
      ? []
      : ['', `${others.length - mostInformation} more figures without a limit are in [proof.json](proof.json).`]),
    '',
    ...results.flatMap(({ notes }) => notes.slice(0, 5).map((note) => `- ${plain(note).slice(0, 300)}`)),
  ]
}

const sectionOf = (proof: Proof, part: Part): string[] => {
  const { name, page, shows } = part
  const run = proof.runs[name]
  const head = [`## ${name.slice(page.length + 1)}`, '', shows, '']
  if (run === undefined) return [...head, `Not measured: \`npm run prove -- ${name}\`.`, '']
  const names = [...new Set(run.results.map((one) => one.name))]
  return [
    ...head,
    `${verdictOf(run)}, ${ageOf(proof, part)}. Measured ${measuredAt(run)}` +
      `${run.seconds === null ? '' : `, ${run.seconds.toLocaleString('en')} s`}, seed ${run.seed ?? 'not recorded'}: ` +
      `\`${run.command}\`; ${run.machine}.`,
    ...(run.again === undefined ? [] : [`Later runs on the same inputs: ${run.again.join(', ')}. A miss stays.`]),
    '',
    ...names.flatMap((one) => [
      ...tableOf(
        one,
        run.results.filter((result) => result.name === one),
      ),
      '',
    ]),
  ]
}

/** Names the results that the sizing guide reads. */
const sources = (proof: Proof): string =>
  parts
    .filter(({ name }) => name === 'bench/check-in' || name === 'drill/connections')
    .map((part) => {
      const run = proof.runs[part.name]
      const state =
        run === undefined
          ? 'not measured'
          : `${verdictOf(run)}, ${measuredAt(run)}, ${ageOf(proof, part)}; ${run.machine}`
      return `- [${part.name}](../proof/${part.page}.md#${part.name.slice(part.page.length + 1)}): ${state}`
    })
    .join('\n')

/** Renders all pages, by path. The output depends only on the results. */
export const renderPages = (proof: Proof): Record<string, string> =>
  Object.fromEntries(
    Object.entries(files).map(([path, template]) => {
      const page = template.slice(0, -'.md'.length)
      const own = page === 'bench' || page === 'drill' || page === 'gate' ? page : undefined
      const values: Record<string, () => string> = {
        head: () => headOf(proof, own),
        overview: () => overview(proof),
        figures: () =>
          chosen(own)
            .flatMap((part) => sectionOf(proof, part))
            .join('\n'),
        sources: () => sources(proof),
        sizing: () => sizingTable(proof),
      }
      const text = readFileSync(new URL(template, templates), 'utf8')
      const filled = text.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => values[name]!())
      return [path, `${filled.replaceAll(/\n{3,}/g, '\n\n').trimEnd()}\n`]
    }),
  )

/** Lists the pages that differ from the pages rendered from the results. */
export const differingPages = (root: string, proof: Proof): string[] =>
  Object.entries(renderPages(proof))
    .filter(([path, text]) => !existsSync(join(root, path)) || readFileSync(join(root, path), 'utf8') !== text)
    .map(([path]) => `${path} does not match docs/proof/proof.json: run "npm run prove -- --pages"`)
