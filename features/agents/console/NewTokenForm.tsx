import { Button, Checkbox, NumberInput, TagsInput, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { fieldMessage } from '@portcullis/platform/console/lib/problem.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { useChange } from '@portcullis/platform/console/ui/form/useChange.ts'
import { Panel, Row, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { useState } from 'react'
import { createEnrollmentToken, getHashtags } from '#features/contract.ts'
import { Arrivals } from './Arrivals.tsx'
import { HostNamesField } from './HostNamesField.tsx'
import { hostsFault, namesIn } from './host-names.ts'
import { InstallCommand } from './InstallCommand.tsx'
import type { MadeToken } from './made-token.ts'
import { strings } from './strings.ts'

interface TokenValues {
  name: string
  expiresInHours: number
  maxUses: number
  hashtags: string[]
  allowTakeOver: boolean
  /** Host names as entered. */
  hosts: string
}

const initialValues: TokenValues = {
  name: strings.newHosts({ count: 1 }),
  // By default a leaked token enrols one host, within one hour.
  expiresInHours: 1,
  maxUses: 1,
  hashtags: [],
  allowTakeOver: true,
  hosts: '',
}

/** Returns the default name of a token. */
const defaultName = ({ hosts, maxUses }: TokenValues): string =>
  strings.newHosts({ count: namesIn(hosts).length || Number(maxUses) || 1 })

const bodyOf = ({ hosts, ...values }: TokenValues) => {
  const hostIdentifiers = namesIn(hosts)
  return {
    ...values,
    name: values.name.trim(),
    ...(hostIdentifiers.length === 0 ? {} : { hostIdentifiers, maxUses: hostIdentifiers.length }),
  }
}

/** Creates an enrolment token and shows its command once. */
export const NewTokenForm = ({ onMade }: { onMade: () => void }) => {
  const { api } = useServices()
  const [made, setMade] = useState<MadeToken | null>(null)
  const { busy, failure, run } = useChange({ closes: false })
  const tags = useRead(['tags'], getHashtags)
  const form = useForm({
    initialValues,
    validate: { hosts: hostsFault },
    onValuesChange: (values, previous) => {
      if (values.name === defaultName(previous) && values.name !== defaultName(values))
        form.setFieldValue('name', defaultName(values))
    },
  })
  if (made !== null) {
    return (
      <Panel gap={16}>
        <InstallCommand made={made} />
        <Arrivals made={made} />
        <Row wrap gap={16}>
          <Button variant="default" size="xs" onClick={() => setMade(null)}>
            {strings.createAnotherCommand}
          </Button>
        </Row>
      </Panel>
    )
  }
  const listed = namesIn(form.values.hosts).length
  return (
    <Panel
      as="form"
      gap={16}
      onSubmit={form.onSubmit((values) =>
        run(async () => {
          setMade(await api.call(createEnrollmentToken, { body: bodyOf(values) }))
          onMade()
        }),
      )}
    >
      <Stack>
        <Row equal gap={12} align="start" wrap>
          <TextInput
            label={strings.purpose}
            required
            withAsterisk={false}
            maxLength={120}
            {...form.getInputProps('name')}
            error={fieldMessage(failure, 'name')}
          />
          <NumberInput
            label={strings.validForHours}
            min={1}
            max={8760}
            allowDecimal={false}
            {...form.getInputProps('expiresInHours')}
            error={fieldMessage(failure, 'expiresInHours')}
          />
          <NumberInput
            label={strings.maximumHosts}
            disabled={listed > 0}
            min={1}
            max={1_000_000}
            allowDecimal={false}
            {...form.getInputProps('maxUses')}
            {...(listed > 0 ? { value: listed } : {})}
            error={fieldMessage(failure, 'maxUses')}
          />
        </Row>
        <TagsInput
          label={strings.tagsToAssign}
          placeholder={form.values.hashtags.length === 0 ? strings.none : ''}
          data={(tags.data ?? []).map(({ name }) => name)}
          maxTags={50}
          {...form.getInputProps('hashtags')}
          error={fieldMessage(failure, 'hashtags')}
        />
        <HostNamesField
          {...form.getInputProps('hosts')}
          error={form.errors.hosts ?? fieldMessage(failure, 'hostIdentifiers')}
        />
        <Checkbox label={strings.allowTakeOver} {...form.getInputProps('allowTakeOver', { type: 'checkbox' })} />
        <ErrorState failure={failure} inline />
        <Row wrap>
          <Button type="submit" loading={busy}>
            {strings.createInstallCommand}
          </Button>
          <MoreMenu curl={() => curlOf(createEnrollmentToken, { body: bodyOf(form.values) })} />
        </Row>
      </Stack>
    </Panel>
  )
}
