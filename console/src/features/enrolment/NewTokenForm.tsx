import { Button, Checkbox, Group, NumberInput, Stack, TagsInput, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { createEnrollmentToken, getHashtags } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { curlOf } from '../../lib/curl.ts'
import { fieldMessage } from '../../lib/problem.ts'
import { useServices } from '../../lib/services.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import { Arrivals } from './Arrivals.tsx'
import classes from './enrolment.module.css'
import { InstallCommand } from './InstallCommand.tsx'
import type { MadeToken } from './made-token.ts'
import { strings } from './strings.ts'

/** Maximum number of names, as in the contract. */
const mostNames = 2_000
/** Number of names that a message shows. */
const shownNames = 3

/** Returns the different names in a text, separated by lines, spaces or commas. */
const namesIn = (text: string): string[] => [
  ...new Map(
    text
      .split(/[\s,]+/)
      .filter((name) => name !== '')
      .map((name) => [name.toLowerCase(), name]),
  ).values(),
]

const hostsFault = (text: string): string | null => {
  const names = namesIn(text)
  const bad = names.filter((name) => !/^[A-Za-z0-9._-]{1,255}$/.test(name))
  if (bad.length > 0) return strings.invalidHostNames({ names: bad.slice(0, shownNames).join(', ') })
  return names.length > mostNames ? strings.tooManyHostNames({ max: mostNames }) : null
}

/** Creates an enrolment token and shows its command once. */
export const NewTokenForm = ({ onMade }: { onMade: () => void }) => {
  const { api } = useServices()
  const [made, setMade] = useState<MadeToken | null>(null)
  const [failure, setFailure] = useState<unknown>(null)
  const [busy, setBusy] = useState(false)
  const tags = useQuery({ queryKey: ['tags'], queryFn: ({ signal }) => api.call(getHashtags, { signal }) })
  const form = useForm({
    initialValues: {
      name: strings.newHost,
      // By default a leaked token enrols one host, within one hour.
      expiresInHours: 1,
      maxUses: 1,
      hashtags: [] as string[],
      allowTakeOver: true,
      hosts: '',
    },
    validate: { hosts: hostsFault },
  })
  if (made !== null) {
    return (
      <section className={classes.card}>
        <InstallCommand made={made} />
        <Arrivals made={made} />
        <Group>
          <Button variant="default" size="xs" onClick={() => setMade(null)}>
            {strings.createAnotherCommand}
          </Button>
        </Group>
      </section>
    )
  }
  const bodyOf = ({ hosts, ...values }: typeof form.values) => {
    const hostIdentifiers = namesIn(hosts)
    return {
      ...values,
      name: values.name.trim(),
      ...(hostIdentifiers.length === 0 ? {} : { hostIdentifiers, maxUses: hostIdentifiers.length }),
    }
  }
  const listed = namesIn(form.values.hosts).length
  return (
    <form
      className={classes.card}
      onSubmit={form.onSubmit(async (values) => {
        setBusy(true)
        setFailure(null)
        try {
          setMade(await api.call(createEnrollmentToken, { body: bodyOf(values) }))
          onMade()
        } catch (reason) {
          setFailure(reason)
        } finally {
          setBusy(false)
        }
      })}
    >
      <Stack gap="md">
        <Group grow gap="md" align="flex-start">
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
        </Group>
        <TagsInput
          label={strings.tagsToAssign}
          placeholder={form.values.hashtags.length === 0 ? strings.none : ''}
          data={(tags.data ?? []).map(({ name }) => name)}
          maxTags={50}
          {...form.getInputProps('hashtags')}
          error={fieldMessage(failure, 'hashtags')}
        />
        <Textarea
          label={strings.onlyTheseHosts}
          description={strings.onlyTheseHostsHelp({ code: (text) => <code>{text}</code> })}
          autosize
          minRows={2}
          maxRows={8}
          spellCheck={false}
          {...form.getInputProps('hosts')}
          error={form.errors.hosts ?? fieldMessage(failure, 'hostIdentifiers')}
        />
        <Checkbox label={strings.allowTakeOver} {...form.getInputProps('allowTakeOver', { type: 'checkbox' })} />
        {failure === null ? null : <ErrorState failure={failure} inline />}
        <Group gap="sm">
          <Button type="submit" loading={busy}>
            {strings.createInstallCommand}
          </Button>
          <MoreMenu
            label={strings.more}
            curl={() => curlOf(window.location.origin, createEnrollmentToken, { body: bodyOf(form.values) })}
          />
        </Group>
      </Stack>
    </form>
  )
}
