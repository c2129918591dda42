import { Button } from '@mantine/core'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { DetailSkeleton } from '@portcullis/platform/console/ui/DetailSkeleton.tsx'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { EmptyState } from '@portcullis/platform/console/ui/EmptyState.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Facts } from '@portcullis/platform/console/ui/Facts.tsx'
import { Note, Panel, Row, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { SidePanel } from '@portcullis/platform/console/ui/SidePanel.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { useLive } from '@portcullis/platform/console/ui/useLive.ts'
import { useQuery } from '@tanstack/react-query'
import { channelLabels } from '#features/alerts/console/shared/labels.ts'
import { type Delivery, listDeliveries } from '#features/contract.ts'
import { State } from './deliveries.view.tsx'
import { isOpen, useDeliveryActions } from './delivery-actions.ts'
import { strings } from './strings.ts'

// A delivery is found among the newest of the shown list: the API has no address for a single one.
const maxSearched = 1_000

const Body = ({ id, query }: { id: string; query: Record<string, string> }) => {
  const { api, session } = useServices()
  const delivery = useQuery({
    queryKey: ['delivery', id, query],
    queryFn: async ({ signal }) => {
      const find = async (filters: Record<string, string>) =>
        (await api.call(listDeliveries, { query: { ...filters, PageSize: maxSearched }, signal })).data.find(
          (one: Delivery) => one.id === id,
        )
      // A delivery that was stuck and is now delivered is in the list without filters.
      return (await find(query)) ?? (await find({})) ?? null
    },
  })
  useLive('deliveries', () => void delivery.refetch())
  const { retry, drop } = useDeliveryActions()
  const { data } = delivery
  if (data === undefined) return delivery.error === null ? <DetailSkeleton /> : <ErrorState query={delivery} />
  if (data === null)
    return (
      <EmptyState icon="upload" title={strings.notFound}>
        <p>{strings.notFoundText}</p>
      </EmptyState>
    )
  return (
    <>
      <Text as="header" pad="12px 48px 8px 16px" breaks>
        <h2>
          <DeviceText value={data.title} />
        </h2>
      </Text>
      <Stack grow gap={14} pad="4px 16px 16px" scroll>
        <Row wrap small>
          <State delivery={data} />
          {isOpen(data) && session.may('notices:dismiss') ? (
            <Button size="compact-sm" variant="default" onClick={() => retry([data])}>
              {strings.sendNow}
            </Button>
          ) : null}
          {isOpen(data) && session.may('config:write') ? (
            <Button size="compact-sm" variant="default" onClick={() => drop([data])}>
              {strings.dropMenu}
            </Button>
          ) : null}
        </Row>
        {data.error === '' ? null : (
          <Panel as="p" tone="sunken" top={4} dense breaks role="note">
            <DeviceText value={data.error} />
          </Panel>
        )}
        <Facts
          rows={[
            [strings.group, data.groupName],
            [strings.channel, channelLabels[data.channel]],
            [strings.to, <DeviceText key="to" value={data.destination} />],
            [strings.created, <Time key="created" value={data.createdAt} form="local" />],
            [strings.attempts, data.attempts.toLocaleString('en')],
            ...(data.nextAt === null
              ? []
              : [[strings.nextAttempt, <Time key="next" value={data.nextAt} form="until" />] as const]),
            ...(data.endedAt === null
              ? []
              : [[strings.ended, <Time key="ended" value={data.endedAt} form="local" />] as const]),
            [strings.id, <code key="id">{data.id}</code>],
          ]}
        />
        <Note>{strings.attemptsHelp}</Note>
      </Stack>
    </>
  )
}

/** The drawer of a delivery: its state, the reason, and the actions. */
export const DeliveryDrawer = ({
  id,
  query,
  close,
}: {
  id: string
  query: Record<string, string>
  close: () => void
}) => (
  <SidePanel label={strings.delivery} close={close}>
    <Body key={id} id={id} query={query} />
  </SidePanel>
)
