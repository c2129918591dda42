import { Button } from '@mantine/core'
import {
  assetStream,
  getAssetStreamState,
  listAssetConsumers,
  type ResponseOf,
  replayAll,
  sendMonitorOldLocation,
} from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { curlOf } from '../../lib/curl.ts'
import { useServices } from '../../lib/services.tsx'
import { CopyField } from '../../ui/CopyField.tsx'
import { confirm } from '../../ui/confirm.ts'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Facts } from '../../ui/Facts.tsx'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import { SettingsPage } from '../../ui/SettingsPage.tsx'
import { tell } from '../../ui/tell.ts'
import { useLiveRefresh } from '../../ui/useLive.ts'
import { useTitle } from '../../ui/useTitle.ts'
import classes from './assets.module.css'
import { ConsumersTable } from './ConsumersTable.tsx'
import { MessagesTable } from './MessagesTable.tsx'
import { ReplayCard } from './ReplayCard.tsx'

/** Positions of readers move without a hint; a replay under way moves fast. */
const gap = 10_000
const busyGap = 1_000

const many = (n: number, one: string, more: string): string => `${n.toLocaleString('en')} ${n === 1 ? one : more}`

/** Where the stream is, and who follows it. */
const useAssetStream = () => {
  const { api } = useServices()
  const state = useQuery({
    queryKey: ['assets', 'state'],
    queryFn: ({ signal }) => api.call(getAssetStreamState, { signal }),
    refetchInterval: (query) =>
      ['queued', 'running'].includes(query.state.data?.replay?.status ?? '') ? busyGap : gap,
  })
  const consumers = useQuery({
    queryKey: ['assets', 'consumers'],
    queryFn: ({ signal }) => api.call(listAssetConsumers, { signal }),
    refetchInterval: gap,
  })
  const reread = () => {
    void state.refetch()
    void consumers.refetch()
  }
  useLiveRefresh(['assets'], 1_000, reread)
  return { state, consumers, reread }
}
type State = ResponseOf<typeof getAssetStreamState>

const Actions = ({ data, reread }: { data: State | undefined; reread: () => void }) => {
  const { api, work } = useServices()
  const isReplaying = data?.replay?.status === 'queued' || data?.replay?.status === 'running'
  const left = data?.oldLocations ?? 0
  const replay = () =>
    confirm({
      title: 'Publish every asset again',
      names: ['the whole inventory'],
      kind: ['replay', 'replays'],
      consequence:
        'each host and each peripheral gets a new message, between two marks. Consumers that hold the inventory change nothing; it can be cancelled.',
      action: 'Publish again',
      run: async () => {
        const { jobId, assets } = await api.call(replayAll)
        work.follow(jobId)
        tell(`${many(assets, 'asset is', 'assets are')} published again.`)
        reread()
      },
    })
  const announce = () =>
    confirm({
      title: 'Announce places that hosts have left',
      names: [many(left, 'place', 'places')],
      kind: ['call', 'calls'],
      consequence: 'consumers are told each of them once, and can retire it. That cannot be taken back.',
      action: 'Announce',
      run: async () => {
        const { published } = await api.call(sendMonitorOldLocation)
        tell(`${many(published, 'place was', 'places were')} announced.`)
        reread()
      },
    })
  return (
    <>
      {data !== undefined && left === 0 ? (
        <span className={classes.quiet}>No place that hosts left is to be announced.</span>
      ) : null}
      <Button size="compact-sm" variant="default" disabled={left === 0} onClick={announce}>
        Announce old places ({left.toLocaleString('en')})…
      </Button>
      <Button size="compact-sm" disabled={data === undefined || isReplaying} onClick={replay}>
        Publish all again…
      </Button>
    </>
  )
}

const StreamFacts = ({ data }: { data: State }) => (
  <Facts
    rows={[
      ['Newest message', data.newest === 0 ? 'none yet' : data.newest.toLocaleString('en')],
      [
        'Waiting',
        data.waiting === 0
          ? 'nothing: every change has its place'
          : `${many(data.waiting, 'change', 'changes')} without a place yet`,
      ],
      ['Readers of this server', String(data.readers)],
      ['Source', <code key="source">{data.source}</code>],
    ]}
  />
)

const HowToFollow = () => (
  <>
    <p className={classes.quiet}>
      With an API token of profile User, from the beginning; to go on later, give the <code>sequence</code> of the last
      message that was applied as <code>after</code>.
    </p>
    <CopyField
      value={curlOf(window.location.origin, assetStream, {
        query: { after: 0, consumer: 'my-asset-system' },
      }).replace('curl -sS', 'curl -sSN')}
      what="The command"
    />
    <p className={classes.quiet}>
      Over NATS: start the server with <code>NATS_URL</code>; the stream <code>PORTCULLIS_ASSETS</code> has the subjects{' '}
      <code>portcullis.assets.&gt;</code>. Over Kafka (experimental): <code>KAFKA_BROKERS</code>, topic{' '}
      <code>portcullis.assets</code>.
    </p>
  </>
)

/** The inventory as others follow it: who does, how far, and what can be told them again. */
export const AssetStreamPage = () => {
  useTitle('Asset stream')
  const { session } = useServices()
  const { state, consumers, reread } = useAssetStream()
  const data = state.data
  return (
    <SettingsPage
      title="Asset stream"
      intro="Every host and every device, then every change, in order: asset systems follow it over HTTP, NATS JetStream or Kafka, and hold what this server holds."
      actions={
        <>
          {session.may('fleet:write') ? <Actions data={data} reread={reread} /> : null}
          <MoreMenu label="More" curl={() => curlOf(window.location.origin, getAssetStreamState)} />
        </>
      }
    >
      {state.error === null ? null : <ErrorState failure={state.error} retry={() => void state.refetch()} inline />}
      {data === undefined ? null : <StreamFacts data={data} />}
      {data?.replay == null ? null : <ReplayCard replay={data.replay} reread={reread} />}
      <h2>Who follows</h2>
      {consumers.error === null ? null : (
        <ErrorState failure={consumers.error} retry={() => void consumers.refetch()} inline />
      )}
      <ConsumersTable consumers={consumers.data?.data} reread={reread} />
      <h2>How to follow</h2>
      <HowToFollow />
      <h2>Newest messages</h2>
      {data === undefined ? null : <MessagesTable newest={data.newest} />}
    </SettingsPage>
  )
}
