import { Button } from '@mantine/core'
import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { CopyField } from '@portcullis/platform/console/ui/CopyField.tsx'
import { confirm } from '@portcullis/platform/console/ui/confirm.ts'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Facts } from '@portcullis/platform/console/ui/Facts.tsx'
import { Note, Quiet } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { SettingsPage } from '@portcullis/platform/console/ui/SettingsPage.tsx'
import { tell } from '@portcullis/platform/console/ui/tell.ts'
import { useLiveRefresh } from '@portcullis/platform/console/ui/useLive.ts'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import {
  assetStream,
  getAssetStreamState,
  listAssetConsumers,
  type ResponseOf,
  replayAll,
  sendMonitorOldLocation,
} from '#features/contract.ts'
import { ConsumersTable } from './ConsumersTable.tsx'
import { MessagesTable } from './MessagesTable.tsx'
import { ReplayCard } from './ReplayCard.tsx'
import { strings } from './strings.ts'

/** Milliseconds between refreshes: positions of readers change without a hint, and a running replay moves fast. */
const gap = 10_000
const busyGap = 1_000

/** Reads the state of the stream and its consumers. */
const useAssetStream = () => {
  const state = useRead(['assets', 'state'], getAssetStreamState, {
    refetchInterval: (query) =>
      ['queued', 'running'].includes(query.state.data?.replay?.status ?? '') ? busyGap : gap,
  })
  const consumers = useRead(['assets', 'consumers'], listAssetConsumers, { refetchInterval: gap })
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
      title: strings.replayTitle,
      names: [strings.inventory],
      kind: strings.replayCount,
      consequence: strings.replayConsequence,
      run: async () => {
        const { jobId, assets } = await api.call(replayAll)
        work.follow(jobId)
        tell(strings.replayStarted({ count: assets }))
        reread()
      },
    })
  const announce = () =>
    confirm({
      title: strings.locationsTitle,
      names: [strings.locationCount({ count: left })],
      kind: strings.callCount,
      consequence: strings.locationsConsequence,
      run: async () => {
        const { published } = await api.call(sendMonitorOldLocation)
        tell(strings.locationsPublished({ count: published }))
        reread()
      },
    })
  return (
    <>
      {data !== undefined && left === 0 ? <Quiet>{strings.noLocations}</Quiet> : null}
      <Button size="compact-sm" variant="default" disabled={left === 0} onClick={announce}>
        {strings.publishLocations({ count: left })}
      </Button>
      <Button size="compact-sm" disabled={data === undefined || isReplaying} onClick={replay}>
        {strings.replayMenu}
      </Button>
    </>
  )
}

const StreamFacts = ({ data }: { data: State }) => (
  <Facts
    rows={[
      [strings.newestMessage, data.newest === 0 ? strings.none : data.newest.toLocaleString('en')],
      [strings.pending, data.waiting === 0 ? strings.nothingPending : strings.pendingChanges({ count: data.waiting })],
      [strings.readers, String(data.readers)],
      [strings.source, <code key="source">{data.source}</code>],
    ]}
  />
)

const HowToFollow = () => (
  <>
    <Note>{strings.followHttp({ code: (text) => <code>{text}</code> })}</Note>
    <CopyField
      value={curlOf(assetStream, {
        query: { after: 0, consumer: 'my-asset-system' },
      }).replace('curl -sS', 'curl -sSN')}
      what={strings.command}
    />
    <Note>{strings.followOthers({ code: (text) => <code>{text}</code> })}</Note>
  </>
)

/** The stream of the inventory: its state, consumers and newest messages. */
export const AssetStreamPage = () => {
  useTitle(strings.assetStream)
  const { session } = useServices()
  const { state, consumers, reread } = useAssetStream()
  const data = state.data
  return (
    <SettingsPage
      title={strings.assetStream}
      intro={strings.intro}
      actions={
        <>
          {session.may('fleet:write') ? <Actions data={data} reread={reread} /> : null}
          <MoreMenu curl={() => curlOf(getAssetStreamState)} />
        </>
      }
    >
      <ErrorState query={state} inline />
      {data === undefined ? null : <StreamFacts data={data} />}
      {data?.replay == null ? null : <ReplayCard replay={data.replay} reread={reread} />}
      <h2>{strings.consumers}</h2>
      <ErrorState query={consumers} inline />
      <ConsumersTable consumers={consumers.data?.data} reread={reread} />
      <h2>{strings.howToTitle}</h2>
      <HowToFollow />
      <h2>{strings.newestMessages}</h2>
      {data === undefined ? null : <MessagesTable newest={data.newest} />}
    </SettingsPage>
  )
}
