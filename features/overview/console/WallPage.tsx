import { Button, PasswordInput } from '@mantine/core'
import { CallFailure } from '@portcullis/platform/console/lib/problem.ts'
import { ServicesProvider } from '@portcullis/platform/console/lib/services.tsx'
import { relativeTime } from '@portcullis/platform/console/lib/time.ts'
import { release } from '@portcullis/platform/console/ui/code.ts'
import { Columns, Note, Notice, Row, Skeleton, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { dark, schemeVariables } from '@portcullis/platform/console/ui/theme/tokens.ts'
import { useNow } from '@portcullis/platform/console/ui/useNow.ts'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { type FormEvent, useEffect, useState } from 'react'
import { strings } from './strings.ts'
import { useWallAccess } from './useWallAccess.ts'
import { useWallNumbers } from './useWallNumbers.ts'
import classes from './WallPage.module.css'
import { WallTrends } from './WallTrends.tsx'

/** Age of the numbers after which the page warns, in ms. */
const staleAfter = 120_000
/** Interval between checks for a newer console, in ms. */
const releaseGap = 600_000

/** Asks for an API token, because a session ends after 12 hours. */
const AskForToken = ({ isRefused, accept }: { isRefused: boolean; accept: (token: string) => void }) => {
  const [text, setText] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (text.trim() !== '') accept(text.trim())
  }
  return (
    <Stack as="form" gap={12} max={520} onSubmit={submit}>
      <p>{strings.wallNeedsToken}</p>
      <PasswordInput
        label={strings.apiToken}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        error={isRefused ? strings.wallTokenRefused : undefined}
        autoComplete="off"
      />
      <Row gap={12}>
        <Button type="submit">{strings.showNumbers}</Button>
        <a href="/sign-in?next=%2Fwall">{strings.signInInstead}</a>
      </Row>
      <Note>{strings.wallHint}</Note>
    </Stack>
  )
}

const Numbers = ({ refuse }: { refuse: () => void }) => {
  const now = useNow()
  const { tiles, trends, updatedAt, failure } = useWallNumbers()
  const isRefused = failure instanceof CallFailure && (failure.status === 401 || failure.status === 403)
  useEffect(() => {
    if (isRefused) refuse()
  }, [isRefused, refuse])
  return (
    <>
      <Row as="header" wrap justify="space-between" gap="4px 20px">
        <h1>{strings.wall}</h1>
        <span>
          {updatedAt === 0
            ? ''
            : now - updatedAt < 5_000
              ? strings.updatedNow
              : strings.updated({ age: relativeTime(updatedAt, now) })}
        </span>
      </Row>
      {failure !== null && now - updatedAt > staleAfter ? (
        <Notice tone="red" role="alert">
          {updatedAt === 0 ? strings.wallNoNumbers : strings.wallStale({ age: relativeTime(updatedAt, now) })}
        </Notice>
      ) : null}
      <Columns as="ul" template="repeat(auto-fit, minmax(min(max(260px, 30%), 100%), 1fr))" gap={16}>
        {tiles.map(({ title, value, of, change, severity }) => (
          <li key={title} className={classes.tile} data-severity={value === 0 ? undefined : severity}>
            <span className={classes.title}>{title}</span>
            {value === undefined ? (
              <Skeleton height={64} width={120} />
            ) : (
              <span className={classes.value}>
                {value.toLocaleString('en')}
                {of === undefined ? null : <small>{strings.ofTotal({ total: of })}</small>}
              </span>
            )}
            <span className={classes.change}>{change}</span>
          </li>
        ))}
      </Columns>
      <WallTrends {...trends} />
    </>
  )
}

/** The numbers of the fleet for a screen on a wall: dark, large, and refreshed by itself for days. It names no host and no device. */
export const WallPage = () => {
  useTitle(strings.wall)
  const { services, isStarting, isRefused, accept, refuse } = useWallAccess()
  useEffect(() => {
    const timer = setInterval(
      () => void release.check().then(() => (release.isOutdated() ? release.reloadWhenSafe() : false)),
      releaseGap,
    )
    return () => clearInterval(timer)
  }, [])
  if (services === null)
    return (
      <Stack as="main" gap={16} pad={24} aria-busy={isStarting}>
        <h1>{strings.wall}</h1>
        {isStarting ? null : <AskForToken isRefused={isRefused} accept={accept} />}
      </Stack>
    )
  return (
    <main className={classes.wall} style={schemeVariables(dark)}>
      <ServicesProvider services={services}>
        <Numbers refuse={refuse} />
      </ServicesProvider>
    </main>
  )
}
