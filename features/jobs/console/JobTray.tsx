import { Button, VisuallyHidden } from '@mantine/core'
import { bytesText } from '@portcullis/platform/console/lib/bytes.ts'
import { messageOf } from '@portcullis/platform/console/lib/problem.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import type { Transfer } from '@portcullis/platform/console/lib/work.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { Quiet, Row, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { SeverityShape } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { tellFailure } from '@portcullis/platform/console/ui/tell.ts'
import type { Severity } from '@portcullis/platform/console/ui/theme/tokens.ts'
import { useKeys } from '@portcullis/platform/console/ui/useKeys.ts'
import { useNow } from '@portcullis/platform/console/ui/useNow.ts'
import { Link } from '@tanstack/react-router'
import { type RefObject, useEffect, useRef, useSyncExternalStore } from 'react'
import { cancelJob, type Job } from '#features/contract.ts'
import classes from './JobTray.module.css'
import { strings } from './strings.ts'
import { isOver, jobShare, jobText } from './tray.ts'
import { useTrayJobs } from './useJobs.ts'

interface LineProps {
  title: string
  text: string
  share: number | null
  isRunning: boolean
  severity: Severity | null
  link?: { to: string; search: Record<string, string>; text: string }
  cancel: (() => void) | null
  close: () => void
}

const Line = ({ title, text, share, isRunning, severity, link, cancel, close }: LineProps) => (
  <Row as="li" gap={12} small num style={{ height: 28 }} data-ended={!isRunning || undefined}>
    {severity === null ? null : <SeverityShape severity={severity} />}
    <Text max={360} clip>
      <DeviceText value={title} />
    </Text>
    <progress
      className={classes.progress}
      aria-label={title}
      max={1}
      {...(share === null && isRunning ? {} : { value: share ?? 0 })}
    />
    <Quiet clip>{text}</Quiet>
    {link === undefined ? null : (
      <Link to={link.to} search={link.search}>
        {link.text}
      </Link>
    )}
    {isRunning ? (
      cancel === null ? null : (
        <Button size="compact-sm" variant="subtle" onClick={cancel} aria-label={strings.cancelJob({ title })}>
          {strings.cancel}
        </Button>
      )
    ) : (
      <Button size="compact-sm" variant="subtle" onClick={close} aria-label={strings.closeJob({ title })}>
        <Icon name="close" size={12} />
      </Button>
    )}
  </Row>
)

const severityOf = (job: Job): Severity | null => {
  if (job.state === 'failed') return 'red'
  return job.failed > 0 && job.state !== 'cancelled' ? 'amber' : null
}

const transferText = ({ state, bytes, share, failure }: Transfer): string => {
  if (state === 'failed') {
    const { detail, cure } = messageOf(failure)
    return `${detail} ${cure}`
  }
  if (state === 'cancelled') return strings.cancelled
  if (state === 'completed') return strings.saved({ size: bytesText(bytes) })
  if (bytes === 0) return strings.waitingForServer
  if (share === null) return bytesText(bytes)
  return strings.progress({ percent: Math.floor(share * 100), size: bytesText(bytes) })
}

/** Sets the height of the tray for the stylesheets, so that messages appear above it. */
const useFootHeight = (foot: RefObject<HTMLElement | null>) => {
  useEffect(() => {
    const { style } = document.documentElement
    const observer = new ResizeObserver(() => style.setProperty('--pc-foot', `${foot.current?.offsetHeight ?? 0}px`))
    if (foot.current !== null) observer.observe(foot.current)
    return () => {
      observer.disconnect()
      style.removeProperty('--pc-foot')
    }
  }, [foot])
}

/** The tray at the foot of every page: server jobs and downloads with their progress. */
export const JobTray = () => {
  const { api, session, work } = useServices()
  const now = useNow()
  const tray = useRef<HTMLElement>(null)
  const { jobs, close, reread } = useTrayJobs()
  const transfers = useSyncExternalStore(work.watch, work.transfers).filter(
    ({ endedAt, state }) => !isOver({ endedAt, failed: state === 'failed' }, now),
  )
  useKeys([{ keys: 'g j', description: strings.focusJobs, run: () => tray.current?.focus() }])
  const count = jobs.length + transfers.length
  useFootHeight(tray)
  return (
    <section ref={tray} className={classes.tray} aria-label={strings.jobs} tabIndex={-1} hidden={count === 0}>
      <Stack as="ul" gap={0} pad="4px 16px" scroll style={{ maxHeight: 92 }}>
        {transfers.map((transfer) => (
          <Line
            key={`transfer ${transfer.id}`}
            title={strings.exportName({ name: transfer.name })}
            text={transferText(transfer)}
            share={transfer.share}
            isRunning={transfer.state === 'running'}
            severity={transfer.state === 'failed' ? 'red' : null}
            cancel={() => work.cancel(transfer.id)}
            close={() => work.forget(transfer.id)}
          />
        ))}
        {jobs.map(({ job }) => (
          <Line
            key={job.id}
            title={job.title}
            text={jobText(job)}
            share={jobShare(job)}
            isRunning={job.state === 'running'}
            severity={severityOf(job)}
            {...(job.kind === 'commands' || job.kind === 'modes'
              ? { link: { to: '/commands', search: { jobId: job.id }, text: strings.commands } }
              : {})}
            cancel={
              job.canCancel && session.may('fleet:write')
                ? () => void api.call(cancelJob, { params: { id: job.id } }).then(reread, tellFailure)
                : null
            }
            close={() => close(job.id)}
          />
        ))}
      </Stack>
      <VisuallyHidden component="p" aria-live="polite">
        {[
          ...transfers
            .filter(({ state }) => state !== 'running')
            .map((one) =>
              strings.announcement({ title: strings.exportName({ name: one.name }), state: transferText(one) }),
            ),
          ...jobs
            .filter(({ job }) => job.state !== 'running')
            .map(({ job }) => strings.announcement({ title: job.title, state: jobText(job) })),
        ].join('. ')}
      </VisuallyHidden>
    </section>
  )
}
