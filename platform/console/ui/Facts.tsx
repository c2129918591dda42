import { Fragment, type ReactNode } from 'react'
import { Columns } from './layout/layout.tsx'

/** Names and values in two columns. */
export const Facts = ({ rows }: { rows: readonly (readonly [name: string, value: ReactNode])[] }) => (
  <Columns as="dl" template="minmax(110px, max-content) minmax(0, 1fr)" gap="4px 16px" small>
    {rows.map(([name, value]) => (
      <Fragment key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </Fragment>
    ))}
  </Columns>
)
