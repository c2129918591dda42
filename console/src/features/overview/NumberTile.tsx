import { Link } from '@tanstack/react-router'
import { exactUtc, relativeTime } from '../../lib/time.ts'
import { SeverityShape } from '../../ui/SeverityTag.tsx'
import type { Severity } from '../../ui/theme/tokens.ts'
import { useNow } from '../../ui/useNow.ts'
import classes from './NumberTile.module.css'
import { strings } from './strings.ts'

export interface NumberTileProps {
  title: string
  value: number | undefined
  /** All there are, where the number is a part. */
  of?: number | undefined
  /** Drawn when the number is not zero. */
  severity?: Severity
  /** How much it changed, and since when (ms since 1970); null at a first visit. */
  change: { by: number; since: number } | null
  /** Filters of the agents list that count the same. */
  search: Record<string, string>
}

const changeText = (by: number): string =>
  by === 0 ? 'no change' : `${by > 0 ? '+' : '−'}${Math.abs(by).toLocaleString('en')}`

/** A number that leads to the hosts it counts. */
export const NumberTile = ({ title, value, of, severity, change, search }: NumberTileProps) => {
  const now = useNow()
  return (
    <Link to="/agents" search={search} className={classes.tile}>
      <span className={classes.title}>{title}</span>
      <span className={classes.value}>
        {severity !== undefined && value !== undefined && value > 0 ? <SeverityShape severity={severity} /> : null}
        {value === undefined ? <span className={classes.skeleton} /> : value.toLocaleString('en')}
        {of === undefined ? null : <span className={classes.of}>{strings.ofOf({ of })}</span>}
      </span>
      {change === null ? null : (
        <span className={classes.change} title={strings.sinceSince({ since: exactUtc(change.since) })}>
          {strings.byInSince({ by: changeText(change.by), since: relativeTime(change.since, now) })}
        </span>
      )}
    </Link>
  )
}
