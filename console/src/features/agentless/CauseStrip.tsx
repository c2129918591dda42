import { connectionCauses } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useServices } from '../../lib/services.tsx'
import { SeverityShape } from '../../ui/SeverityTag.tsx'
import classes from './agentless.module.css'

export interface CauseStripProps {
  /** Value of the filter by cause. */
  chosen: string | null
  choose: (cause: string | null) => void
}

/** Failing computers by cause, each with its cure; a click shows only these. */
export const CauseStrip = ({ chosen, choose }: CauseStripProps) => {
  const { api } = useServices()
  const causes = useQuery({
    queryKey: ['connection-causes'],
    queryFn: ({ signal }) => api.call(connectionCauses, { signal }),
    refetchInterval: 8_000,
  })
  const list = causes.data?.data ?? []
  // Once it stands there it stays: the list below must not jump when the last failure is over.
  const [wasShown, setWasShown] = useState(false)
  if (list.length > 0 && !wasShown) setWasShown(true)
  if (list.length === 0) return wasShown ? <p className={classes.noCause}>No computer fails any more.</p> : null
  return (
    <ul className={classes.causes} aria-label="Failures by cause">
      {list.map(({ cause, title, cure, count, computerNames }) => (
        <li key={cause}>
          <button
            type="button"
            className={classes.cause}
            aria-pressed={chosen === cause}
            title={`${cure}\n${computerNames.join(', ')}${count > computerNames.length ? ', …' : ''}`}
            onClick={() => choose(chosen === cause ? null : cause)}
          >
            <span className={classes.causeTitle}>
              <SeverityShape severity="amber" />
              <strong>{count.toLocaleString('en')}</strong> {title}
            </span>
            <span className={classes.cure}>{cure}</span>
          </button>
        </li>
      ))}
    </ul>
  )
}
