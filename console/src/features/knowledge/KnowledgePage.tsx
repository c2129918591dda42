import { Button, FileButton, Group } from '@mantine/core'
import {
  applyKnowledge,
  getKnowledge,
  type KnowledgeFileName,
  previewKnowledge,
  type ResponseOf,
  rollbackKnowledge,
  uploadKnowledge,
} from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { bytesText } from '../../lib/bytes.ts'
import { curlOf } from '../../lib/curl.ts'
import { CallFailure } from '../../lib/problem.ts'
import { useServices } from '../../lib/services.tsx'
import { confirm } from '../../ui/confirm.ts'
import { DeviceText } from '../../ui/DeviceText.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Icon } from '../../ui/icons.tsx'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import { SettingsPage } from '../../ui/SettingsPage.tsx'
import { SmallTable } from '../../ui/SmallTable.tsx'
import { Time } from '../../ui/Time.tsx'
import { tell } from '../../ui/tell.ts'
import { useTitle } from '../../ui/useTitle.ts'
import { KnowledgeEffect } from './KnowledgeEffect.tsx'
import classes from './KnowledgePage.module.css'
import { ageText, judgingText, type KnowledgeUpload, readKnowledgeFile, trustAsked } from './knowledge.ts'
import { strings } from './strings.ts'

const fileWords: Readonly<Record<KnowledgeFileName, string>> = {
  usbIds: strings.namesOfVendorsAndProductsUsb,
  attackTools: strings.attackTools,
  vulnerable: strings.vulnerableDevices,
  genuine: strings.descriptorsOfGenuineProducts,
  supplement: strings.namesBeyondUsbIds,
}

// A judgement of all designs takes seconds; its progress is worth this many questions.
const judgingGap = 2_000

/** Uploads a file as candidate, and asks about the first key. */
const useUpload = (reread: () => Promise<unknown>) => {
  const { api } = useServices()
  const [failure, setFailure] = useState<unknown>(null)
  const [unknownKey, setUnknownKey] = useState<{ upload: KnowledgeUpload; fingerprint: string } | null>(null)
  const [busy, setBusy] = useState(false)
  const send = async (upload: KnowledgeUpload, trust?: string) => {
    setBusy(true)
    setFailure(null)
    setUnknownKey(null)
    try {
      await api.call(uploadKnowledge, { body: trust === undefined ? upload : { ...upload, trust } })
      tell(strings.theFileIsACandidateNow)
      await reread()
    } catch (reason) {
      const fingerprint = reason instanceof CallFailure ? trustAsked(reason) : null
      if (fingerprint === null) setFailure(reason)
      else setUnknownKey({ upload, fingerprint })
    } finally {
      setBusy(false)
    }
  }
  const choose = async (file: File | null) => {
    if (file === null) return
    setFailure(null)
    try {
      await send(readKnowledgeFile(await file.text()))
    } catch (reason) {
      setFailure(reason)
    }
  }
  return { failure, unknownKey, busy, send, choose, forgetKey: () => setUnknownKey(null) }
}

type Candidate = NonNullable<ResponseOf<typeof getKnowledge>['candidate']>

/** Asks before another version is put in force. */
const useVersions = (reread: () => Promise<unknown>) => {
  const { api, work } = useServices()
  const afterChange = async (jobId: string, words: string) => {
    work.follow(jobId)
    tell(words)
    await reread()
  }
  const apply = (candidate: Candidate, hosts: number) => {
    confirm({
      title: strings.putTheCandidateInForce,
      names: [strings.versionVersionSignedByKey({ version: candidate.version, key: candidate.key.slice(0, 16) })],
      count: hosts,
      kind: ['host changes its verdict', 'hosts change their verdict'],
      consequence: strings.newDevicesAreJudgedByIt,
      action: strings.putInForce,
      run: async () => {
        const { jobId, version } = await api.call(applyKnowledge, { body: { id: candidate.id } })
        await afterChange(jobId, strings.versionVersionIsInForce({ version }))
      },
    })
  }
  const goBack = (version: string) =>
    confirm({
      title: strings.goBack,
      names: [strings.fromVersionVersion({ version })],
      kind: ['version', 'versions'],
      consequence: strings.whatWasInForceBeforeCounts,
      action: strings.goBack,
      run: async () => {
        const { jobId, version: restored } = await api.call(rollbackKnowledge)
        await afterChange(jobId, strings.versionRestoredIsInForceAgain({ restored }))
      },
    })

  return { apply, goBack }
}

/** State and requests of the page of knowledge. */
const useKnowledge = () => {
  const { api, session } = useServices()
  const knowledge = useQuery({
    queryKey: ['knowledge'],
    queryFn: ({ signal }) => api.call(getKnowledge, { signal }),
    refetchInterval: ({ state }) =>
      (state.data?.judging.waiting ?? 0) + (state.data?.judging.hosts ?? 0) > 0 ? judgingGap : false,
  })
  const data = knowledge.data
  const candidate = data?.candidate ?? null
  const canWrite = session.may('config:write')
  const effect = useQuery({
    queryKey: ['knowledge-effect', candidate?.id],
    queryFn: ({ signal }) => api.call(previewKnowledge, { signal }),
    enabled: candidate !== null && session.may('config:read'),
  })
  const reread = () => knowledge.refetch()
  const upload = useUpload(reread)
  const versions = useVersions(reread)
  return {
    ...upload,
    knowledge,
    effect,
    candidate,
    canWrite,
    apply: () => (candidate === null ? undefined : versions.apply(candidate, effect.data?.hosts ?? 0)),
    goBack: () => versions.goBack(String(data?.version ?? '')),
    canGoBack: canWrite && data?.history.some(({ state }) => state === 'In force') === true,
  }
}

type Knowledge = ReturnType<typeof useKnowledge>
type Data = NonNullable<Knowledge['knowledge']['data']>

const Failure = ({ failure }: { failure: unknown }) => (
  <>
    <ErrorState failure={failure} inline />
    {failure instanceof CallFailure && failure.fields.length > 0 ? (
      <ul className={classes.faults}>
        {failure.fields.map(({ field, message }) => (
          <li key={`${field}${message}`}>
            <code>{field}</code> <DeviceText value={message} />
          </li>
        ))}
      </ul>
    ) : null}
  </>
)

interface UnknownKeyProps extends Pick<Knowledge, 'busy' | 'send' | 'forgetKey'> {
  unknownKey: NonNullable<Knowledge['unknownKey']>
}

/** Asks whether the first key is to be trusted. */
const UnknownKey = ({ unknownKey, busy, send, forgetKey }: UnknownKeyProps) => (
  <section className={classes.card}>
    <h2>{strings.whoseKeyIsThis}</h2>
    <p>{strings.noKeyForKnowledgeIsTrusted}</p>
    <code className={classes.key}>{unknownKey.fingerprint}</code>
    <Group gap="sm">
      <Button size="compact-sm" loading={busy} onClick={() => void send(unknownKey.upload, unknownKey.fingerprint)}>
        {strings.itIsTheSameTrustThis}
      </Button>
      <Button size="compact-sm" variant="default" onClick={forgetKey}>
        {strings.notNow}
      </Button>
    </Group>
  </section>
)

const InForce = ({ data }: { data: Data }) => (
  <p className={classes.force}>
    {strings.versionStrongIsInForceAgedays({
      strong: <strong>{data.version}</strong>,
      ageDays: ageText(data.ageDays),
      value: data.source === 'release' ? strings.asShippedWithThisServer : '; this server was shipped with ',
      value2: data.source === 'release' ? null : `${data.releaseVersion}.`,
      judging: judgingText(data.judging),
    })}
  </p>
)

interface CandidateProps extends Pick<Knowledge, 'effect' | 'canWrite' | 'apply'> {
  candidate: NonNullable<Data['candidate']>
}

const Candidate = ({ candidate, effect, canWrite, apply }: CandidateProps) => (
  <section className={classes.card}>
    <Group justify="space-between">
      <h2>{strings.candidateDevicetext({ deviceText: <DeviceText value={candidate.version} /> })}</h2>
      {canWrite ? (
        <Button size="compact-sm" disabled={effect.data === undefined} onClick={apply}>
          {strings.putInForce2}
        </Button>
      ) : null}
    </Group>
    <p className={classes.quiet}>
      {strings.uploadedByDevicetextTimeMadeTime2({
        deviceText: <DeviceText value={candidate.uploadedBy} />,
        time: <Time value={candidate.uploadedAt} form="local" />,
        time2: <Time value={candidate.createdAt} form="local" />,
        brings: candidate.brings.map((name) => fileWords[name].toLowerCase()).join('; '),
      })}
    </p>
    {effect.error === null ? null : <ErrorState failure={effect.error} retry={() => void effect.refetch()} inline />}
    <KnowledgeEffect effect={effect.data} />
  </section>
)

const Files = ({ data }: { data: Data | undefined }) => (
  <SmallTable
    label={strings.knowledgeInForce}
    head={[
      strings.what,
      strings.version,
      { title: strings.entries, align: 'right' },
      { title: strings.size, align: 'right' },
      strings.from,
    ]}
    rows={data?.files.map(({ name, version, entries, bytes, source }) => ({
      key: name,
      cells: [
        fileWords[name],
        <DeviceText key="version" value={version} />,
        entries.toLocaleString('en'),
        bytesText(bytes),
        source === 'release' ? 'shipped with the server' : 'an uploaded file',
      ],
    }))}
    empty={strings.nothing}
  />
)

const History = ({ data }: { data: Data | undefined }) => (
  <SmallTable
    label={strings.historyOfKnowledge}
    head={[strings.version, strings.state, strings.uploaded, strings.by, strings.inForceSince, strings.byWhom]}
    rows={data?.history.map((set) => ({
      key: set.id,
      quiet: set.state === 'Replaced' || set.state === 'Withdrawn',
      cells: [
        <DeviceText key="version" value={set.version} />,
        set.state.toLowerCase(),
        <Time key="uploaded" value={set.uploadedAt} />,
        <DeviceText key="by" value={set.uploadedBy} />,
        <Time key="applied" value={set.appliedAt} />,
        <DeviceText key="who" value={set.appliedBy} />,
      ],
    }))}
    empty={strings.noFileWasUploadedYetWhat}
  />
)

/** What the server knows of USB devices: how fresh it is, and how newer knowledge comes into force. */
export const KnowledgePage = () => {
  useTitle(strings.knowledge)
  const state = useKnowledge()
  const { knowledge, effect, candidate, canWrite, failure, unknownKey, busy, canGoBack } = state
  const { send, choose, apply, goBack, forgetKey } = state
  const { data } = knowledge
  return (
    <SettingsPage
      title={strings.knowledge}
      intro={strings.namesAttackToolsWeaknessesAndGenuine}
      actions={
        <>
          {canWrite ? (
            <FileButton accept=".json,application/json" onChange={(file) => void choose(file)}>
              {(props) => (
                <Button {...props} size="compact-sm" loading={busy} leftSection={<Icon name="upload" size={14} />}>
                  {strings.tryANewerFile}
                </Button>
              )}
            </FileButton>
          ) : null}
          <MoreMenu label={strings.more} curl={() => curlOf(window.location.origin, getKnowledge)} />
        </>
      }
    >
      {knowledge.error === null ? null : (
        <ErrorState failure={knowledge.error} retry={() => void knowledge.refetch()} inline />
      )}
      {failure === null ? null : <Failure failure={failure} />}
      {unknownKey === null ? null : <UnknownKey {...{ unknownKey, busy, send, forgetKey }} />}
      {data === undefined ? null : <InForce data={data} />}
      {candidate === null ? null : <Candidate {...{ candidate, effect, canWrite, apply }} />}
      <h2>{strings.inForce}</h2>
      <Files data={data} />
      <Group justify="space-between">
        <h2>{strings.history}</h2>
        {canGoBack ? (
          <Button size="compact-sm" variant="default" onClick={goBack}>
            {strings.goBackToWhatWasBefore}
          </Button>
        ) : null}
      </Group>
      <History data={data} />
      {data !== undefined && data.trustedKeys.length > 0 ? (
        <p className={classes.quiet}>
          {strings.trustedKeyTrustedkeys({
            trustedKeys: data.trustedKeys.map(({ fingerprint, trustedBy }) => (
              <span key={fingerprint}>
                {strings.codeByDevicetext({
                  code: <code className={classes.key}>{fingerprint}</code>,
                  deviceText: <DeviceText value={trustedBy} />,
                })}
              </span>
            )),
          })}
        </p>
      ) : null}
    </SettingsPage>
  )
}
