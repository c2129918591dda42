import { Alert, Button, PasswordInput, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { problemText } from '@portcullis/platform/console/lib/problem.ts'
import { useServices, useSession } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { Skeleton, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { useRouter, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { authProviders, type MfaRequired, type ResponseOf } from '#features/contract.ts'
import { Lines } from '../shared/BrandCard.tsx'
import { signIn } from '../shared/session.ts'
import { Card } from './Card.tsx'
import { refusalText } from './refusal.ts'
import { SecondStep } from './SecondStep.tsx'
import { strings } from './strings.ts'

// Only a path of this console: `next=//evil.example` must not lead away.
const safeNext = (next: string | undefined): string => (next !== undefined && /^\/(?![/\\])/.test(next) ? next : '/')

const focusInPlace = (button: HTMLButtonElement | null) => button?.focus({ preventScroll: true })

type Providers = ResponseOf<typeof authProviders>
type CustomLogin = Providers['customLogin']

/** Shows the terms of use, which the user accepts before signing in. */
const Terms = ({ custom, accept }: { custom: CustomLogin; accept: () => void }) => (
  // Without the message, and without scrolling to the button: the user reads the banner from its beginning.
  <Card custom={{ ...custom, CUSTOM_LOGIN_MESSAGE: '' }}>
    <Text
      as="section"
      block
      scroll
      breaks
      style={{ maxHeight: '50vh', marginBottom: 16 }}
      tabIndex={0}
      aria-label={strings.termsOfUse}
    >
      <Lines text={custom.CUSTOM_LOGIN_BANNER ?? ''} />
    </Text>
    <Button ref={focusInPlace} fullWidth onClick={accept}>
      {strings.iAccept}
    </Button>
  </Card>
)

/** Signs in with name and password. `asked` is the second step if the account has one. */
const usePasswordSignIn = () => {
  const services = useServices()
  const [refusal, setRefusal] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  const [asked, setAsked] = useState<MfaRequired | null>(null)
  const form = useForm({ initialValues: { username: '', password: '' } })
  const submit = form.onSubmit(async ({ username, password }) => {
    setBusy(true)
    setRefusal(null)
    try {
      const more = await signIn(services, username, password)
      if (more === null) return
      setAsked(more)
      form.setFieldValue('password', '')
    } catch (failure) {
      setRefusal(refusalText(failure))
    }
    setBusy(false)
  })
  const back = (why: string | null) => {
    setRefusal(why)
    setAsked(null)
  }
  return { form, submit, busy, refusal, asked, back }
}

const PasswordForm = ({ by, hasDirectory }: { by: ReturnType<typeof usePasswordSignIn>; hasDirectory: boolean }) => (
  <Stack as="form" gap={16} onSubmit={by.submit}>
    <TextInput
      label={strings.userName}
      description={hasDirectory ? strings.userNameHelp : undefined}
      name="username"
      autoComplete="username"
      autoCapitalize="none"
      spellCheck={false}
      required
      withAsterisk={false}
      autoFocus={by.form.values.username === ''}
      {...by.form.getInputProps('username')}
    />
    <PasswordInput
      label={strings.password}
      name="password"
      autoComplete="current-password"
      required
      withAsterisk={false}
      // After a failed second step, only the password is asked for again.
      autoFocus={by.form.values.username !== ''}
      {...by.form.getInputProps('password')}
    />
    <Button type="submit" loading={by.busy} fullWidth>
      {strings.signIn}
    </Button>
  </Stack>
)

export const SignInPage = () => {
  useTitle(strings.signIn)
  const state = useSession()
  const search = useSearch({ from: '/sign-in' })
  const providers = useRead(['providers'], authProviders, { staleTime: 60_000 })
  const [accepted, setAccepted] = useState(false)
  const byPassword = usePasswordSignIn()

  const router = useRouter()
  const isIn = state.phase === 'in'
  const next = safeNext(search.next)
  useEffect(() => {
    if (isIn) router.history.replace(next)
  }, [isIn, next, router])
  if (isIn || state.phase === 'starting') return null

  const custom = providers.data?.customLogin
  // The result of an identity provider's sign-in is a code; unknown codes have no text.
  const shown = byPassword.refusal ?? (search.problem === undefined ? null : problemText(search.problem))
  // Nobody signs in before it is known whether there are terms to accept.
  if (providers.isPending)
    return (
      <Card title={strings.signIn}>
        <Skeleton height={208} />
      </Card>
    )
  if (custom !== undefined && (custom.CUSTOM_LOGIN_BANNER ?? '') !== '' && !accepted)
    return <Terms custom={custom} accept={() => setAccepted(true)} />
  if (byPassword.asked !== null) {
    return (
      <Card custom={custom} title={strings.oneMoreStep}>
        <SecondStep asked={byPassword.asked} back={byPassword.back} />
      </Card>
    )
  }
  return (
    <Card custom={custom}>
      {search.ended === '1' && shown === null ? <Alert mb="lg">{strings.sessionEnded}</Alert> : null}
      {shown === null ? null : (
        <Alert color="red" mb="lg" role="alert">
          {shown}
        </Alert>
      )}
      {providers.error === null ? null : (
        <Alert color="red" mb="lg">
          {refusalText(providers.error)}
        </Alert>
      )}
      <PasswordForm by={byPassword} hasDirectory={providers.data?.ldap === true} />
      {(providers.data?.oidc ?? []).map(({ name, url }) => (
        // A link, not a call: the browser leaves for the provider and comes back with a session.
        <Button key={url} component="a" href={url} variant="default" fullWidth mt="lg">
          {name}
        </Button>
      ))}
      <Text as="p" top={20} quiet tiny>
        {strings.firstStart}
      </Text>
    </Card>
  )
}
