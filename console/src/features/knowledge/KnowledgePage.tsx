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

const fileWords: Readonly<Record<KnowledgeFileName, string>> = {
  usbIds: 'Names of vendors and products (usb.ids)',
  attackTools: 'Attack tools',
  vulnerable: 'Vulnerable devices',
  genuine: 'Descriptors of genuine products',
  supplement: 'Names beyond usb.ids',
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
      tell('The file is a candidate now; nothing counts yet.')
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
      title: 'Put the candidate in force',
      names: [`version ${candidate.version}, signed by ${candidate.key.slice(0, 16)}…`],
      count: hosts,
      kind: ['host changes its verdict', 'hosts change their verdict'],
      consequence:
        'new devices are judged by it at once, known ones by a job. You can go back to what is in force now.',
      action: 'Put in force',
      run: async () => {
        const { jobId, version } = await api.call(applyKnowledge, { body: { id: candidate.id } })
        await afterChange(jobId, `Version ${version} is in force.`)
      },
    })
  }
  const goBack = (version: string) =>
    confirm({
      title: 'Go back',
      names: [`from version ${version}`],
      kind: ['version', 'versions'],
      consequence: 'what was in force before counts again; known devices are judged anew by a job.',
      action: 'Go back',
      run: async () => {
        const { jobId, version: restored } = await api.call(rollbackKnowledge)
        await afterChange(jobId, `Version ${restored} is in force again.`)
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
    <h2>Whose key is this?</h2>
    <p>
      No key for knowledge is trusted yet. This file is signed by the key below. Compare it with the fingerprint that
      you got from whoever made the file, by another way than the file itself. Once trusted, files of any other key are
      refused.
    </p>
    <code className={classes.key}>{unknownKey.fingerprint}</code>
    <Group gap="sm">
      <Button size="compact-sm" loading={busy} onClick={() => void send(unknownKey.upload, unknownKey.fingerprint)}>
        It is the same: trust this key
      </Button>
      <Button size="compact-sm" variant="default" onClick={forgetKey}>
        Not now
      </Button>
    </Group>
  </section>
)

const InForce = ({ data }: { data: Data }) => (
  <p className={classes.force}>
    Version <strong>{data.version}</strong> is in force, {ageText(data.ageDays)}
    {data.source === 'release' ? ', as shipped with this server.' : '; this server was shipped with '}
    {data.source === 'release' ? null : `${data.releaseVersion}.`} {judgingText(data.judging)}
  </p>
)

interface CandidateProps extends Pick<Knowledge, 'effect' | 'canWrite' | 'apply'> {
  candidate: NonNullable<Data['candidate']>
}

const Candidate = ({ candidate, effect, canWrite, apply }: CandidateProps) => (
  <section className={classes.card}>
    <Group justify="space-between">
      <h2>
        Candidate <DeviceText value={candidate.version} />
      </h2>
      {canWrite ? (
        <Button size="compact-sm" disabled={effect.data === undefined} onClick={apply}>
          Put in force…
        </Button>
      ) : null}
    </Group>
    <p className={classes.quiet}>
      Uploaded by <DeviceText value={candidate.uploadedBy} /> <Time value={candidate.uploadedAt} form="local" />, made{' '}
      <Time value={candidate.createdAt} form="local" />. It brings:{' '}
      {candidate.brings.map((name) => fileWords[name].toLowerCase()).join('; ')}.
    </p>
    {effect.error === null ? null : <ErrorState failure={effect.error} retry={() => void effect.refetch()} inline />}
    <KnowledgeEffect effect={effect.data} />
  </section>
)

const Files = ({ data }: { data: Data | undefined }) => (
  <SmallTable
    label="Knowledge in force"
    head={['What', 'Version', { title: 'Entries', align: 'right' }, { title: 'Size', align: 'right' }, 'From']}
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
    empty="Nothing."
  />
)

const History = ({ data }: { data: Data | undefined }) => (
  <SmallTable
    label="History of knowledge"
    head={['Version', 'State', 'Uploaded', 'By', 'In force since', 'By whom']}
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
    empty="No file was uploaded yet: what was shipped with the server is in force."
  />
)

/** What the server knows of USB devices: how fresh it is, and how newer knowledge comes into force. */
export const KnowledgePage = () => {
  useTitle('Knowledge')
  const state = useKnowledge()
  const { knowledge, effect, candidate, canWrite, failure, unknownKey, busy, canGoBack } = state
  const { send, choose, apply, goBack, forgetKey } = state
  const { data } = knowledge
  return (
    <SettingsPage
      title="Knowledge"
      intro="Names, attack tools, weaknesses and genuine descriptors: what devices are judged by. Newer knowledge comes as a signed file, is tried first, and counts only when you say so."
      actions={
        <>
          {canWrite ? (
            <FileButton accept=".json,application/json" onChange={(file) => void choose(file)}>
              {(props) => (
                <Button {...props} size="compact-sm" loading={busy} leftSection={<Icon name="upload" size={14} />}>
                  Try a newer file…
                </Button>
              )}
            </FileButton>
          ) : null}
          <MoreMenu label="More" curl={() => curlOf(window.location.origin, getKnowledge)} />
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
      <h2>In force</h2>
      <Files data={data} />
      <Group justify="space-between">
        <h2>History</h2>
        {canGoBack ? (
          <Button size="compact-sm" variant="default" onClick={goBack}>
            Go back to what was before…
          </Button>
        ) : null}
      </Group>
      <History data={data} />
      {data !== undefined && data.trustedKeys.length > 0 ? (
        <p className={classes.quiet}>
          Trusted key:{' '}
          {data.trustedKeys.map(({ fingerprint, trustedBy }) => (
            <span key={fingerprint}>
              <code className={classes.key}>{fingerprint}</code> (by <DeviceText value={trustedBy} />)
            </span>
          ))}
        </p>
      ) : null}
    </SettingsPage>
  )
}
