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
import { strings } from './strings.ts'

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
      title: strings.publishEveryAssetAgain,
      names: ['the whole inventory'],
      kind: ['replay', 'replays'],
      consequence: strings.eachHostAndEachPeripheralGets,
      action: strings.publishAgain,
      run: async () => {
        const { jobId, assets } = await api.call(replayAll)
        work.follow(jobId)
        tell(strings.assetsPublishedAgain({ assets: many(assets, 'asset is', 'assets are') }))
        reread()
      },
    })
  const announce = () =>
    confirm({
      title: strings.announcePlacesThatHostsHaveLeft,
      names: [many(left, 'place', 'places')],
      kind: ['call', 'calls'],
      consequence: strings.consumersAreToldEachOfThem,
      action: strings.announce,
      run: async () => {
        const { published } = await api.call(sendMonitorOldLocation)
        tell(strings.publishedAnnounced({ published: many(published, 'place was', 'places were') }))
        reread()
      },
    })
  return (
    <>
      {data !== undefined && left === 0 ? (
        <span className={classes.quiet}>{strings.noPlaceThatHostsLeftIs}</span>
      ) : null}
      <Button size="compact-sm" variant="default" disabled={left === 0} onClick={announce}>
        {strings.announceOldPlacesLeft({ left })}
      </Button>
      <Button size="compact-sm" disabled={data === undefined || isReplaying} onClick={replay}>
        {strings.publishAllAgain}
      </Button>
    </>
  )
}

const StreamFacts = ({ data }: { data: State }) => (
  <Facts
    rows={[
      [strings.newestMessage, data.newest === 0 ? 'none yet' : data.newest.toLocaleString('en')],
      [
        strings.waiting,
        data.waiting === 0
          ? strings.nothingEveryChangeHasItsPlace
          : strings.waitingWithoutAPlaceYet({ waiting: many(data.waiting, 'change', 'changes') }),
      ],
      [strings.readersOfThisServer, String(data.readers)],
      [strings.source, <code key="source">{data.source}</code>],
    ]}
  />
)

const HowToFollow = () => (
  <>
    <p className={classes.quiet}>
      {strings.withAnApiTokenOfProfile({ code: (text) => <code>{text}</code>, code2: (text) => <code>{text}</code> })}
    </p>
    <CopyField
      value={curlOf(window.location.origin, assetStream, {
        query: { after: 0, consumer: 'my-asset-system' },
      }).replace('curl -sS', 'curl -sSN')}
      what={strings.theCommand}
    />
    <p className={classes.quiet}>
      {strings.overNatsStartTheServerWith({
        code: (text) => <code>{text}</code>,
        code2: (text) => <code>{text}</code>,
        code3: (text) => <code>{text}</code>,
        code4: (text) => <code>{text}</code>,
        code5: (text) => <code>{text}</code>,
      })}
    </p>
  </>
)

/** The inventory as others follow it: who does, how far, and what can be told them again. */
export const AssetStreamPage = () => {
  useTitle(strings.assetStream)
  const { session } = useServices()
  const { state, consumers, reread } = useAssetStream()
  const data = state.data
  return (
    <SettingsPage
      title={strings.assetStream}
      intro={strings.everyHostAndEveryDeviceThen}
      actions={
        <>
          {session.may('fleet:write') ? <Actions data={data} reread={reread} /> : null}
          <MoreMenu label={strings.more} curl={() => curlOf(window.location.origin, getAssetStreamState)} />
        </>
      }
    >
      {state.error === null ? null : <ErrorState failure={state.error} retry={() => void state.refetch()} inline />}
      {data === undefined ? null : <StreamFacts data={data} />}
      {data?.replay == null ? null : <ReplayCard replay={data.replay} reread={reread} />}
      <h2>{strings.whoFollows}</h2>
      {consumers.error === null ? null : (
        <ErrorState failure={consumers.error} retry={() => void consumers.refetch()} inline />
      )}
      <ConsumersTable consumers={consumers.data?.data} reread={reread} />
      <h2>{strings.howToFollow}</h2>
      <HowToFollow />
      <h2>{strings.newestMessages}</h2>
      {data === undefined ? null : <MessagesTable newest={data.newest} />}
    </SettingsPage>
  )
}
