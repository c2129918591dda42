import type { getAgents, ResponseOf } from '@portcullis/contract'
import { Link } from '@tanstack/react-router'
import { DeviceText } from '../../ui/DeviceText.tsx'
import { findingOf } from '../../ui/findings.ts'
import { SeverityTag } from '../../ui/SeverityTag.tsx'
import { TagList } from '../../ui/TagList.tsx'
import { Time } from '../../ui/Time.tsx'
import classes from './OverviewPage.module.css'
import { strings } from './strings.ts'

export const worstCount = 8

/** Lists the hosts with the most severe findings, with a link to all of them. */
export const WorstHosts = ({ worst }: { worst: ResponseOf<typeof getAgents> | undefined }) => (
  <section className={classes.card}>
    <h2>{strings.needsAttention}</h2>
    {worst?.data.length === 0 ? (
      <p className={classes.quiet}>{strings.noFindings}</p>
    ) : (
      <ul className={classes.list}>
        {(worst?.data ?? []).map((agent) => {
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
    {(worst?.recordsFiltered ?? 0) > worstCount ? (
      <Link to="/agents" search={{ Severity: '30,40,50' }}>
        {strings.allHosts({ count: worst!.recordsFiltered })}
      </Link>
    ) : null}
  </section>
)
