/** The run is over; whoever waits stops. */
export class Over extends Error {}

export type Waits = ReturnType<typeof createWaits>

/** Waiting that one call ends for everybody, without ten thousand listeners on a signal. */
export const createWaits = () => {
  const ends = new Set<() => void>()
  let isOver = false
  return {
    isOver: (): boolean => isOver,
    /** @throws Over when the run ends before. */
    sleep: (milliseconds: number): Promise<void> =>
      new Promise((resolve, reject) => {
        if (isOver) return reject(new Over())
        const timer = setTimeout(
          () => {
            ends.delete(end)
            resolve()
          },
          Math.max(0, milliseconds),
        )
        const end = (): void => {
          clearTimeout(timer)
          reject(new Over())
        }
        ends.add(end)
      }),
    end: (): void => {
      isOver = true
      for (const end of ends) end()
      ends.clear()
    },
  }
}
