/**
 * Writes docs/reference/ from the contract, as part of `npm run build`. The pages are not committed.
 */

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as contract from '@portcullis/features/contract.ts'
import { operationsOf } from '../platform/server/http/openapi.ts'
import { plainErrorsText } from '../platform/server/http/openapi-problems.ts'
import { apiFiles, cell, generated } from './reference-api.ts'

const otherPages = (own: string): string =>
  [
    ['alerts.md', 'Alerts'],
    ['events.md', 'Events'],
    ['errors.md', 'Errors'],
  ]
    .filter(([file]) => file !== own)
    .map(([file, title]) => `[${title}](${file})`)
    .join(' · ')

const errorsFile = (): string => {
  const sections = (Object.entries(contract.errorTable) as [string, contract.ErrorDefinition][]).map(
    ([code, { status, title, detail, cause, cure }]) =>
      [
        `## ${code}`,
        `**${status} ${title}**`,
        // The text of some problems differs each time.
        ...(detail === '{detail}' ? [] : [detail.replace(/\{\w+\}/g, '`$&`')]),
        `Cause: ${cause}`,
        `Cure: ${cure}\n`,
      ].join('\n\n'),
  )
  return `${generated}\n\n# Errors\n\nAll error responses are \`application/problem+json\` (RFC 9457) with one of these codes in \`code\`.\nWith \`Accept: text/plain\`, the response contains only the detail. ${plainErrorsText(operationsOf(contract))}\n\n${otherPages('errors.md')}\n\n${sections.join('\n')}`
}

const severityOf = (severity: number): string => contract.severityNames[severity] ?? String(severity)

/** Returns the anchor of a heading, as Markdown sites derive it. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')

/** Returns the heading that a link to a guide leads to. */
const guideTitle = (link: string): string => {
  const [file = '', anchor] = link.split('#')
  const text = readFileSync(join(import.meta.dirname, '..', 'docs', 'guide', file), 'utf8')
  const headings = [...text.matchAll(/^#{1,4} (.+)$/gm)].map((match) => match[1] as string)
  const title = headings.find((heading) => anchor === undefined || anchorOf(heading) === anchor)
  if (title === undefined) throw new Error(`docs/guide/${file} has no heading for #${anchor}`)
  return title
}

const guidanceText = ({ meaning, cause, cure, guide }: contract.Guidance): string =>
  [
    meaning,
    `Cause: ${cause}`,
    `Cure: ${cure}`,
    ...(guide === undefined ? [] : [`See [${guideTitle(guide)}](../guide/${guide}).`]),
  ].join('\n\n')

/** Returns class and activity, with the status, state or disposition. */
const ocsfText = ({ class: of, activityName, status, state, control }: contract.OcsfActivity): string =>
  `OCSF: ${[`${of} ${contract.ocsfClasses[of]}`, activityName, (control?.disposition ?? state ?? status)?.[1]].filter((part) => part !== undefined).join(', ')}.`

const eventsFile = (): string => {
  const groups = contract.eventCategories.map((category) => {
    const sections = Object.values(contract.eventCatalogue)
      .filter((event) => event.category === category)
      .map(({ code, severity, name, ocsf, guidance, alert }: contract.EventDefinition) => {
        const raises =
          alert === undefined ? '' : ` Raises the alert [${alert.title}](alerts.md#${anchorOf(alert.title)}).`
        return `### ${code}\n\n**${name}** Severity ${severity} (${severityOf(severity)}).${raises} ${ocsfText(ocsf)}\n\n${guidanceText(guidance)}\n`
      })
    return `## ${category}\n\n${sections.join('\n')}`
  })
  return `${generated}\n\n# Events\n\nEach event has a code. Its description is the bold text, as lists, exports and outputs show it. Connectors match on the\ncode, which never changes. The severity is the usual one: 0x130010 and 0x130020, for example, get more\nsevere with the problem.\n\n${otherPages('events.md')}\n\n${groups.join('\n')}`
}

const alertsFile = (): string => {
  const risk = Object.values(contract.alertCatalogue).map((alert) => {
    const { code, severity } = contract.eventCatalogue[alert.event]
    return `### ${alert.title}\n\nRaised by the event [${code}](events.md#${code}), severity ${severity} (${severityOf(severity)}). Its kind is \`${alert.kind}\`. One alert covers one ${alert.subject}. The group ${alert.group} sends it.\n\n${guidanceText(alert)}\n\nNext steps: ${alert.steps.map((step) => contract.alertSteps[step]).join(', ')}.\n`
  })
  const health = contract.subsystemNames.map((name) => `### ${name}\n\n${guidanceText(contract.subsystemOf(name))}\n`)
  return `${generated}\n\n# Alerts\n\nAn alert is a finding that needs a person. [The guide](../guide/alerts.md) describes the inbox and notifications.\n\n${otherPages('alerts.md')}\n\n## Hosts, devices and accounts\n\n${risk.join('\n')}\n## Server health\n\nThe event [0x130010](events.md#0x130010) raises these alerts, and [0x130011](events.md#0x130011) ends them. The name of the part is the title.\n\n${health.join('\n')}`
}

const valueText = ({ kind, max, choices, range, default: fallback }: contract.ConfigItem): string =>
  [
    range === undefined ? kind : `${kind} ${range[0].toLocaleString('en')}..${range[1].toLocaleString('en')}`,
    choices === undefined ? '' : choices.map((choice) => `\`${choice}\``).join(', '),
    ['boolean', 'integer', 'choice'].includes(kind) ? '' : `at most ${max.toLocaleString('en')} characters`,
    fallback === '' ? '' : `default \`${fallback}\``,
  ]
    .filter((part) => part !== '')
    .join('; ')

const settingsFile = (): string => {
  const groups = (Object.values(contract.configGroups) as contract.ConfigGroup[]).map(({ title, items, place }) => {
    const rows = Object.entries(items).map(
      ([name, item]) =>
        `| \`${name}\` | ${cell(valueText(item))} | **${cell(item.label)}.** ${cell(item.description)} |`,
    )
    const again = place.map((name) => `\`${name}\``).join(', ')
    return [
      `## ${title}`,
      again === '' ? '' : `If you change ${again}, enter the secrets of this group again, because they are sent there.`,
      `| Setting | Value | Description |\n| --- | --- | --- |\n${rows.join('\n')}`,
    ]
      .filter((part) => part !== '')
      .join('\n\n')
  })
  return `${generated}\n\n# Settings\n\nAll values are strings in the interface and in the configuration file. A boolean is \`true\` or \`false\`. The server never returns a \`secret\`: \`${contract.maskedSecret}\` means that it is set, and sending \`${contract.maskedSecret}\` keeps it.\n\n${groups.join('\n\n')}\n`
}

/** Returns the files of docs/reference by name. */
export const referenceFiles = (): Readonly<Record<string, string>> => ({
  'alerts.md': alertsFile(),
  ...apiFiles(),
  'events.md': eventsFile(),
  'errors.md': errorsFile(),
  'settings.md': settingsFile(),
})

/** Directory of the generated reference files. */
export const referenceDir = join(import.meta.dirname, '..', 'docs', 'reference')

if (import.meta.main) {
  rmSync(join(referenceDir, 'api'), { recursive: true, force: true })
  mkdirSync(join(referenceDir, 'api'), { recursive: true })
  for (const [name, text] of Object.entries(referenceFiles())) writeFileSync(join(referenceDir, name), text)
}
