import { Button, Modal } from '@mantine/core'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { confirm } from '@portcullis/platform/console/ui/confirm.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Row, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { SmallTable } from '@portcullis/platform/console/ui/SmallTable.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { useState } from 'react'
import { deleteFeed, type Feed, listFeeds } from '#features/contract.ts'
import { NewFeed } from './NewFeed.tsx'
import { strings } from './strings.ts'

const right = (title: string) => ({ title, align: 'right' }) as const
const head = [
  strings.feed,
  right(strings.hosts),
  right(strings.stored),
  right(strings.feedDuplicates),
  right(strings.feedIgnored),
  right(strings.feedCovered),
  right(strings.feedRefused),
  right(strings.failed),
  right(strings.feedLast),
  ' ',
]

const Recent = ({ feed }: { feed: Feed }) => (
  <Stack gap={8}>
    <SmallTable
      label={strings.feedErrors}
      head={[strings.feedErrors, right(strings.line), strings.reason]}
      rows={feed.recentErrors.map(({ at, line, message }, i) => ({
        key: `${at} ${line} ${i}`,
        cells: [<Time key="at" value={at} form="ago" />, line, message],
      }))}
      empty={strings.feedNoErrors}
    />
    <SmallTable
      label={strings.feedLines}
      head={[strings.feedLines, strings.hostName, strings.device]}
      rows={feed.recentLines.map(({ at, host, device }, i) => ({
        key: `${at} ${i}`,
        cells: [
          <Time key="at" value={at} form="ago" />,
          <DeviceText key="host" value={host} />,
          <DeviceText key="device" value={device} />,
        ],
      }))}
      empty={strings.feedNoLines}
    />
  </Stack>
)

const Body = ({ close }: { close: () => void }) => {
  const { api, session } = useServices()
  const [isAdding, setIsAdding] = useState(false)
  const [replacing, setReplacing] = useState<Feed | undefined>()
  const [opened, setOpened] = useState<string | null>(null)
  const feeds = useRead(['feeds'], listFeeds, { refetchInterval: 5_000 })
  const canWrite = session.may('config:write')
  const remove = ({ id, name }: Feed) =>
    confirm({
      title: strings.deleteFeedTitle,
      names: [name],
      kind: strings.feedCount,
      consequence: strings.deleteFeedConsequence,
      action: strings.deleteFeed,
      run: () => api.call(deleteFeed, { params: { id } }),
      done: strings.feedDeleted,
      reread: feeds.refetch,
    })
  if (isAdding || replacing !== undefined)
    return (
      <NewFeed
        feed={replacing}
        close={() => {
          setIsAdding(false)
          setReplacing(undefined)
        }}
        onCreated={() => void feeds.refetch()}
      />
    )
  if (feeds.error !== null && feeds.data === undefined) return <ErrorState query={feeds} inline />
  const shown = feeds.data?.find(({ id }) => id === opened)
  return (
    <Stack>
      <Text as="p">{strings.feedsText}</Text>
      <SmallTable
        label={strings.feeds}
        head={head}
        rows={feeds.data?.map((feed) => ({
          key: feed.id,
          cells: [
            <DeviceText key="name" value={feed.name} />,
            feed.hosts,
            feed.stored,
            feed.duplicates,
            feed.ignored,
            feed.covered,
            feed.refused,
            feed.failed,
            <Time key="last" value={feed.lastAt} form="ago" />,
            <Row key="actions" gap={4} justify="end">
              <Button
                size="compact-xs"
                variant="default"
                aria-expanded={opened === feed.id}
                onClick={() => setOpened(opened === feed.id ? null : feed.id)}
              >
                {strings.feedRecent}
              </Button>
              {canWrite ? (
                <>
                  <Button size="compact-xs" variant="default" onClick={() => setReplacing(feed)}>
                    {strings.replaceTokenMenu}
                  </Button>
                  <Button size="compact-xs" variant="default" onClick={() => remove(feed)}>
                    {strings.askDelete}
                  </Button>
                </>
              ) : null}
            </Row>,
          ],
        }))}
        empty={strings.noFeeds}
      />
      {shown === undefined ? null : <Recent feed={shown} />}
      <Row gap={16} justify="end" wrap>
        <Button variant="default" onClick={close}>
          {strings.close}
        </Button>
        {canWrite ? (
          <Button data-autofocus onClick={() => setIsAdding(true)}>
            {strings.addFeed}
          </Button>
        ) : null}
      </Row>
    </Stack>
  )
}

/** Lists the feeds with their last lines and errors. */
export const FeedsDialog = ({ opened, close }: { opened: boolean; close: () => void }) => (
  <Modal opened={opened} onClose={close} title={strings.feeds} size="70rem">
    {opened ? <Body close={close} /> : null}
  </Modal>
)
