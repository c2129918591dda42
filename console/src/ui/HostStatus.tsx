import classes from './HostStatus.module.css'

export interface HostStatusProps {
  /** `displayStatusCombined`: Disconnected, a licence problem, Free or Armed. */
  status: string
}

/** State of a host: shield if armed, dot if free, ring if disconnected. */
export const HostStatus = ({ status }: HostStatusProps) => {
  const kind =
    status === 'Armed' ? 'armed' : status === 'Free' ? 'free' : status === 'Disconnected' ? 'gone' : 'licence'
  return (
    <span className={`${classes.status} ${classes[kind]}`}>
      <svg viewBox="0 0 12 12" width={11} height={11} aria-hidden="true">
        {kind === 'armed' ? (
          <path
            d="M6 .800l4.500 1.700v3.300c0 2.600-1.800 4.500-4.500 5.500-2.700-1-4.500-2.900-4.500-5.500V2.500z"
            fill="currentColor"
          />
        ) : (
          <circle
            cx="6"
            cy="6"
            r="3.8"
            fill={kind === 'free' ? 'currentColor' : 'none'}
            stroke="currentColor"
            strokeWidth="1.6"
            strokeDasharray={kind === 'licence' ? '2 2' : undefined}
          />
        )}
      </svg>
      {status}
    </span>
  )
}
