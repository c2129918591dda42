import { CallFailure, problemText } from '@portcullis/platform/console/lib/problem.ts'
import { Skeleton, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { type FormEvent, useEffect, useState } from 'react'
import { authProviders, type MfaRequired } from '#features/contract.ts'
import { Lines } from '../shared/BrandCard.tsx'
import { type Providers, type SignInServices, signIn } from '../shared/session.ts'
import { Card } from './Card.tsx'
import { Action, ActionLink, Field, Message, PasswordField } from './fields.tsx'
import { refusalText } from './refusal.ts'
import { SecondStep } from './SecondStep.tsx'
import { strings } from './strings.ts'

/** Parameters of the address of the sign-in page. */
export interface SignInSearch {
  next?: string | undefined
  ended?: string | undefined
  problem?: string | undefined
}

export interface SignInProps {
  services: SignInServices
  search: SignInSearch
  /** Called once when the page is usable. */
  onUsable?: () => void
}

/** Returns the path to open after a sign-in. Rejects other origins, such as `next=//evil.example`. */
export const safeNext = (next: string | undefined): string =>
  next !== undefined && /^\/(?![/\\\s])/.test(next) ? next : '/'

const focusInPlace = (button: HTMLButtonElement | null) => button?.focus({ preventScroll: true })

type CustomLogin = Providers['customLogin']

/** Delays before retries of a read without a response, in ms. */
const pauses = [1_000, 2_000]

const isWorthRepeating = (failure: unknown) =>
  failure instanceof CallFailure && (failure.code === 'network' || failure.status === 503)

/** Reads the sign-in methods and the customer's texts. After a failure, reads again when the person returns. */
const useProviders = ({ api }: SignInServices) => {
  const [read, setRead] = useState<{ data: Providers | null; failure: unknown }>({ data: null, failure: null })
  useEffect(() => {
    let isShown = true
    let isReading = false
    let hasData = false
    const attempt = async (n: number): Promise<Providers> => {
      try {
        return await api.call(authProviders)
      } catch (failure) {
        const pause = pauses[n]
        if (!isShown || pause === undefined || !isWorthRepeating(failure)) throw failure
        await new Promise((resolve) => setTimeout(resolve, pause))
        return attempt(n + 1)
      }
    }
    const load = async () => {
      if (isReading || hasData) return
      isReading = true
      try {
        const data = await attempt(0)
        hasData = true
        if (isShown) setRead({ data, failure: null })
      } catch (failure) {
        if (isShown) setRead({ data: null, failure })
      }
      isReading = false
    }
    void load()
    window.addEventListener('focus', load)
    return () => {
      isShown = false
      window.removeEventListener('focus', load)
    }
  }, [api])
  return read
}

/** Shows the terms of use, which the user accepts before signing in. */
const Terms = ({ custom, accept }: { custom: CustomLogin; accept: () => void }) => (
  // Does not scroll to the button, so that the user reads the banner from its beginning.
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
    <Action ref={focusInPlace} onClick={accept}>
      {strings.iAccept}
    </Action>
  </Card>
)

/** Signs in with name and password. `asked` is the second step if the account has one. */
const usePasswordSignIn = (services: SignInServices) => {
  const [username, setUsername] = useState('')
  const [password, setPassword] = useState('')
  const [refusal, setRefusal] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  const [asked, setAsked] = useState<MfaRequired | null>(null)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (busy) return
    setBusy(true)
    setRefusal(null)
    try {
      const more = await signIn(services, username, password)
      if (more === null) return
      setAsked(more)
      setPassword('')
    } catch (failure) {
      setRefusal(refusalText(failure))
    }
    setBusy(false)
  }
  const back = (why: string | null) => {
    setRefusal(why)
    setAsked(null)
  }
  return { username, setUsername, password, setPassword, submit, busy, refusal, asked, back }
}

const PasswordForm = ({ by, hasDirectory }: { by: ReturnType<typeof usePasswordSignIn>; hasDirectory: boolean }) => (
  <Stack as="form" gap={16} onSubmit={by.submit}>
    <Field
      label={strings.userName}
      help={hasDirectory ? strings.userNameHelp : undefined}
      name="username"
      autoComplete="username"
      autoCapitalize="none"
      spellCheck={false}
      autoFocus={by.username === ''}
      value={by.username}
      onChange={(event) => by.setUsername(event.currentTarget.value)}
    />
    <PasswordField
      label={strings.password}
      name="password"
      autoComplete="current-password"
      // After a failed second step, the user re-enters only the password.
      autoFocus={by.username !== ''}
      value={by.password}
      onChange={(event) => by.setPassword(event.currentTarget.value)}
    />
    <Action type="submit" busy={by.busy}>
      {strings.signIn}
    </Action>
  </Stack>
)

/** The sign-in page. It needs neither the component kit nor the router, which load while the person types. */
export const SignIn = ({ services, search, onUsable }: SignInProps) => {
  useTitle(strings.signIn)
  const { data, failure } = useProviders(services)
  const [accepted, setAccepted] = useState(false)
  const byPassword = usePasswordSignIn(services)
  const isUsable = data !== null || failure !== null
  useEffect(() => {
    if (isUsable) onUsable?.()
  }, [isUsable, onUsable])

  // Nobody may sign in before it is known whether there are terms to accept.
  if (!isUsable)
    return (
      <Card title={strings.signIn}>
        <Skeleton height={208} />
      </Card>
    )
  const custom = data?.customLogin
  if (custom !== undefined && (custom.CUSTOM_LOGIN_BANNER ?? '') !== '' && !accepted)
    return <Terms custom={custom} accept={() => setAccepted(true)} />
  if (byPassword.asked !== null) {
    return (
      <Card custom={custom} title={strings.oneMoreStep}>
        <SecondStep services={services} asked={byPassword.asked} back={byPassword.back} />
      </Card>
    )
  }
  // The result of an identity provider's sign-in is a code; unknown codes have no text.
  const shown = byPassword.refusal ?? (search.problem === undefined ? null : problemText(search.problem))
  return (
    <Card custom={custom}>
      {search.ended === '1' && shown === null ? <Message>{strings.sessionEnded}</Message> : null}
      {shown === null ? null : <Message isRefusal>{shown}</Message>}
      {failure === null ? null : <Message isRefusal>{refusalText(failure)}</Message>}
      <PasswordForm by={byPassword} hasDirectory={data?.ldap === true} />
      {(data?.oidc ?? []).map(({ name, url }) => (
        // A link, not a call: the browser goes to the provider and returns with a session.
        <ActionLink key={url} href={url}>
          {name}
        </ActionLink>
      ))}
      <Text as="p" top={20} quiet tiny>
        {strings.firstStart}
      </Text>
    </Card>
  )
}
