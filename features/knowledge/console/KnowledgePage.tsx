import { Button, FileButton } from '@mantine/core'
import { bytesText } from '@portcullis/platform/console/lib/bytes.ts'
import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { CallFailure } from '@portcullis/platform/console/lib/problem.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { confirm } from '@portcullis/platform/console/ui/confirm.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { Note, Panel, Row, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { SettingsPage } from '@portcullis/platform/console/ui/SettingsPage.tsx'
import { right, SmallTable } from '@portcullis/platform/console/ui/SmallTable.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { tell } from '@portcullis/platform/console/ui/tell.ts'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { useState } from 'react'
import {
  applyKnowledge,
  getKnowledge,
  type KnowledgeFileName,
  previewKnowledge,
  type ResponseOf,
  rollbackKnowledge,
  uploadKnowledge,
} from '#features/contract.ts'
import { KnowledgeEffect } from './KnowledgeEffect.tsx'
import { ageText, evaluationText, type KnowledgeUpload, readKnowledgeFile, trustAsked } from './knowledge.ts'
import { strings } from './strings.ts'

const fileLabels: Readonly<Record<KnowledgeFileName, string>> = {
  usbIds: strings.fileUsbIds,
  attackTools: strings.attackTools,
  vulnerable: strings.vulnerableDevices,
  genuine: strings.fileGenuine,
  supplement: strings.fileSupplement,
  registries: strings.fileRegistries,
}

// Evaluating all fingerprints takes seconds, so the page refreshes its progress this often.
const evaluationGap = 2_000

/** Uploads an update, and asks whether to trust the first key. */
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
      tell(strings.updateUploaded)
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

/** Asks for confirmation before another version becomes active. */
const useVersions = (reread: () => Promise<unknown>) => {
  const { api, work } = useServices()
  const afterChange = async (jobId: string, message: string) => {
    work.follow(jobId)
    tell(message)
    await reread()
  }
  const apply = (candidate: Candidate, hosts: number) => {
    confirm({
      title: strings.activateTitle,
      names: [strings.signedVersion({ version: candidate.version, key: candidate.key.slice(0, 16) })],
      count: hosts,
      kind: strings.hostCount,
      consequence: strings.activateConsequence,
      run: async () => {
        const { jobId, version } = await api.call(applyKnowledge, { body: { id: candidate.id } })
        await afterChange(jobId, strings.activated({ version }))
      },
    })
  }
  const goBack = (version: string) =>
    confirm({
      title: strings.rollBackTitle,
      names: [strings.fromVersion({ version })],
      kind: strings.versionCount,
      consequence: strings.rollBackConsequence,
      run: async () => {
        const { jobId, version: restored } = await api.call(rollbackKnowledge)
        await afterChange(jobId, strings.rolledBack({ version: restored }))
      },
    })

  return { apply, goBack }
}

/** State and requests of the page. */
const useKnowledge = () => {
  const { session } = useServices()
  const knowledge = useRead(['knowledge'], getKnowledge, {
    refetchInterval: ({ state }) =>
      (state.data?.judging.waiting ?? 0) + (state.data?.judging.hosts ?? 0) > 0 ? evaluationGap : false,
  })
  const data = knowledge.data
  const candidate = data?.candidate ?? null
  const canWrite = session.may('config:write')
  const effect = useRead(['knowledge-effect', candidate?.id], previewKnowledge, {
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
      <Text as="ul" small>
        {failure.fields.map(({ field, message }) => (
          <li key={`${field}${message}`}>
            <code>{field}</code> <DeviceText value={message} />
          </li>
        ))}
      </Text>
    ) : null}
  </>
)

interface UnknownKeyProps extends Pick<Knowledge, 'busy' | 'send' | 'forgetKey'> {
  unknownKey: NonNullable<Knowledge['unknownKey']>
}

/** Asks whether to trust the first key. */
const UnknownKey = ({ unknownKey, busy, send, forgetKey }: UnknownKeyProps) => (
  <Panel style={{ borderColor: 'var(--pc-accent)' }}>
    <h2>{strings.trustTitle}</h2>
    <p>{strings.trustText}</p>
    <Text as="code" breaks>
      {unknownKey.fingerprint}
    </Text>
    <Row wrap>
      <Button size="compact-sm" loading={busy} onClick={() => void send(unknownKey.upload, unknownKey.fingerprint)}>
        {strings.trustKey}
      </Button>
      <Button size="compact-sm" variant="default" onClick={forgetKey}>
        {strings.cancel}
      </Button>
    </Row>
  </Panel>
)

const InForce = ({ data }: { data: Data }) => (
  <Text as="p">
    {(data.source === 'release' ? strings.activeShipped : strings.activeUploaded)({
      version: <strong>{data.version}</strong>,
      age: ageText(data.ageDays),
      shipped: data.releaseVersion,
      progress: evaluationText(data.judging),
    })}
  </Text>
)

interface CandidateProps extends Pick<Knowledge, 'effect' | 'canWrite' | 'apply'> {
  candidate: NonNullable<Data['candidate']>
}

const Candidate = ({ candidate, effect, canWrite, apply }: CandidateProps) => (
  <Panel style={{ borderColor: 'var(--pc-accent)' }}>
    <Row gap={16} justify="space-between" wrap>
      <h2>{strings.updateTitle({ version: <DeviceText value={candidate.version} /> })}</h2>
      {canWrite ? (
        <Button size="compact-sm" disabled={effect.data === undefined} onClick={apply}>
          {strings.activateMenu}
        </Button>
      ) : null}
    </Row>
    <Note>
      {strings.updateText({
        name: <DeviceText value={candidate.uploadedBy} />,
        time: <Time value={candidate.uploadedAt} form="local" />,
        created: <Time value={candidate.createdAt} form="local" />,
        files: candidate.brings.map((name) => fileLabels[name].toLowerCase()).join('; '),
      })}
    </Note>
    <ErrorState query={effect} inline />
    <KnowledgeEffect effect={effect.data} />
  </Panel>
)

const Files = ({ data }: { data: Data | undefined }) => (
  <SmallTable
    label={strings.activeFiles}
    head={[strings.content, strings.version, right(strings.entries), right(strings.size), strings.from]}
    rows={data?.files.map(({ name, version, entries, bytes, source }) => ({
      key: name,
      cells: [
        fileLabels[name],
        <DeviceText key="version" value={version} />,
        entries.toLocaleString('en'),
        bytesText(bytes),
        source === 'release' ? strings.shipped : strings.uploadedFile,
      ],
    }))}
    empty={strings.noFiles}
  />
)

const History = ({ data }: { data: Data | undefined }) => (
  <SmallTable
    label={strings.historyTitle}
    head={[
      strings.version,
      strings.state,
      strings.uploaded,
      strings.uploadedByColumn,
      strings.activeSince,
      strings.activatedBy,
    ]}
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
    empty={strings.noHistory}
  />
)

/** The knowledge about USB devices: its age, updates and history. */
export const KnowledgePage = () => {
  useTitle(strings.knowledge)
  const state = useKnowledge()
  const { knowledge, effect, candidate, canWrite, failure, unknownKey, busy, canGoBack } = state
  const { send, choose, apply, goBack, forgetKey } = state
  const { data } = knowledge
  return (
    <SettingsPage
      title={strings.knowledge}
      intro={strings.intro}
      actions={
        <>
          {canWrite ? (
            <FileButton accept=".json,application/json" onChange={(file) => void choose(file)}>
              {(props) => (
                <Button {...props} size="compact-sm" loading={busy} leftSection={<Icon name="upload" size={14} />}>
                  {strings.uploadUpdate}
                </Button>
              )}
            </FileButton>
          ) : null}
          <MoreMenu curl={() => curlOf(getKnowledge)} />
        </>
      }
    >
      <ErrorState query={knowledge} inline />
      {failure === null ? null : <Failure failure={failure} />}
      {unknownKey === null ? null : <UnknownKey {...{ unknownKey, busy, send, forgetKey }} />}
      {data === undefined ? null : <InForce data={data} />}
      {candidate === null ? null : <Candidate {...{ candidate, effect, canWrite, apply }} />}
      <h2>{strings.active}</h2>
      <Files data={data} />
      <Row gap={16} justify="space-between" wrap>
        <h2>{strings.history}</h2>
        {canGoBack ? (
          <Button size="compact-sm" variant="default" onClick={goBack}>
            {strings.rollBackMenu}
          </Button>
        ) : null}
      </Row>
      <History data={data} />
      {data !== undefined && data.trustedKeys.length > 0 ? (
        <Note>
          {strings.trustedKey({
            keys: data.trustedKeys.map(({ fingerprint, trustedBy }) => (
              <span key={fingerprint}>
                {strings.keyBy({
                  key: (
                    <Text as="code" breaks>
                      {fingerprint}
                    </Text>
                  ),
                  name: <DeviceText value={trustedBy} />,
                })}
              </span>
            )),
          })}
        </Note>
      ) : null}
    </SettingsPage>
  )
}
