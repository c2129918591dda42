import { agentCommandKinds, type Command, commandStates } from '@portcullis/contract'
import { agentAddress } from '@portcullis/platform/console/lib/addresses.ts'
import type { ViewSpec } from '@portcullis/platform/console/lib/view-state.ts'
import { commandLabels, timelineOf } from '@portcullis/platform/console/ui/commands/timeline.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import type { Filter } from '@portcullis/platform/console/ui/filters/filter.ts'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import type { Column } from '@portcullis/platform/console/ui/table/column.ts'
import { strings } from './strings.ts'

const kindLabels: Readonly<Record<(typeof agentCommandKinds)[number], string>> = {
  configure: strings.armOrFree,
  policy: strings.fetchPolicy,
  'collect-logs': strings.collectLogs,
  'release-ports': strings.releasePorts,
  update: strings.updateAgent,
}

/** Filters of the command list, by their API names. */
export const commandFilters = [
  {
    name: 'state',
    label: strings.state,
    kind: 'choice',
    options: commandStates.map((value) => ({ value, label: commandLabels[value].word })),
  },
  {
    name: 'kind',
    label: strings.kind,
    kind: 'choice',
    options: agentCommandKinds.map((value) => ({ value, label: kindLabels[value] })),
  },
  { name: 'hostIdentifier', label: strings.hostName, kind: 'text' },
  { name: 'hostUuid', label: strings.hostId, kind: 'text' },
  { name: 'jobId', label: strings.job, kind: 'text' },
  { name: 'createdAt', label: strings.when, kind: 'period' },
] as const satisfies readonly Filter[]

export const commandsView: ViewSpec = {
  filters: commandFilters.map(({ name }) => name),
  defaultSort: 'createdAt_desc',
  defaultColumns: ['when', 'title', 'host', 'state', 'story', 'by'],
}

const State = ({ command }: { command: Command }) => {
  const { word, severity } = commandLabels[command.state]
  return severity === null ? <span>{word}</span> : <SeverityTag severity={severity} word={word} />
}

export const commandColumns: readonly Column<Command>[] = [
  {
    id: 'when',
    title: strings.when,
    width: 76,
    align: 'right',
    sortKey: 'createdAt',
    naturalSort: 'desc',
    cell: (command) => <Time value={command.createdAt} />,
  },
  {
    id: 'title',
    title: strings.command,
    width: 200,
    sortKey: 'title',
    cell: (command) => <DeviceText value={command.title} />,
  },
  {
    id: 'host',
    hasLink: true,
    title: strings.hostName,
    width: 170,
    sortKey: 'hostIdentifier',
    cell: (command) => (
      <PlainLink href={agentAddress(command.uuid)}>
        <DeviceText value={command.hostIdentifier} />
      </PlainLink>
    ),
  },
  { id: 'state', title: strings.state, width: 112, sortKey: 'state', cell: (command) => <State command={command} /> },
  {
    id: 'story',
    title: strings.timeline,
    width: 380,
    grow: true,
    sortKey: 'message',
    cell: (command) => <DeviceText value={timelineOf(command)} />,
  },
  {
    id: 'by',
    title: strings.by,
    width: 110,
    sortKey: 'createdBy',
    cell: (command) => <DeviceText value={command.createdBy} />,
  },
  {
    id: 'ended',
    title: strings.ended,
    width: 80,
    align: 'right',
    sortKey: 'endedAt',
    naturalSort: 'desc',
    cell: (command) => <Time value={command.endedAt} />,
  },
  {
    id: 'expires',
    title: strings.expires,
    width: 80,
    align: 'right',
    sortKey: 'expiresAt',
    cell: (command) => <Time value={command.expiresAt} form="until" />,
  },
  { id: 'id', title: strings.id, width: 290, sortKey: 'id', cell: (command) => <code>{command.id}</code> },
]
