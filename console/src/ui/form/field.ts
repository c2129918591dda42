import type { ReactNode } from 'react'

/** Properties that every kind of field shares. */
export interface FieldFrame {
  name: string
  label: string
  description: ReactNode
  error: string | undefined
}
