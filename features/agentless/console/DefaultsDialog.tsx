import { Modal, NativeSelect, NumberInput } from '@mantine/core'
import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { CallFailure, fieldMessage } from '@portcullis/platform/console/lib/problem.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { DetailSkeleton } from '@portcullis/platform/console/ui/DetailSkeleton.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { DialogActions } from '@portcullis/platform/console/ui/form/DialogActions.tsx'
import { submits } from '@portcullis/platform/console/ui/form/submits.ts'
import { useChange } from '@portcullis/platform/console/ui/form/useChange.ts'
import { Row, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { tell } from '@portcullis/platform/console/ui/tell.ts'
import { useState } from 'react'
import { type BodyOf, connectionPlatforms, updateWorkerDefaults, type WorkerPollerDetails } from '#features/contract.ts'
import { type CredentialDraft, CredentialFields } from './CredentialFields.tsx'
import { secretNames, shownBody } from './connection-draft.ts'
import { platformLabels } from './labels.ts'
import { strings } from './strings.ts'
import { useWorker } from './useWorker.ts'

type Defaults = WorkerPollerDetails['defaults']
type DefaultsDraft = CredentialDraft & { port: number | string; platform: Defaults['platform'] }
type DefaultsChange = BodyOf<typeof updateWorkerDefaults>['defaults']

const platforms = connectionPlatforms.map((value) => ({ value, label: platformLabels[value] }))

const changeOf = (draft: DefaultsDraft, before: Defaults): DefaultsChange => {
  const { port, platform, intervalMinutes } = draft
  const userName = draft.userName.trim()
  const change: DefaultsChange = {}
  if (typeof port === 'number' && port !== before.port) change.port = port
  if (platform !== before.platform) change.platform = platform
  if (userName !== before.userName) change.userName = userName
  if (typeof intervalMinutes === 'number' && intervalMinutes !== before.intervalMinutes) {
    change.intervalMinutes = intervalMinutes
  }
  for (const name of secretNames) {
    if (draft[name] !== '') change[name] = draft[name]
    else if (draft.removed.includes(name)) change[name] = ''
  }
  return change
}

const Body = ({ before, close }: { before: Defaults; close: () => void }) => {
  const { api, queries } = useServices()
  const [draft, setDraft] = useState<DefaultsDraft>(() => ({
    port: before.port,
    platform: before.platform,
    userName: before.userName,
    password: '',
    privateKey: '',
    passphrase: '',
    removed: [],
    intervalMinutes: before.intervalMinutes,
  }))
  const { busy, failure, run } = useChange({ closes: false })
  const change = (part: Partial<DefaultsDraft>) => setDraft((old) => ({ ...old, ...part }))
  const errorOf = (name: string) => fieldMessage(failure, `defaults.${name}`)
  const isAtField =
    failure instanceof CallFailure &&
    failure.fields.length > 0 &&
    failure.fields.every(({ field }) =>
      Object.keys(draft).some((name) => `body.defaults.${name}`.toLowerCase() === field.toLowerCase()),
    )
  return (
    <form
      onSubmit={submits(() =>
        run(async () => {
          const body = { defaults: changeOf(draft, before) }
          queries.setQueryData(['worker'], await api.call(updateWorkerDefaults, { body }))
          tell(strings.defaultsSaved)
          close()
        }),
      )}
    >
      <Stack gap={8}>
        <Text as="p">{strings.defaultsText}</Text>
        <Row equal gap={12} align="start" wrap>
          <NumberInput
            label={strings.port}
            min={1}
            max={65_535}
            allowDecimal={false}
            value={draft.port}
            error={errorOf('port')}
            onChange={(port) => change({ port })}
          />
          <NativeSelect
            label={strings.operatingSystem}
            data={platforms}
            value={draft.platform}
            error={errorOf('platform')}
            onChange={(event) => {
              const chosen = event.currentTarget.value
              change({ platform: connectionPlatforms.find((one) => one === chosen) ?? 'auto' })
            }}
          />
        </Row>
        <CredentialFields
          draft={draft}
          stored={{
            password: before.hasPassword,
            privateKey: before.hasPrivateKey,
            passphrase: before.hasPassphrase,
          }}
          onChange={change}
          errorOf={errorOf}
          placeholders={{ userName: strings.none, intervalMinutes: `${before.intervalMinutes}` }}
        />
        {failure === null || isAtField ? null : <ErrorState failure={failure} inline />}
        <DialogActions
          close={close}
          action={strings.save}
          busy={busy}
          startsAt="form"
          aside={
            <MoreMenu
              label={strings.moreActions}
              curl={() =>
                curlOf(updateWorkerDefaults, {
                  body: { defaults: shownBody(changeOf(draft, before)) },
                })
              }
            />
          }
        />
      </Stack>
    </form>
  )
}

/** Changes the defaults of hosts that do not override them. */
export const DefaultsDialog = ({ opened, close }: { opened: boolean; close: () => void }) => {
  const worker = useWorker()
  return (
    <Modal opened={opened} onClose={close} title={strings.defaultsTitle} size="lg">
      {!opened ? null : worker.data === undefined ? (
        <DetailSkeleton />
      ) : (
        <Body before={worker.data.defaults} close={close} />
      )}
    </Modal>
  )
}
