import { exactUtc } from '@portcullis/platform/console/lib/time.ts'
import { Quiet } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { SeverityShape } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import type { Severity } from '@portcullis/platform/console/ui/theme/tokens.ts'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import classes from './NumberTile.module.css'
import { strings } from './strings.ts'

export interface NumberTileProps {
  title: string
  value: number | undefined
  /** The total, if the number is a part of it. */
  of?: number | undefined
  /** Drawn when the number is not zero. */
  severity?: Severity
  /** The change since the time of earlier numbers (UTC); null if the server has none from yesterday. */
  change: { by: number; since: string } | null
  /** List with the counted rows. Default: the list of hosts. */
  to?: '/agents' | '/findings'
  /** Filters of the list that match the same rows. */
  search: Record<string, string>
  /** Further numbers with their own links, below the number. */
  parts?: ReactNode
}

/** Says how a number changed since yesterday. */
export const changeText = (by: number): string => {
  if (by === 0) return strings.unchanged
  return by > 0 ? strings.increased({ count: by }) : strings.decreased({ count: -by })
}

/** A number that links to the rows it counts. */
export const NumberTile = ({ title, value, of, severity, change, to = '/agents', search, parts }: NumberTileProps) => {
  const number = (
    <>
      <Quiet small>{title}</Quiet>
      <span className={classes.value}>
        {severity !== undefined && value !== undefined && value > 0 ? <SeverityShape severity={severity} /> : null}
        {value === undefined ? <span className={classes.skeleton} /> : value.toLocaleString('en')}
        {of === undefined ? null : <span className={classes.of}>{strings.ofTotal({ total: of })}</span>}
      </span>
      {change === null ? null : (
        <Quiet tiny num title={strings.comparedWith({ time: exactUtc(Date.parse(change.since)) })}>
          {changeText(change.by)}
        </Quiet>
      )}
    </>
  )
  if (parts === undefined)
    return (
      <Link to={to} search={search} className={classes.tile}>
        {number}
      </Link>
    )
  return (
    <div className={classes.tile}>
      <Link to={to} search={search} className={classes.number}>
        {number}
      </Link>
      <Quiet tiny num>
        {parts}
      </Quiet>
    </div>
  )
}
