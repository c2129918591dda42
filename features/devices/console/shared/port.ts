import type { Peripheral } from '#features/contract.ts'

type Placed = Pick<Peripheral, 'hierarchy' | 'missingEvidence'>

/** Returns the port of a device. A feed does not report it, so the server invents one to tell devices apart. */
export const portOf = ({ hierarchy, missingEvidence }: Placed): string | null =>
  missingEvidence.includes('port') ? null : hierarchy
