import { agentCommandKinds, type Command, commandStates } from '@portcullis/contract'
import { agentAddress } from '../../lib/addresses.ts'
import type { ViewSpec } from '../../lib/view-state.ts'
import { commandWords, timelineOf } from '../../ui/commands/timeline.ts'
import { DeviceText } from '../../ui/DeviceText.tsx'
import type { Filter } from '../../ui/filters/filter.ts'
import { PlainLink } from '../../ui/PlainLink.tsx'
import { SeverityTag } from '../../ui/SeverityTag.tsx'
import { Time } from '../../ui/Time.tsx'
import type { Column } from '../../ui/table/column.ts'

const kindWords: Readonly<Record<(typeof agentCommandKinds)[number], string>> = {
  configure: 'Arm or free',
  policy: 'Fetch the policy',
  'collect-logs': 'Collect logs',
  'release-ports': 'Release ports',
  update: 'Update',
}

/** Filters of the list of commands, by the interface's names. */
export const commandFilters = [
  {
    name: 'state',
    label: 'State',
    kind: 'choice',
    options: commandStates.map((value) => ({ value, label: commandWords[value].word })),
  },
  {
    name: 'kind',
    label: 'Kind',
    kind: 'choice',
    options: agentCommandKinds.map((value) => ({ value, label: kindWords[value] })),
  },
  { name: 'hostIdentifier', label: 'Host', kind: 'text' },
  { name: 'hostUuid', label: 'Host id', kind: 'text' },
  { name: 'jobId', label: 'Job', kind: 'text' },
  { name: 'createdAt', label: 'When', kind: 'period' },
] as const satisfies readonly Filter[]

export const commandsView: ViewSpec = {
  filters: commandFilters.map(({ name }) => name),
  defaultSort: 'createdAt_desc',
  defaultColumns: ['when', 'title', 'host', 'state', 'story', 'by'],
}

const State = ({ command }: { command: Command }) => {
  const { word, severity } = commandWords[command.state]
  return severity === null ? <span>{word}</span> : <SeverityTag severity={severity} word={word} />
}

export const commandColumns: readonly Column<Command>[] = [
  {
    id: 'when',
    title: 'When',
    width: 76,
    align: 'right',
    sortKey: 'createdAt',
    naturalSort: 'desc',
    cell: (command) => <Time value={command.createdAt} />,
  },
  {
    id: 'title',
    title: 'Command',
    width: 200,
    sortKey: 'title',
    cell: (command) => <DeviceText value={command.title} />,
  },
  {
    id: 'host',
    title: 'Host',
    width: 170,
    sortKey: 'hostIdentifier',
    cell: (command) => (
      <PlainLink href={agentAddress(command.uuid)}>
        <DeviceText value={command.hostIdentifier} />
      </PlainLink>
    ),
  },
  { id: 'state', title: 'State', width: 112, sortKey: 'state', cell: (command) => <State command={command} /> },
  {
    id: 'story',
    title: 'What happened',
    width: 380,
    grow: true,
    sortKey: 'message',
    cell: (command) => <DeviceText value={timelineOf(command)} />,
  },
  {
    id: 'by',
    title: 'By',
    width: 110,
    sortKey: 'createdBy',
    cell: (command) => <DeviceText value={command.createdBy} />,
  },
  {
    id: 'ended',
    title: 'Ended',
    width: 80,
    align: 'right',
    sortKey: 'endedAt',
    naturalSort: 'desc',
    cell: (command) => <Time value={command.endedAt} />,
  },
  {
    id: 'expires',
    title: 'Expires',
    width: 80,
    align: 'right',
    sortKey: 'expiresAt',
    cell: (command) => <Time value={command.expiresAt} />,
  },
  { id: 'id', title: 'Id', width: 290, sortKey: 'id', cell: (command) => <code>{command.id}</code> },
]
