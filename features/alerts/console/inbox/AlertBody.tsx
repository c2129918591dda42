import { Button } from '@mantine/core'
import type { Api } from '@portcullis/platform/console/lib/api.ts'
import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { messages } from '@portcullis/platform/console/lib/messages.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { DetailSkeleton } from '@portcullis/platform/console/ui/DetailSkeleton.tsx'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Facts } from '@portcullis/platform/console/ui/Facts.tsx'
import { DrawerBody, Note, Row, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { SidePanelHead } from '@portcullis/platform/console/ui/SidePanel.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { useQuery } from '@tanstack/react-query'
import {
  alertVerdictLabels,
  getNotice,
  listHealthNotices,
  listRiskNotices,
  mutableKinds,
  type ResponseOf,
  readableEvent,
} from '#features/contract.ts'
import { alertHostsAddress, type InboxList, type Line, lineOfHealth, lineOfRisk } from '../shared/line.ts'
import { alertsKey } from '../shared/useAlerts.ts'
import { AffectedHosts } from './AffectedHosts.tsx'
import { AlertHistory } from './AlertHistory.tsx'
import { Events, Notified, Why } from './AlertSections.tsx'
import { AlertSteps } from './AlertSteps.tsx'
import { CaseActions } from './CaseActions.tsx'
import { type Decision, stepsOf } from './steps.ts'
import { strings } from './strings.ts'
import { type CaseActionsState, everyState } from './useCases.tsx'

const verdictTexts = messages(alertVerdictLabels)

export interface AlertBodyProps {
  id: number
  /** The alert from the list; null if the list does not have it. */
  line: Line | null
  /** Null if the user may not handle alerts. */
  cases: CaseActionsState | null
  pin: (line: Line) => void
  decide: (line: Line, effect: Decision) => void
}

type Data = ResponseOf<typeof getNotice>

/** Finds an alert that the list does not show: filtered out, further down, snoozed or closed. */
const findLine = async (api: Pick<Api, 'call'>, list: InboxList, id: number, signal: AbortSignal) => {
  if (list === 'health') {
    const { items } = await api.call(listHealthNotices, { signal })
    const found = items.find((one) => one.id === id)
    return found === undefined ? null : lineOfHealth(found)
  }
  const [found] = await api.call(listRiskNotices, { query: { id: String(id), state: everyState }, signal })
  return found === undefined ? null : lineOfRisk(found)
}

/** Who handles the alert, and its verdict. */
const Handling = ({ data }: { data: Data }) => (
  <Facts
    rows={[
      [strings.owner, data.owner === '' ? strings.noOwner : <DeviceText key="owner" value={data.owner} />],
      ...(data.state === 'snoozed'
        ? [[strings.state, strings.snoozedFor({ time: <Time value={data.snoozedUntil} form="until" /> })] as const]
        : []),
      ...(data.state === 'closed'
        ? [
            [
              strings.state,
              data.verdict === '' ? strings.closedPlain : strings.closedAs({ verdict: verdictTexts[data.verdict] }),
            ] as const,
          ]
        : []),
      ...(data.comment === '' ? [] : [[strings.comment, <DeviceText key="comment" value={data.comment} />] as const]),
    ]}
  />
)

const canMute = (line: Line | null): boolean =>
  line !== null && line.model !== null && line.kind !== 'health' && mutableKinds.includes(line.kind)

/** The finding, and the actions for it. */
const Head = ({ data, line, cases, pin, decide }: Omit<AlertBodyProps, 'id'> & { data: Data }) => (
  <>
    <Row wrap gap={12}>
      {line === null ? null : <SeverityTag severity={line.severity} word={line.severityLabel} />}
      <Row as="span" align="start" end wrap>
        {line === null || data.state === 'closed' ? null : (
          <Button size="compact-sm" variant="default" onClick={() => pin(line)}>
            {line.isPinned ? strings.unpin : strings.pin}
          </Button>
        )}
        {cases === null ? null : <CaseActions one={data} canMute={canMute(line)} actions={cases} />}
      </Row>
    </Row>
    <Handling data={data} />
    {line === null || data.state === 'closed' ? null : (
      <Row aria-label={strings.nextSteps} as="section" align="start" wrap>
        <AlertSteps line={line} decide={decide} />
      </Row>
    )}
    {line === null ? null : (
      <Text as="p" breaks>
        <DeviceText value={readableEvent(line.description)} absent="" />
      </Text>
    )}
    {data.dismissedBy === '' ? null : (
      <Note role="note">{strings.closedBy({ name: <DeviceText value={data.dismissedBy} /> })}</Note>
    )}
  </>
)

/** Everything about one alert: its handling, cause, hosts, events, notifications and history. */
export const AlertBody = ({ id, line: listed, cases, pin, decide }: AlertBodyProps) => {
  const { api } = useServices()
  const timeline = useRead([alertsKey, 'timeline', id], getNotice, { params: { id }, retry: false })
  const data = timeline.data
  const list = data?.kind === 'health' ? 'health' : 'risk'
  const elsewhere = useQuery({
    queryKey: [alertsKey, 'one', list, id],
    queryFn: ({ signal }) => findLine(api, list, id, signal),
    enabled: listed === null && data !== undefined,
  })
  const line = listed ?? elsewhere.data ?? null
  const { session } = useServices()
  // The steps of an alert about one device are the decisions about that device.
  const isOneDevice = data?.hostsCount === 1 && data.hosts.flatMap(({ devices }) => devices).length === 1
  const offered = line === null || !isOneDevice ? [] : stepsOf(line, session.may('fleet:write'))
  if (data === undefined) return timeline.error === null ? <DetailSkeleton /> : <ErrorState query={timeline} />
  return (
    <>
      <SidePanelHead>
        <h2>
          <DeviceText value={line?.title ?? data.title} />
        </h2>
        <MoreMenu label={strings.moreActions} curl={() => curlOf(getNotice, { params: { id } })} />
      </SidePanelHead>
      <DrawerBody>
        <Head {...{ data, line, cases, pin, decide }} />
        {data.hosts.length === 0 ? null : (
          <Stack aria-label={strings.hosts} as="section" gap={6}>
            <h3>{strings.hostsCount({ count: data.hostsCount || data.hosts.length })}</h3>
            <AffectedHosts
              hosts={data.hosts}
              evidence={data.matched}
              isOffered={(effect) => offered.some((step) => step.decide === effect)}
            />
            {data.hostsCount > data.hosts.length ? (
              <PlainLink href={alertHostsAddress({ id })}>{strings.showAllHosts({ count: data.hostsCount })}</PlainLink>
            ) : null}
          </Stack>
        )}
        <Why data={data} line={line} />
        <AlertHistory history={data.history} comment={cases === null ? null : (text) => cases.comment([data], text)} />
        <Events data={data} />
        <Notified data={data} />
      </DrawerBody>
    </>
  )
}
