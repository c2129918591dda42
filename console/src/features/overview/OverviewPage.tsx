import { agentsClassificationSummary, getAgents } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useServices, useSession } from '../../lib/services.tsx'
import { DeviceText } from '../../ui/DeviceText.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { findingOf } from '../../ui/findings.ts'
import { ReleaseKeyNotice } from '../../ui/ReleaseKeyNotice.tsx'
import { SeverityTag } from '../../ui/SeverityTag.tsx'
import { TagList } from '../../ui/TagList.tsx'
import { Time } from '../../ui/Time.tsx'
import { useLiveRefresh } from '../../ui/useLive.ts'
import { useTitle } from '../../ui/useTitle.ts'
import { ActivityStrip } from './ActivityStrip.tsx'
import { HealthLine } from './HealthLine.tsx'
import { NumberTile } from './NumberTile.tsx'
import classes from './OverviewPage.module.css'
import { SinceLastVisit } from './SinceLastVisit.tsx'
import { useVisit } from './useVisit.ts'
import type { Numbers } from './visit.ts'

const worstCount = 8
// Numbers that change faster than this can not be read.
const numbersGap = 3_000

/** The posture at a glance: five numbers, what is worst now, what happened since the last visit, health. */
export const OverviewPage = ({ empty }: { empty: ReactNode }) => {
  useTitle('Overview')
  const { api } = useServices()
  const state = useSession()
  const summary = useQuery({
    queryKey: ['overview', 'summary'],
    queryFn: ({ signal }) => api.call(agentsClassificationSummary, { signal }),
  })
  const worst = useQuery({
    queryKey: ['overview', 'worst'],
    queryFn: ({ signal }) =>
      api.call(getAgents, { query: { Severity: '>=30', SortBy: 'severity_desc', PageSize: worstCount }, signal }),
  })
  useLiveRefresh(['summary', 'agents'], numbersGap, () => {
    void summary.refetch()
    void worst.refetch()
  })

  const data = summary.data
  const numbers: Numbers | null =
    data === undefined
      ? null
      : {
          connected: data.connected,
          armed: data.armed,
          attackTools: data.knownAttackTools,
          vulnerable: data.vulnerable,
          violating: data.unapproved,
        }
  const before = useVisit(state.phase === 'in' ? state.profile.account.userName : '', numbers)

  if (data?.total === 0)
    return (
      <div className={classes.page}>
        <ReleaseKeyNotice />
        {empty}
      </div>
    )
  if (summary.error !== null && data === undefined) {
    return <ErrorState failure={summary.error} retry={() => void summary.refetch()} />
  }
  const change = (name: keyof Numbers) =>
    before === null || numbers === null ? null : { by: numbers[name] - before.numbers[name], since: before.at }
  return (
    <div className={classes.page}>
      <header className={classes.head}>
        <h1>Overview</h1>
        <HealthLine />
      </header>
      <ReleaseKeyNotice />
      <section className={classes.tiles} aria-label="The fleet in numbers">
        <NumberTile
          title="Hosts connected"
          value={data?.connected}
          of={data?.total}
          change={change('connected')}
          search={{ Status: 'Connected' }}
        />
        <NumberTile
          title="Armed"
          value={data?.armed}
          of={data?.total}
          change={change('armed')}
          search={{ Status: 'Armed' }}
        />
        <NumberTile
          title="With attack tools"
          value={data?.knownAttackTools}
          severity="red"
          change={change('attackTools')}
          search={{ HasKnownAttackTools: 'true' }}
        />
        <NumberTile
          title="Vulnerable"
          value={data?.vulnerable}
          severity="amber"
          change={change('vulnerable')}
          search={{ HasVulnerablePeripherals: 'true' }}
        />
        <NumberTile
          title="Violating the whitelist"
          value={data?.unapproved}
          severity="amber"
          change={change('violating')}
          search={{ HasUnapprovedPeripherals: 'true' }}
        />
      </section>
      <ActivityStrip />
      <div className={classes.columns}>
        <section className={classes.card}>
          <h2>Look at these first</h2>
          {worst.data?.data.length === 0 ? (
            <p className={classes.quiet}>No attack tool and no vulnerable device is attached anywhere.</p>
          ) : (
            <ul className={classes.list}>
              {(worst.data?.data ?? []).map((agent) => {
                const finding = findingOf(agent.severity)
                return (
                  <li key={agent.uuid}>
                    <Link to="/agents/$agentId" params={{ agentId: agent.uuid }} className={classes.host}>
                      <DeviceText value={agent.hostIdentifier} />
                    </Link>
                    <TagList tags={agent.hashtags} />
                    {finding === null ? null : <SeverityTag severity={finding.severity} word={finding.word} />}
                    <span className={classes.time}>
                      <Time value={agent.lastUpdated} />
                    </span>
                  </li>
                )
              })}
            </ul>
          )}
          {(worst.data?.recordsFiltered ?? 0) > worstCount ? (
            <Link to="/agents" search={{ Severity: '30,40,50' }}>
              All {worst.data!.recordsFiltered.toLocaleString('en')}
            </Link>
          ) : null}
        </section>
        <SinceLastVisit since={before?.at ?? null} />
      </div>
    </div>
  )
}
