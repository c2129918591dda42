import { instantOf, wallOf } from '@portcullis/platform/server/wall-clock.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

export interface BackupSchedule {
  interval: 'hourly' | '6h' | '12h' | 'daily' | 'weekly'
  /** `HH:MM`. */
  time: string
  timeZone: string
}

const hoursOf: Readonly<Record<BackupSchedule['interval'], number>> = {
  hourly: 1,
  '6h': 6,
  '12h': 12,
  daily: 24,
  weekly: 24,
}

/** Returns the first scheduled time after an instant. */
export const nextBackup = ({ interval, time, timeZone }: BackupSchedule, after: number): number => {
  const start = (Number(time.slice(0, 2)) * 60 + Number(time.slice(3))) * 60_000
  const step = hoursOf[interval] * hourMs
  const times = Array.from({ length: dayMs / step }, (_, i) => (start + i * step) % dayMs).sort((a, b) => a - b)
  for (let day = Math.floor(wallOf(after, timeZone) / dayMs) * dayMs; ; day += dayMs) {
    if (interval === 'weekly' && new Date(day).getUTCDay() !== 0) continue
    for (const wall of times) {
      const at = instantOf(day + wall, timeZone)
      if (at > after) return at
    }
  }
}
