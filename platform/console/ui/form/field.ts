import type { ReactNode } from 'react'

/** Properties common to all fields. */
export interface FieldFrame {
  name: string
  label: string
  description: ReactNode
  error: string | undefined
}
